// Every reduction of one dtype: NumPy's values, each alone; and every size.
#pragma once

#include "in_one_pass.hpp"

namespace reduction {

/// Every row of reductions.txt: whole operands as vectors, the others of rank 3. One axis is
/// dropped, two are kept; axes.cpp tests the rest.
template <dsl::dtype D>
class comparison {
 public:
  comparison() {
#define ROW(level, name, ...) every_section<row::name>();
#include "rows.inc"
#undef ROW
  }
  ~comparison() {
    std::vector<row> compared;
    std::copy_if(std::begin(all_rows), std::end(all_rows), std::back_inserter(compared),
                 [](row r) { return is_compared(r, D); });
    expect_complete(sections_, compared);
  }

 private:
  template <row R>
  void every_section() {
    if constexpr (is_compared(R, D))
      for (const section& s : sections_) {
        const auto flat = stored::to_array<dsl::element_t<D>>(s.values);
        for (const std::vector<int>& along : stored_axes(s, R)) {
          if (along.empty()) {
            expect_stored(s, R, {}, evaluate<R>(flat));
          } else if constexpr (takes_axes(R)) {
            const auto x = dsl::reshape(flat, s.extents);
            if (along.size() == 1) {
              expect_stored(s, R, {along}, evaluate<R>(x, dsl::axis(along[0])));
            } else if constexpr (takes_several_axes(R) && has_two_axes(D)) {
              expect_stored(s, R, {along, true},
                            evaluate<R>(x, dsl::axis(along[0], along[1]), dsl::keep_dims));
            }
          }
        }
      }
  }

  const std::vector<section> sections_ = sections_of(D);
};

}  // namespace reduction

#define COMPARE_REDUCTIONS(type)                                                  \
  TEST_P(reductions, numpy_##type) { reduction::comparison<dsl::dtype::type>{}; } \
  TEST_P(reductions, sizes_##type) { reduction::compare_sizes<dsl::dtype::type>(); }

// Every reduction of one dtype: NumPy's values, and every size.
#pragma once

#include "rows.hpp"

namespace reduction {

/// Every row of reductions.txt, whole operands as vectors and the others of rank 3. One axis is dropped, two are kept: axes.cpp has the rest.
template <dsl::dtype D>
class comparison {
 public:
  comparison() {
#define ROW(level, name, ...) every_section<row::name>();
#include "rows.inc"
#undef ROW
  }
  ~comparison() { expect_complete(sections_); }

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
            } else if constexpr (takes_several_axes(R) && level_of(D) == 3) {
              expect_stored(s, R, {along, true}, evaluate<R>(x, dsl::axis(along[0], along[1]), dsl::keep_dims));
            }
          }
        }
      }
  }

  const std::vector<section> sections_ = sections_of(D);
};

/// Around every boundary that a block, a vector or a chunk has. The largest only where many elements are quick.
inline std::vector<std::int64_t> sizes_to_reduce(std::int64_t largest) {
  std::vector<std::int64_t> all{0, 1, 15, 16, 17, 127, 128, 129, 1023, 1024, 1025, 1536, 34567, 1'048'576, 1'049'600, 1'049'728};
  std::erase_if(all, [largest](std::int64_t n) { return n > (on_device::simulated() ? 34567 : largest); });
  return all;
}

/// Every row of every size up to `largest`.
template <dsl::dtype D>
void compare_sizes(std::int64_t largest) {
  for (const std::int64_t n : sizes_to_reduce(largest)) {
    std::array<bytes, operand_kinds> drawn;
    for (int k = 0; k < operand_kinds; ++k) drawn[static_cast<std::size_t>(k)] = draw(static_cast<operand_kind>(k), D, n);
    const auto compare = [&]<row R>() {
      if constexpr (is_compared(R, D)) {
        const bytes& elements = drawn[static_cast<std::size_t>(written<R>::operand)];
        expect_reduced(R, {D, {n}, elements}, {}, evaluate<R>(stored::to_array<dsl::element_t<D>>(elements)));
      }
    };
#define ROW(level, name, ...) compare.template operator()<row::name>();
#include "rows.inc"
#undef ROW
  }
}

}  // namespace reduction

// Sums of more elements than 34,567 are beyond float16.
#define COMPARE_REDUCTIONS(type, largest)                                                \
  TEST_P(reductions, numpy_##type) { reduction::comparison<dsl::dtype::type>{}; }        \
  TEST_P(reductions, sizes_##type) { reduction::compare_sizes<dsl::dtype::type>(largest); }

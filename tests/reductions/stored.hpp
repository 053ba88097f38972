// A dtype's reductions against NumPy's.
#pragma once

#include "rows.hpp"

#include <set>

namespace reduction {

template <dsl::dtype D>
class comparison {
 public:
  comparison() {
    for (const section& s : sections_) {
      std::set<std::vector<int>> sets{{0, 1, 2}};  // the same as none
      for (const stored_result& r : s.results) sets.insert(r.axes);
      const auto flat = stored::to_array<dsl::element_t<D>>(s.values);
      const auto x = dsl::reshape(flat, s.extents);
      for (const std::vector<int>& along : sets) {
        each_group<false>(s, x, along);
        each_group<true>(s, x, along);
      }
      compare<group::products, false, false>(s, flat, {});
    }
  }
  ~comparison() { expect_complete(sections_); }

 private:
  template <bool KeepDims, class X>
  void each_group(const section& s, const X& x, const std::vector<int>& along) {
    compare<group::sums, KeepDims, true>(s, x, along);
    compare<group::truths, KeepDims, true>(s, x, along);
    compare<group::deviations, KeepDims, true>(s, x, along);
    compare<group::extremes, KeepDims, true>(s, x, along);
    if (along.size() < 2) compare<group::positions, KeepDims, false>(s, x, along);
  }
  template <group G, bool KeepDims, bool Several, class X>
  void compare(const section& s, const X& x, const std::vector<int>& along) {
    compare_rows<KeepDims, Several>(typename rows_of<G, D>::type{}, s, x, along);
  }
  template <bool KeepDims, bool Several, row... R, class X>
  void compare_rows(rows<R...> all, const section& s, const X& x, const std::vector<int>& along) {
    const auto got = with_options<X::rank, KeepDims, Several>(along, [&](const auto&... o) { return evaluate_all(all, x, o...); });
    std::size_t k = 0;
    (expect_stored(s, R, {along, KeepDims}, got[k++]), ...);
  }

  const std::vector<section> sections_ = sections_of(D);
};

}  // namespace reduction

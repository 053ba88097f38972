// Reductions of arrays of any rank, each alone, along every set of axes and in several layouts,
// with the axes as a user names them.
#pragma once

#include "../random_layout.hpp"
#include "rows.hpp"

namespace reduction {

template <int Rank>
std::int64_t count(const dsl::extents<Rank>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

// Alternates between kept and dropped axes, and between counting axes from the start and from the
// end.
template <row R, class T, class X>
void compare_axis_sets(const operand& given, const X& x) {
  bool keep = given.extents.size() % 2 == 1;
  for (std::vector<int> along : axis_sets(X::rank)) {
    if (!takes_several_axes(R) && along.size() > 1) continue;
    keep = !keep;
    if (keep)
      for (int& axis : along) axis -= X::rank;
    const auto call = [&](const auto&... o) { return evaluate<R>(x, o...); };
    const outcome got = keep ? with_options<X::rank, true, takes_several_axes(R)>(along, call)
                             : with_options<X::rank, false, takes_several_axes(R)>(along, call);
    expect_reduced(R, given, {along, keep}, got);
  }
}

template <row R, class T, int Rank>
void compare_shape(const dsl::extents<Rank>& sizes, std::mt19937& engine) {
  const bytes elements = draw(written<R>::operand, dsl::dtype_v<T>, count<Rank>(sizes));
  const auto flat = stored::to_array<T>(elements);
  const operand given{dsl::dtype_v<T>, {sizes.begin(), sizes.end()}, elements};
  const auto x = dsl::reshape(flat, sizes);
  compare_axis_sets<R, T>(given, x);
  const random_layout<Rank> layout(sizes, engine, false);
  dsl::array<T> memory(layout.size);
  const auto scattered = layout.of(memory);
  scattered = x;
  compare_axis_sets<R, T>(given, dsl::view<const T, Rank>(scattered));
}

template <class T, int Rank, row... R>
void compare_shapes(const std::vector<dsl::extents<Rank>>& shapes) {
  std::mt19937 engine(Rank);
  for (const auto& sizes : shapes) (compare_shape<R, T, Rank>(sizes, engine), ...);
}

}  // namespace reduction

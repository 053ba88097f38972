// The shape of an expression whose reductions need not be evaluated.
#pragma once

#include <dsl/lang/leaves.hpp>

namespace dsl::detail {

/// The extents of an expression's elements, whether its reductions are evaluated or not.
template <class E>
void broadcast_extents(const E& e, std::int64_t* to, int rank);
template <class... X>
void broadcast_extents_of(const tuple<X...>& operands, std::int64_t* to, int rank) {
  unpack([&](const auto&... x) { (broadcast_extents(x, to, rank), ...); }, operands);
}
template <class E>
dsl::extents<E::rank> shape_of_expression(const E& e) {
  dsl::extents<E::rank> shape;
  shape.fill(1);
  broadcast_extents(e, shape.data(), E::rank);
  return shape;
}
/// The extents of the elements that a reduction's operands, or a formula's, have together.
template <class E>
auto shape_of_elements(const E& e) {
  return unpack(
      [&e](const auto&... x) {
        dsl::extents<broadcast_rank<std::remove_cvref_t<decltype(x)>...>()> shape;
        shape.fill(1);
        broadcast_extents_of(e.operands, shape.data(), static_cast<int>(shape.size()));
        return shape;
      },
      e.operands);
}
/// Whether it is a reduction, and whether one of rows that gives elements.
template <class E> inline constexpr bool is_reduction = false;
template <class E> inline constexpr bool gives_rows = false;
template <class F, int R, class... X>
inline constexpr bool is_reduction<reduction<F, R, X...>> = true;
template <class F, int R, class... X>
inline constexpr bool gives_rows<reduction<F, R, X...>> = row_rank<F> > 0;
template <class E>
void broadcast_extents(const E& e, std::int64_t* to, int rank) {
  const auto widen = [&](const std::int64_t* extents, int own) {
    for (int d = 0; d < own; ++d)
      if (extents[d] != 1) to[rank - own + d] = extents[d];
  };
  if constexpr (E::rank == 0) {
    return;
  } else if constexpr (is_reduction<E>) {
    const auto all = shape_of_elements(e);
    dsl::extents<E::rank> left;
    for (std::size_t d = 0, k = 0; d < all.size(); ++d) {
      const bool reduced = (e.axes >> d & 1) != 0;
      if (left.size() == all.size()) left[d] = reduced && !gives_rows<E> ? 1 : all[d];
      else if (!reduced) left[k++] = all[d];
    }
    widen(left.data(), E::rank);
  } else if constexpr (requires { e.operands; }) {
    broadcast_extents_of(e.operands, to, rank);
  } else {
    operand o, *at = &o;
    add_leaves(e, at);
    widen(o.extents, o.rank);
  }
}

}  // namespace dsl::detail

// The weights of a reduction's elements, for a weight of its result.
#pragma once

#include <dsl/lang/region.hpp>

namespace dsl::detail {

/// The weight of one factor's elements in a sum of products, dot or vdot (F), of which `other` is
/// the other factor.
template <class F, bool First, class Other, class Weight>
auto factor_of_product(const Other& other, const Weight& weight) {
  const auto value = evaluate_reductions(other);
  if constexpr (!std::same_as<F, dot_function<true>>)
    return apply_function<op::multiply>(weight, value);
  else if constexpr (First)
    return apply_function<op::conj>(apply_function<op::multiply>(weight, value));
  else return apply_function<op::multiply>(weight, apply_function<op::conj>(value));
}
/// The weight of the elements of a reduction F to rank R along `axes`: a formula of rows, as the
/// reduction is. The weight of its result stands beside the elements.
template <class F, int R, class X, class Weight, class... P>
auto adjoint_of_reduction(const X& x, const Weight& weight, std::uint32_t axes,
                          const P&... parameters) {
  using adjoint = adjoint_of_rows<F>;
  if constexpr (R == 0) {
    return make_checked_expression<formula<unnamed, adjoint>>(x, weight, parameters...);
  } else {
    using rows = row_formula<unnamed, adjoint, X::rank, 0, 0>;
    return reduction<rows, X::rank, X, Weight, P...>{{}, {x, weight, parameters...}, axes};
  }
}
/// A weight times a number; a weight that is a C++ number is multiplied here.
template <class T>
value_leaf<T> scaled(const value_leaf<T>& weight, double by) {
  return {static_cast<T>(weight.value * static_cast<T>(by))};
}
template <class Weight>
auto scaled(const Weight& weight, double by) {
  return apply_function<op::multiply>(weight, by);
}
/// A weight in memory, broadcast to a shape without a copy.
template <class Weight, std::size_t R>
auto broadcast_weight(const Weight& weight, const std::array<std::int64_t, R>& shape) {
  if constexpr (is_view_leaf<Weight>) return as_operand(broadcast_to(weight, shape));
  else return broadcast_weight(as_operand(eval(weight)), shape);
}
/// The weight of each element of a shape: the same for all if it has rank 0.
template <class Weight, std::size_t R>
auto of_each_element(const Weight& weight, const std::array<std::int64_t, R>& shape) {
  if constexpr (Weight::rank == 0) return weight;
  else return broadcast_weight(weight, shape);
}
/// The weight of a reduction's value beside the elements: with extent 1 along reduced axes.
template <int Rank, class Weight>
auto beside_elements(const Weight& weight, std::uint32_t axes) {
  if constexpr (Weight::rank == 0 || Weight::rank == Rank) {
    return weight;
  } else if constexpr (!is_view_leaf<Weight>) {
    return beside_elements<Rank>(as_operand(eval(weight)), axes);
  } else {
    dsl::extents<Rank> sizes, strides;
    for (std::size_t d = 0, k = 0; d < sizes.size(); ++d) {
      const bool reduced = (axes >> d & 1) != 0;
      sizes[d] = reduced ? 1 : weight.extents()[k];
      strides[d] = reduced ? 0 : weight.strides()[k];
      k += reduced ? 0 : 1;
    }
    return view<const typename Weight::value_type, Rank>(weight.owner(), weight.origin(), sizes,
                                                         strides);
  }
}

}  // namespace dsl::detail

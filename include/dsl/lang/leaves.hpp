// The leaves of an expression as the operands of a back end.
#pragma once

#include <dsl/exec/statement/evaluation.hpp>
#include <dsl/lang/expression.hpp>

namespace dsl {

namespace detail {

// add_leaves: appends the operands of an expression, in the tracer's order.
template <class T, int R>
void add_leaves(const view<T, R>& v, operand*& at) {
  set_array(*at++, dtype_v<T>, R, v.owner(), v.origin(), v.extents().data(), v.strides().data());
}
template <class T>
void add_leaves(const value_leaf<T>& v, operand*& at) {
  *at++ = operand_of(v);
}
template <int R>
void add_leaves(const index_leaf<R>& v, operand*& at) {
  set_index(*at++, R, v.first, v.extents.data(), v.strides.data());
}
template <class F, class... Operands>
void add_leaves(const expression<F, Operands...>& e, operand*& at) {
  unpack([&at](const auto&... x) { (add_leaves(x, at), ...); }, e.operands);
}

template <class F, int R, class... Operands>
void add_leaves(const reduction<F, R, Operands...>& e, operand*& at) {
  unpack([&at](const auto&... x) { (add_leaves(x, at), ...); }, e.operands);
}

template <class E> inline constexpr int leaf_count = 1;
template <class F, class... Operands>
inline constexpr int leaf_count<expression<F, Operands...>> = (0 + ... + leaf_count<Operands>);
template <class F, int R, class... Operands>
inline constexpr int leaf_count<reduction<F, R, Operands...>> = (0 + ... + leaf_count<Operands>);

/// The leaves of an expression, in the tracer's order.
template <class E>
auto leaves_as_tuple(const E& e) {
  return tuple<E>(e);
}
template <class F, class... Operands>
auto leaves_as_tuple(const expression<F, Operands...>& e) {
  return unpack([](const auto&... x) { return concatenate(leaves_as_tuple(x)...); }, e.operands);
}

/// The same function or reduction of other operands: each is what `map` gives for the one it
/// replaces.
template <class F, class... Operands, class Map>
auto map_operands(const expression<F, Operands...>& e, const Map& map) {
  return unpack(
      [&map](const auto&... x) { return expression<F, decltype(map(x))...>{{}, {map(x)...}}; },
      e.operands);
}
template <class F, int R, class... Operands, class Map>
auto map_operands(const reduction<F, R, Operands...>& e, const Map& map) {
  return unpack(
      [&](const auto&... x) {
        return reduction<F, R, decltype(map(x))...>{{}, {map(x)...}, e.axes};
      },
      e.operands);
}

template <lazy E>
struct leaves_of {
  explicit leaves_of(const E& e) {
    operand* to = at;
    add_leaves(e, to);
  }
  operand at[leaf_count<E>];
};

/// Number of reductions in an expression that are not inside other reductions.
template <class E> inline constexpr int reductions_in = 0;
template <class F, class... Operands> inline constexpr int
    reductions_in<expression<F, Operands...>> = (0 + ... + reductions_in<Operands>);
template <class F, int R, class... Operands> inline constexpr int
    reductions_in<reduction<F, R, Operands...>> = 1;

/// Number of index spaces of an expression, which are in the tracer's order.
template <class E> inline constexpr int space_count = 0;
template <class F, class... Operands>
inline constexpr int space_count<expression<F, Operands...>> =
    (may_reduce<F> ? 1 : 0) + (0 + ... + space_count<Operands>);
template <class F, int R, class... Operands>
inline constexpr int space_count<reduction<F, R, Operands...>> =
    1 + (0 + ... + space_count<Operands>);

// `leaf` is the number of the expression's first leaf on entry, and of the next expression's first
// leaf on return.
template <class E>
void add_spaces(const E&, reduced_space*&, int& leaf) {
  leaf += leaf_count<E>;
}
template <class F, class... Operands>
void add_spaces(const expression<F, Operands...>& e, reduced_space*& at, int& leaf) {
  if constexpr (may_reduce<F>) *at++ = {{broadcast_rank<Operands...>(), ~0u}};
  unpack([&](const auto&... x) { (add_spaces(x, at, leaf), ...); }, e.operands);
}
template <class F, int R, class... Operands>
void add_spaces(const reduction<F, R, Operands...>& e, reduced_space*& at, int& leaf) {
  reduced_space& mine =
      *at++ = {{broadcast_rank<Operands...>(), e.axes}, row_rank<F> > 0 ? row_rank<F> : R};
  if constexpr (requires { F::same_elements; }) {
    const int counts[] = {leaf_count<Operands>...};
    mine.same_elements = F::same_elements;
    mine.first = leaf;
    mine.second = leaf + counts[0];
    mine.end = mine.second + counts[1];
  }
  unpack([&](const auto&... x) { (add_spaces(x, at, leaf), ...); }, e.operands);
}

// The shape of an unevaluated elementwise expression.
template <lazy E>
dsl::extents<E::rank> shape_of(const E& e) {
  const leaves_of<E> leaves(e);
  common_device(leaves.at, leaf_count<E>, pass_view{});  // throws
  std::int64_t shape[max_rank];
  int rank;
  broadcast_shape(shape, rank, leaves.at, leaf_count<E>, pass_view{});
  return first_of<E::rank>(shape);
}

/// The shape for an error message: -1 for each extent if the expression has reductions that are not
/// evaluated yet.
template <lazy E>
dsl::extents<E::rank> known_shape_of(const E& e) {
  dsl::extents<E::rank> sizes;
  if constexpr (reductions_in<E> > 0) sizes.fill(-1);
  else sizes = shape_of(e);
  return sizes;
}
/// An axis of an expression, counted from 0. Throws shape_error, which names the function.
template <lazy E>
int axis_of(const E& e, int axis, const char* function) {
  if (axis >= 0 && axis < E::rank) return axis;
  if (axis < 0 && axis >= -E::rank) return axis + E::rank;
  const auto sizes = known_shape_of(e);
  return axis_of(to_mapping(sizes, sizes), axis, function);
}

}  // namespace detail

/// The device of an expression's first operand in memory; the current device if there is none.
/// Throws device_error if the operands are on different devices.
template <detail::lazy E>
device device_of(const E& e) {
  return detail::common_device(detail::leaves_of<E>(e).at, detail::leaf_count<E>,
                               detail::pass_view{});
}

/// The dtype of an expression's elements.
template <detail::lazy E>
inline constexpr dtype dtype_of_expression = detail::trace_t<E>::type.type;

}  // namespace dsl

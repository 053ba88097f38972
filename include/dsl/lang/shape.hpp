// Functions of shape: all or some elements of an operand in another arrangement. None of them
// copies elements.
#pragma once

#include <dsl/lang/assign.hpp>

namespace dsl {

namespace detail {

/// Types with a shape: an array, a view, a scalar in device memory, one element, an expression.
template <class X>
concept shaped = lazy<std::remove_cvref_t<X>> || viewable<std::remove_cvref_t<X>>;
template <class X> inline constexpr int rank_of = std::remove_cvref_t<X>::rank;

// The operands are checked first, because a formula of a reduction may have no trace.
template <class E>
constexpr bool has_reduction() {
  if constexpr (reductions_in<E> > 0) return true;
  else return has_reductions<E>;
}

template <int NewRank, class E, class Change>
E remap(const char*, const E& e, const Change&) {
  static_assert(sizeof(E) == 0,
                "this has no elements to rearrange before it is evaluated: dsl::eval(x) first");
  return e;
}
template <int NewRank, class T, int R, class Change>
view<T, NewRank> remap(const char* function, const view<T, R>& v, const Change& change) {
  return v.template remap<NewRank>(function, change);
}
template <int NewRank, int R, class Change>
index_leaf<NewRank> remap(const char*, const index_leaf<R>& leaf, const Change& change) {
  const mapping to = change(to_mapping(leaf.extents, leaf.strides, leaf.first));
  return {to.offset, first_of<NewRank>(to.extents), first_of<NewRank>(to.strides)};
}

template <int NewRank, class T, class Change>
value_leaf<T> remap(const char*, const value_leaf<T>& leaf, const Change&) {
  return leaf;
}
template <int NewRank, class F, int R, class... Operands, class Change>
auto remap(const char*, const reduction<F, R, Operands...>& e, const Change&) {
  static_assert(sizeof(e) == 0,
                "a reduction has no elements to rearrange: assign it first (dsl::eval), or "
                "rearrange its operand");
  return e;
}

template <int NewRank, bool Stays, class F, class... Operands, class Change, std::size_t... I>
auto remap_operands(const char* function, const expression<F, Operands...>& e, const Change& change,
                    std::index_sequence<I...>);

// An operand of rank 0 broadcasts to any shape, so it stays as it is, unless all operands have rank
// 0.
template <int NewRank, bool Stays, class E, class Change>
auto remap_operand(const char* function, const E& operand, const Change& change) {
  if constexpr (Stays && E::rank == 0) return operand;
  else return remap<NewRank>(function, operand, change);
}
template <int NewRank, bool Stays, class F, class... Operands, class Change>
auto remap_operand(const char* function, const expression<F, Operands...>& e,
                   const Change& change) {
  return remap_operands<NewRank, Stays>(function, e, change,
                                        std::index_sequence_for<Operands...>{});
}
// Does not use std::apply: its ten levels of templates for each level of the expression reach the
// compilers' limit.
template <int NewRank, bool Stays, class F, class... Operands, class Change, std::size_t... I>
auto remap_operands(const char* function, const expression<F, Operands...>& e, const Change& change,
                    std::index_sequence<I...>) {
  return make_expression<F>(remap_operand<NewRank, Stays>(function, get<I>(e.operands), change)...);
}

/// Rearranges an expression by broadcasting each operand to the expression's shape and rearranging
/// it.
template <int NewRank, class F, class... Operands, class Change>
auto remap(const char* function, const expression<F, Operands...>& e, const Change& change) {
  using E = expression<F, Operands...>;
  static_assert(!has_reduction<E>(),
                "a reduction has no elements to rearrange: assign it first (dsl::eval), or "
                "rearrange its operand");
  static_assert(has_reduction<E>() || !reads_neighbours<E>,
                "a formula's neighbours and positions are those of its whole operands: assign it "
                "first (dsl::eval)");
  const dsl::extents<E::rank> sizes = shape_of(e);
  const auto broadcast_first = [&](const mapping& m) {
    return change(broadcast_to(m, sizes.data(), E::rank));
  };
  return remap_operand<NewRank, (E::rank > 0)>(function, e, broadcast_first);
}

template <int NewRank, class X, class Change>
auto rearrange(const char* function, X& x, const Change& change) {
  if constexpr (lazy<X>) return remap<NewRank>(function, x, change);
  else return remap<NewRank>(function, x.view(), change);
}

template <class E, class... I>
auto subscript_lazily(const E& e, const I&... chosen) {
  const subscript all[] = {chosen..., 0};
  return remap<rank_after<I...>(E::rank)>(
      "x(...)", e, [&all](const mapping& m) { return subscripted(m, all, sizeof...(I)); });
}

template <class S>
constexpr auto of_array(const S& s) {
  static_assert(!is_symbol<S>,
                "inside a formula there is one element: apply this function to the array and pass "
                "the result as an argument");
  return s;
}
// Overload for symbols: reports that a function of arrays was called inside a formula.
#define DSL_OF_ARRAYS(name)                         \
  template <class S, class... Rest>                 \
    requires is_symbol<S>                           \
  constexpr auto name(const S& s, const Rest&...) { \
    return detail::of_array(s);                     \
  }

/// A C++ scalar, broadcast to the shape of another operand.
struct broadcast_value {
  template <class... Operands> static constexpr int rank = broadcast_rank<Operands...>();
  template <class...> using calls = tuple<>;
  template <class Value, class Shape>
  static constexpr auto trace(tracer&, Value value, Shape) {
    return convert_symbol<Value::type.type, false>(value);
  }
};

}  // namespace detail

// Each takes an array, a view, a scalar or an expression. For an operand in memory the result is a
// view that shares the memory and keeps it alive; it can be assigned to unless the array is const.
// For an expression the result is an expression. Negative axes count from the end. All throw
// shape_error, and memory_error for an operand that was never assigned. None waits.

/// The axes in reverse order.
template <detail::shaped X>
auto transpose(X&& x) {
  return detail::rearrange<detail::rank_of<X>>("transpose", x,
                                               [](const auto& m) { return detail::transpose(m); });
}

/// Axis k of the result is axis `axes[k]` of x, as NumPy's transpose(x, axes).
template <detail::shaped X, std::integral... Axes>
  requires(sizeof...(Axes) == detail::rank_of<X>)
auto permute(X&& x, Axes... axes) {
  const int order[] = {static_cast<int>(axes)..., 0};
  constexpr int rank = detail::rank_of<X>;
  return detail::rearrange<rank>(
      "permute", x, [&order](const auto& m) { return detail::permute(m, order, rank); });
}

/// The elements in row-major order with other extents, one of which may be -1 (computed from the
/// rest). Throws if that needs a copy.
template <detail::shaped X, class... N>
  requires detail::sizes<N...>
auto reshape(X&& x, const N&... n) {
  const auto sizes = detail::to_extents(n...);
  constexpr int rank = detail::rank_of_sizes<N...>;
  return detail::rearrange<rank>(
      "reshape", x, [&sizes](const auto& m) { return detail::reshape(m, sizes.data(), rank); });
}

/// The elements in row-major order as one dimension. Throws if that needs a copy.
template <detail::shaped X>
auto ravel(X&& x) {
  return reshape(x, -1);
}

/// The elements in reverse order along every axis.
template <detail::shaped X>
auto flip(X&& x) {
  return detail::rearrange<detail::rank_of<X>>("flip", x,
                                               [](const auto& m) { return detail::flip(m); });
}
/// The elements in reverse order along one axis.
template <detail::shaped X>
auto flip(X&& x, int axis) {
  return detail::rearrange<detail::rank_of<X>>(
      "flip", x, [axis](const auto& m) { return detail::flip(m, axis); });
}

/// x(i, i + offset, ...): the diagonals of the first two axes, as the last axis of the result.
template <detail::shaped X>
  requires(detail::rank_of<X> >= 2)
auto diagonal(X&& x, std::int64_t offset = 0) {
  constexpr int rank = detail::rank_of<X> - 1;
  return detail::rearrange<rank>("diagonal", x,
                                 [offset](const auto& m) { return detail::diagonal(m, offset); });
}

/// x without the given axes, which must have extent 1: squeeze(x, 0), squeeze(x, 0, -1).
template <detail::shaped X, std::integral... Axes>
  requires(sizeof...(Axes) >= 1 && sizeof...(Axes) <= static_cast<std::size_t>(detail::rank_of<X>))
auto squeeze(X&& x, Axes... axes) {
  constexpr int count = sizeof...(Axes), rank = detail::rank_of<X> - count;
  const int gone[] = {static_cast<int>(axes)...};
  return detail::rearrange<rank>(
      "squeeze", x, [&gone](const auto& m) { return detail::squeeze(m, gone, count); });
}

/// x with new axes of extent 1 at the given places of the result: expand_dims(x, 0) is a row,
/// expand_dims(x, -1) a column.
template <detail::shaped X, std::integral... Axes>
  requires(sizeof...(Axes) >= 1)
auto expand_dims(X&& x, Axes... axes) {
  constexpr int count = sizeof...(Axes), rank = detail::rank_of<X> + count;
  const int added[] = {static_cast<int>(axes)...};
  return detail::rearrange<rank>(
      "expand_dims", x, [&added](const auto& m) { return detail::expand_dims(m, added, count); });
}

/// x broadcast to the given extents by NumPy's rules. Several elements of the result may share
/// memory, so it cannot be assigned to.
template <detail::shaped X, class... N>
  requires detail::sizes<N...>
auto broadcast_to(const X& x, const N&... n) {
  const auto sizes = detail::to_extents(n...);
  constexpr int rank = detail::rank_of_sizes<N...>;
  const auto stretch = [&sizes](const auto& m) {
    return detail::broadcast_to(m, sizes.data(), rank);
  };
  return detail::remap<rank>("broadcast_to", detail::as_operand(x), stretch);
}
/// A C++ scalar broadcast to the given extents, like `full`, but as an expression without memory.
/// Its dtype is T.
template <element T, class... N>
  requires detail::sizes<N...>
auto broadcast_to(const T& value, const N&... n) {
  const auto sizes = detail::to_extents(n...);
  detail::element_count(sizes.data(), static_cast<int>(sizes.size()), 1);  // throws
  return detail::make_expression<detail::broadcast_value>(
      value, detail::index_leaf<detail::rank_of_sizes<N...>>{0, sizes, {}});
}

DSL_OF_ARRAYS(transpose)
DSL_OF_ARRAYS(permute)
DSL_OF_ARRAYS(reshape)
DSL_OF_ARRAYS(ravel)
DSL_OF_ARRAYS(flip)
DSL_OF_ARRAYS(diagonal)
DSL_OF_ARRAYS(squeeze)
DSL_OF_ARRAYS(expand_dims)
DSL_OF_ARRAYS(broadcast_to)
DSL_OF_ARRAYS(take)
#undef DSL_OF_ARRAYS

}  // namespace dsl

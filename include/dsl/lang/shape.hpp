// Functions of shape: the same elements, or some of them, in another arrangement. None of them
// copies.
#pragma once

#include <dsl/lang/assign.hpp>

namespace dsl {

namespace detail {

/// What has a shape: an array, a view, a scalar in device memory, one element, an expression.
template <class X>
concept shaped = lazy<std::remove_cvref_t<X>> || viewable<std::remove_cvref_t<X>>;
template <class X> inline constexpr int rank_of = std::remove_cvref_t<X>::rank;

// Operands first: a formula around a reduction need not have a trace.
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

// An operand without dimensions broadcasts to whatever the others become, so it stays as it is,
// unless it is all there is.
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
// Without std::apply, ten levels of whose templates to one of the expression's come to the
// compilers' limit.
template <int NewRank, bool Stays, class F, class... Operands, class Change, std::size_t... I>
auto remap_operands(const char* function, const expression<F, Operands...>& e, const Change& change,
                    std::index_sequence<I...>) {
  return make_expression<F>(remap_operand<NewRank, Stays>(function, get<I>(e.operands), change)...);
}

/// An expression's operands, broadcast to its shape, lie as its elements do: what changes it
/// changes each of them.
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
// A function of arrays, inside a formula.
#define DSL_OF_ARRAYS(name)                         \
  template <class S, class... Rest>                 \
    requires is_symbol<S>                           \
  constexpr auto name(const S& s, const Rest&...) { \
    return detail::of_array(s);                     \
  }

/// A C++ scalar with the shape of another operand.
struct stretch_function {
  template <class... Operands> static constexpr int rank = broadcast_rank<Operands...>();
  template <class...> using calls = tuple<>;
  template <class Value, class Shape>
  static constexpr auto trace(tracer&, Value value, Shape) {
    return convert_symbol<Value::type.type, false>(value);
  }
};

}  // namespace detail

// Each takes an array, a view, a scalar or an expression. Of memory the result is a view, which
// shares it and keeps it alive, and which may be assigned to unless the array is const; of an
// expression it is an expression. Negative axes count from the end. All throw shape_error, and
// memory_error for an operand that was never assigned.

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

/// The elements in row-major order under other extents, of which one may be -1. Throws where that
/// takes a copy.
template <detail::shaped X, class... N>
  requires detail::sizes<N...>
auto reshape(X&& x, const N&... n) {
  const auto sizes = detail::to_extents(n...);
  constexpr int rank = detail::rank_of_sizes<N...>;
  return detail::rearrange<rank>(
      "reshape", x, [&sizes](const auto& m) { return detail::reshape(m, sizes.data(), rank); });
}

/// The elements in row-major order along one axis. Throws where that takes a copy.
template <detail::shaped X>
auto ravel(X&& x) {
  return reshape(x, -1);
}

/// Backwards along every axis.
template <detail::shaped X>
auto flip(X&& x) {
  return detail::rearrange<detail::rank_of<X>>("flip", x,
                                               [](const auto& m) { return detail::flip(m); });
}
/// Backwards along one axis.
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

/// Without the given axes, which must be of extent 1: squeeze(x, 0), squeeze(x, 0, -1).
template <detail::shaped X, std::integral... Axes>
  requires(sizeof...(Axes) >= 1 && sizeof...(Axes) <= static_cast<std::size_t>(detail::rank_of<X>))
auto squeeze(X&& x, Axes... axes) {
  constexpr int count = sizeof...(Axes), rank = detail::rank_of<X> - count;
  const int gone[] = {static_cast<int>(axes)...};
  return detail::rearrange<rank>(
      "squeeze", x, [&gone](const auto& m) { return detail::squeeze(m, gone, count); });
}

/// With new axes of extent 1 at the given places of the result: expand_dims(x, 0) is a row,
/// expand_dims(x, -1) a column.
template <detail::shaped X, std::integral... Axes>
  requires(sizeof...(Axes) >= 1)
auto expand_dims(X&& x, Axes... axes) {
  constexpr int count = sizeof...(Axes), rank = detail::rank_of<X> + count;
  const int added[] = {static_cast<int>(axes)...};
  return detail::rearrange<rank>(
      "expand_dims", x, [&added](const auto& m) { return detail::expand_dims(m, added, count); });
}

/// Stretched to the given extents by NumPy's rule. An element then stands in several places, so the
/// result cannot be assigned to.
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
/// A C++ scalar in every place, as `full`, but an expression: it takes no memory. Its dtype is T.
template <element T, class... N>
  requires detail::sizes<N...>
auto broadcast_to(const T& value, const N&... n) {
  const auto sizes = detail::to_extents(n...);
  detail::element_count(sizes.data(), static_cast<int>(sizes.size()), 1);  // throws
  return detail::make_expression<detail::stretch_function>(
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

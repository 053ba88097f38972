// Neighbours along an axis: shift of an array, of a formula's value, and inside a formula.
#pragma once

#include <dsl/ir/shift.hpp>
#include <dsl/lang/gather.hpp>

namespace dsl {

namespace detail {

/// The elements of an array at a displacement of `distance` along an axis.
template <class T, int R>
struct neighbour_leaf {
  using lazy_expression = void;
  static constexpr int rank = R;
  view<const T, R> of;
  std::int64_t distance;
  int axis;
  boundary beyond;
};
template <class T, int R> struct traced<neighbour_leaf<T, R>> {
  static constexpr auto run(tracer& t) {
    const int slot = t.operands;
    return shift_symbol(operand_symbol<op::load, dtype_v<T>>(t, R), slot);
  }
};
template <class T, int R>
void add_leaves(const neighbour_leaf<T, R>& leaf, operand*& at) {
  operand& o = *at;
  add_leaves(leaf.of, at);
  o.kind = operand_kind::neighbour;
  o.distance = leaf.distance;
  o.axis = R - 1 - leaf.axis;
  o.beyond = leaf.beyond;
}

/// The element of dtype D at position `at` of n elements, which begin at an address and are
/// `stride` elements apart. `beyond` is the boundary: it gives the value outside 0 ... n - 1.
template <dtype D>
struct shift_function {
  template <class... Operands> static constexpr int rank = broadcast_rank<Operands...>();
  template <class...> using calls = tuple<>;
  template <class Address, class Position, class N, class Stride, class Beyond>
  static constexpr symbol<D> trace(tracer& t, Address address, Position at, N n, Stride stride,
                                   Beyond beyond) {
    const auto number = [&t](int k) { return constant<dtype::int64>(t.g, k); };
    const auto is = [&](boundary b) {
      return apply<op::equal>(beyond, number(static_cast<int>(b)));
    };
    // The same arithmetic as `inside`: wrap and reflect move positions by one period, reflect
    // mirrors the second half of the period, and the result is clipped.
    const auto repeats = apply<op::logical_or>(is(boundary::wrap), is(boundary::reflect));
    const auto period =
        apply<op::where>(is(boundary::reflect),
                         apply<op::multiply>(apply<op::subtract>(n, number(1)), number(2)), n);
    const auto before = apply<op::logical_and>(repeats, apply<op::less>(at, number(0)));
    const auto from_start = apply<op::where>(before, apply<op::add>(at, period), at);
    const auto after =
        apply<op::logical_and>(repeats, apply<op::greater_equal>(from_start, period));
    const auto once = apply<op::where>(after, apply<op::subtract>(from_start, period), from_start);
    const auto turned =
        apply<op::logical_and>(is(boundary::reflect), apply<op::greater_equal>(once, n));
    const auto mirrored = apply<op::where>(turned, apply<op::subtract>(period, once), once);
    const auto within =
        apply<op::max>(apply<op::min>(mirrored, apply<op::subtract>(n, number(1))), number(0));
    const symbol<D> found{
        t.g, t.g->add(op::gather, D, fields(address.id, apply<op::multiply>(within, stride).id))};
    const auto outside =
        apply<op::logical_and>(is(boundary::zero), apply<op::not_equal>(at, within));
    return apply<op::where>(outside, constant<D>(t.g, value_t<D>{}), found);
  }
};

/// After a rearrangement, neighbours are read at computed positions along the axis. The positions
/// and the remaining axes are mapped separately.
template <int NewRank, class T, int R, class Change>
auto remap(const char* function, const neighbour_leaf<T, R>& leaf, const Change& change) {
  const auto along = static_cast<std::size_t>(leaf.axis);
  const dsl::extents<R>& sizes = leaf.of.extents();
  dsl::extents<R> others = leaf.of.strides(), one{};
  const std::int64_t stride = others[along];
  others[along] = 0;
  one[along] = 1;
  const address_leaf<T, R> first{
      view<const T, R>(leaf.of.owner(), leaf.of.origin(), sizes, others)};
  return make_expression<shift_function<dtype_v<T>>>(
      remap<NewRank>(function, first, change),
      remap<NewRank>(function, index_leaf<R>{-leaf.distance, sizes, one}, change), sizes[along],
      stride, static_cast<std::int64_t>(leaf.beyond));
}

template <class T, int R>
auto shift_view(const view<const T, R>& x, std::int64_t distance, boundary beyond, int axis) {
  static_assert(R > 0, "a scalar has no neighbours");
  const int along = axis_of(to_mapping(x.extents(), x.strides()), axis, "shift");
  return cast<T>(
      neighbour_leaf<T, R>{x, least_distance(beyond, distance, x.extent(along)), along, beyond});
}

/// The displacement by which a formula's values are shifted.
struct displacement_leaf {
  using lazy_expression = void;
  static constexpr int rank = 0;
  std::int64_t distance;
  int axis;  // counted from the last axis
  boundary beyond;
};
template <> struct traced<displacement_leaf> {
  static constexpr auto run(tracer& t) { return operand_symbol<op::value, dtype::int64, true>(t); }
};
inline void add_leaves(const displacement_leaf& leaf, operand*& at) {
  operand& o = *at++;
  o.kind = operand_kind::step;
  o.type = dtype::int64;
  o.distance = leaf.distance;
  o.axis = leaf.axis;
  o.beyond = leaf.beyond;
}

/// The values of a formula, shifted by a displacement that is known at run time.
struct shifted_value {
  template <class X, class> static constexpr int rank = X::rank;
  template <class...> using calls = tuple<>;
  template <class X, class Step>
  static constexpr auto trace(tracer& t, const X& x, const Step& step) {
    return shift_symbol(x, (*t.g)[step.id].field(0));
  }
};

template <class E>
auto shift_formula(const E& e, std::int64_t distance, boundary beyond, int axis) {
  const int along = axis_of(e, axis, "shift");
  return make_expression<shifted_value>(e,
                                        displacement_leaf{distance, E::rank - 1 - along, beyond});
}

/// Whether a formula is shifted by C++ integers, known when it is traced; if not, a compile-time
/// error says why.
template <class... Number>
constexpr bool require_constants() {
  constexpr bool are_numbers = (std::integral<Number> && ...);
  static_assert(are_numbers,
                "inside a formula the distance and the axis of dsl::shift are C++ integers, the "
                "same for all elements: with dsl::take "
                "outside it each element chooses its own");
  return are_numbers;
}
template <class E>
constexpr bool require_shiftable() {
  constexpr bool has_axes = E::rank > 0, is_one_value = is_symbol<trace_t<E>>;
  static_assert(has_axes, "dsl::shift and dsl::index: one value has no neighbours and no position");
  static_assert(!has_axes || is_one_value,
                "dsl::shift takes a formula that gives one value for each element");
  return has_axes && is_one_value;
}

}  // namespace detail

/// Element i of the result is element i - distance of x along an axis, as in NumPy's roll. `beyond`
/// chooses the value outside the ends; boundary::zero gives 0, even if the formula x of zeros would
/// give another value. The axis is x's own, before it is broadcast with others; negative ones count
/// from the end.
///
/// x is an array, a view or an expression. The shift of an expression is the shift of its value, as
/// of dsl::eval(x). Inside a traced lambda, x is any value computed from arrays, and the distance
/// is a C++ integer known at compile time. A shift may be shifted again: shift(shift(u, 1, b, 0),
/// 1, b, 1) is a diagonal neighbour. Lazy, so a stencil is one expression and one kernel: shift(u,
/// 1) + shift(u, -1) - 2 * u. Throws shape_error if there is no such axis.
/// ```cpp
/// const auto heat = dsl::vectorize(
///     [](auto u) { return u + 0.25f * (dsl::shift(u, 1) + dsl::shift(u, -1) - 2 * u); });
/// ```
template <detail::in_memory X>
auto shift(const X& x, std::int64_t distance, boundary beyond = boundary::zero, int axis = -1) {
  return detail::shift_view(detail::as_operand(x), distance, beyond, axis);
}
template <detail::lazy X>
  requires(!detail::in_memory<X>)
auto shift(const X& x, std::int64_t distance, boundary beyond = boundary::zero, int axis = -1) {
  if constexpr (detail::require_shiftable<X>())
    return detail::shift_formula(x, distance, beyond, axis);
  else return refused{};
}
template <class X, class Distance, class Axis = int>
  requires is_symbol<X>
constexpr auto shift(const X& x, Distance distance, boundary beyond = boundary::zero,
                     Axis axis = -1) {
  if constexpr (detail::require_constants<Distance, Axis>())
    return detail::shift_symbol(x, static_cast<std::int64_t>(distance), beyond,
                                static_cast<int>(axis));
  else return x;
}

/// The position of each element of x along an axis of x, int64. Use it for boundaries of your own:
/// where(dsl::index(u, 0) == 0, 1, ...). Lazy, without memory. x is an array, a view or an
/// expression; inside a traced lambda, any value computed from arrays. Throws shape_error if there
/// is no such axis.
template <class X>
  requires(detail::lazy<X> || detail::in_memory<X>)
auto index(const X& x, int axis) {
  const auto operand = detail::as_operand(x);
  using E = std::remove_const_t<decltype(operand)>;
  static_assert(
      !detail::has_reduction<E>(),
      "dsl::index: a reduction has no elements before it is evaluated: dsl::eval it first");
  if constexpr (!detail::require_shiftable<E>() || detail::has_reduction<E>()) {
    return refused{};
  } else {
    const dsl::extents<E::rank> sizes = detail::shape_of(operand);
    const detail::mapping m = detail::index_mapping(axis, sizes.data(), E::rank);
    return cast<std::int64_t>(
        detail::index_leaf<E::rank>{0, sizes, detail::first_of<E::rank>(m.strides)});
  }
}
template <class X, class Axis>
  requires is_symbol<X>
constexpr auto index(const X& x, Axis axis) {
  if constexpr (detail::require_constants<Axis>())
    return detail::index_symbol(x, static_cast<int>(axis));
  else return symbol<dtype::int64>{x.owner, x.id};
}

}  // namespace dsl

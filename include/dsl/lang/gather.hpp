// take: reads the elements that an index chooses.
#pragma once

#include <dsl/lang/functions.hpp>
#include <dsl/lang/position.hpp>
#include <dsl/lang/shape.hpp>

namespace dsl {

namespace detail {

/// The address of an array's elements, as an operand.
template <class T, int R>
struct address_leaf {
  using lazy_expression = void;
  static constexpr int rank = R;
  view<const T, R> of;
};
template <class T, int R> struct traced<address_leaf<T, R>> {
  static constexpr auto run(tracer& t) { return operand_symbol<op::address, dtype::uint64>(t, R); }
};
template <class T, int R>
void add_leaves(const address_leaf<T, R>& leaf, operand*& at) {
  operand& o = *at;
  add_leaves(leaf.of, at);
  o.kind = operand_kind::address;
  o.type = dtype::uint64;
  o.size = sizeof(T);
}

/// Reads the element of dtype D at address + index * stride (in elements). The index is taken among
/// n elements: negative ones count from the end.
template <dtype D>
struct gather_function {
  template <class... Operands> static constexpr int rank = broadcast_rank<Operands...>();
  template <class...> using calls = tuple<>;
  template <class Address, class Index, class N, class Stride>
  static constexpr symbol<D> trace(tracer& t, Address address, Index index, N n, Stride stride) {
    static_assert(kind_of(Index::type.type) == kind::integer,
                  "take wants an index of integers: use dsl::where to choose by a condition");
    const auto zero = constant<dtype::int64>(t.g, 0), one = constant<dtype::int64>(t.g, 1);
    const auto i = convert_symbol<dtype::int64, false>(position_symbol(index));
    const auto from_start = apply<op::where>(apply<op::less>(i, zero), apply<op::add>(i, n), i);
    const auto within =
        apply<op::max>(apply<op::min>(from_start, apply<op::subtract>(n, one)), zero);
    return {t.g,
            t.g->add(op::gather, D, fields(address.id, apply<op::multiply>(within, stride).id))};
  }
};

template <class T, int R, class Index>
auto gather(const view<const T, R>& from, const Index& index, std::int64_t n, std::int64_t stride) {
  if (n == 0) throw_empty_take();
  return make_expression<gather_function<dtype_v<T>>>(address_leaf<T, R>{from}, index, n, stride);
}

template <int NewRank, class T, int R, class Change>
address_leaf<T, NewRank> remap(const char* function, const address_leaf<T, R>& leaf,
                               const Change& change) {
  return {remap<NewRank>(function, leaf.of, change)};
}
template <class X>
concept in_memory = is_array<X> || requires(const X& x) { x.owner(); };

template <class T, int R, class Index>
auto take_flat(const view<const T, R>& x, const Index& index) {
  require_undivided(x.owner(), "take");
  const view<const T, 1> all = ravel(x);
  return gather(view<const T, 0>(all.owner(), all.origin(), {}, {}), index, all.extent(0),
                all.strides()[0]);
}
template <class T, int R, class Index>
auto take_along(const view<const T, R>& x, const Index& index, int axis) {
  require_memory(x.owner(), "take");
  constexpr int rank = R - 1 + Index::rank;
  const int along = axis_of(to_mapping(x.extents(), x.strides()), axis, "take");
  // The axes of the index replace the axis that it chooses from.
  dsl::extents<rank> sizes{}, strides{};
  int added[R], count = 0;
  for (int d = 0; d < rank; ++d) {
    const bool of_index = d >= along && d < along + Index::rank;
    const auto at = static_cast<std::size_t>(d),
               from = static_cast<std::size_t>(d < along ? d : d - Index::rank + 1);
    sizes[at] = of_index ? 1 : x.extents()[from];
    strides[at] = of_index ? 0 : x.strides()[from];
    if (!of_index) added[count++] = d;
  }
  const auto spread = rearrange<rank>(
      "take", index, [&](const mapping& m) { return expand_dims(m, added, count); });
  return gather(view<const T, rank>(x.owner(), x.origin(), sizes, strides), spread, x.extent(along),
                x.strides()[static_cast<std::size_t>(along)]);
}

// Refuses an operand that is not in memory.
template <class X, class Result = refused>
Result not_in_memory() {
  static_assert(in_memory<X>, "dsl::take reads from memory: of an expression take dsl::eval(x)");
  return {};
}

}  // namespace detail

template <detail::lazy X, class... Rest>
  requires(!detail::in_memory<X>)
auto take(const X&, const Rest&...) {
  return detail::not_in_memory<X>();
}

/// The elements of x at the positions `index`, an array or an expression of integers. The result
/// has the index's shape and x's dtype. If x has several axes, positions count its elements in
/// row-major order. Negative positions count from the end, as in Python; positions beyond an end
/// give the element at that end. Lazy. x is an array or a view. Throws index_error if x is empty,
/// shape_error if its elements are not at equal distances.
template <detail::in_memory X, detail::any_operand Index>
auto take(const X& x, const Index& index) {
  return detail::take_flat(detail::as_operand(x), detail::as_operand(index));
}
/// The same along one axis, which the axes of the index replace.
template <detail::in_memory X, detail::any_operand Index>
auto take(const X& x, const Index& index, int axis) {
  return detail::take_along(detail::as_operand(x), detail::as_operand(index), axis);
}

}  // namespace dsl

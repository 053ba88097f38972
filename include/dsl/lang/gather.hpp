// take: reads the elements that an index chooses.
#pragma once

#include <dsl/ir/take.hpp>
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

/// An array of which a formula takes elements and reads no others: as an operand it has no shape.
template <class T, int R>
struct table_leaf {
  using lazy_expression = void;
  static constexpr int rank = 0;
  view<const T, R> of;
};
template <class T, int R> struct traced<table_leaf<T, R>> {
  static constexpr auto run(tracer& t) { return operand_symbol<op::load, dtype_v<T>>(t, R); }
};
template <class T, int R>
void add_leaves(const table_leaf<T, R>& leaf, operand*& at) {
  add_leaves(view<const T, 0>(leaf.of.owner(), leaf.of.origin(), {}, {}), at);
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
    const auto i = convert_symbol<dtype::int64, false>(position_symbol(index));
    const auto within = position_within(i, n);
    return {t.g,
            t.g->add(op::gather, D, fields(address.id, apply<op::multiply>(within, stride).id))};
  }
};

/// Where the elements of an array are that an index chooses among: the address, and the number of
/// positions and their distance in elements.
template <class T, int R>
struct taken_elements {
  address_leaf<T, R> address;
  std::int64_t count, stride;
};
/// All elements of an array, in row-major order. Throws shape_error if they are not at equal
/// distances.
template <class T, int R>
taken_elements<T, 0> all_elements(const view<const T, R>& x) {
  require_undivided(x.owner(), "take");
  const view<const T, 1> all = ravel(x);
  if (all.extent(0) == 0) throw_empty_take();
  return {{view<const T, 0>(all.owner(), all.origin(), {}, {})}, all.extent(0), all.strides()[0]};
}
/// Those along an axis, counted from 0, at the same positions along the others.
template <class T, int R>
taken_elements<T, R> elements_along(const view<const T, R>& x, int axis) {
  require_memory(x.owner(), "take");
  const auto along = static_cast<std::size_t>(axis);
  dsl::extents<R> sizes = x.extents(), strides = x.strides();
  sizes[along] = 1;
  strides[along] = 0;
  if (x.extent(axis) == 0) throw_empty_take();
  return {{view<const T, R>(x.owner(), x.origin(), sizes, strides)},
          x.extent(axis),
          x.strides()[along]};
}

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
template <int NewRank, class T, int R, class Change>
table_leaf<T, R> remap(const char*, const table_leaf<T, R>& leaf, const Change&) {
  return leaf;
}
template <class X>
concept in_memory = is_array<X> || requires(const X& x) { x.owner(); };

/// A view as the only operand of a task.
template <class T, int R>
operand operand_in_memory(const view<T, R>& x) {
  operand o, *at = &o;
  add_leaves(x, at);
  return o;
}

template <class T, int R, class Index>
auto take_flat(const view<const T, R>& x, const Index& index) {
  const taken_elements<T, 0> all = all_elements(x);
  return make_expression<gather_function<dtype_v<T>>>(all.address, index, all.count, all.stride);
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

/// The value of x, a symbol, at a position of the formula that it belongs to.
template <dtype D, bool W, class Index>
constexpr auto taken_symbol(const symbol<D, W>& x, const Index& index, int axis) {
  using lifted = decltype(lift(x.owner, index));
  constexpr bool is_integer = kind_of(lifted::type.type) == kind::integer;
  static_assert(is_integer,
                "take wants an index of integers: use dsl::where to choose by a condition");
  if constexpr (is_integer) {
    const auto i = convert_symbol<dtype::int64, false>(position_symbol(lift(x.owner, index)));
    return symbol<D>{x.owner, graph_take(*x.owner, i.id, axis).of(x.id)};
  } else {
    return symbol<D>{x.owner, x.id};
  }
}

// lang/vectorize.hpp
template <class Name, class F> struct formula;
template <class F, auto Takes> struct taking;

// The elements that entry K of Takes describes.
template <auto Takes, std::size_t K, class Leaves>
auto taken_elements_of(const Leaves& leaves) {
  constexpr taken_leaf t = Takes.taken[K];
  const auto& leaf = get<static_cast<std::size_t>(t.leaf)>(leaves);
  if constexpr (t.axis == taken_leaf::flat) return all_elements(leaf);
  else return elements_along(leaf, std::remove_cvref_t<decltype(leaf)>::rank - 1 - t.axis);
}
/// Throws shape_error if operands of one value that is taken have different shapes.
template <auto Takes, class Leaves, std::size_t... K>
void require_alike(const Leaves& leaves, std::index_sequence<K...>) {
  operand all[sizeof...(K)], *at = all;
  (add_leaves(get<static_cast<std::size_t>(Takes.taken[K].leaf)>(leaves), at), ...);
  for (std::size_t i = 0; i != sizeof...(K); ++i)
    for (std::size_t k = 0; k != i; ++k)
      if (Takes.taken[i].value == Takes.taken[k].value) require_taken_alike(all[k], all[i]);
}
/// An operand of such a formula, whose first leaf has number Leaf.
template <auto Takes, int Leaf, class Operand>
auto operand_of_taking(const Operand& x) {
  return x;
}
template <auto Takes, int Leaf, class T, int R>
auto operand_of_taking(const view<const T, R>& x) {
  constexpr bool is_table = [] {
    bool taken = false, all = true;
    for (int k = 0; k < Takes.taken_count; ++k)
      if (Takes.taken[k].leaf == Leaf) {
        taken = true;
        all = all && !Takes.taken[k].is_read && Takes.taken[k].axis == taken_leaf::flat;
      }
    return taken && all;
  }();
  if constexpr (is_table && R > 0) return table_leaf<T, R>{x};
  else return x;
}
template <class... Operands>
constexpr int leaves_before(std::size_t operand) {
  const int counts[] = {leaf_count<Operands>..., 0};
  int n = 0;
  for (std::size_t i = 0; i < operand; ++i) n += counts[i];
  return n;
}
/// The expression `e` of a formula that takes elements of its arguments, with these as operands.
template <auto Takes, class Name, class F, class... Operands>
auto with_taken_elements(const expression<formula<Name, F>, Operands...>& e) {
  using numbers = std::make_index_sequence<static_cast<std::size_t>(Takes.taken_count)>;
  const auto leaves = leaves_as_tuple(e);
  require_alike<Takes>(leaves, numbers{});
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    const auto sources = concatenate([&](const auto& of) {
      return tuple{of.address, value_leaf<std::int64_t>{of.count},
                   value_leaf<std::int64_t>{of.stride}};
    }(taken_elements_of<Takes, K>(leaves))...);
    return unpack(
        [](const auto&... x) {
          return make_checked_expression<formula<Name, taking<F, Takes>>>(x...);
        },
        concatenate(
            [&]<std::size_t... I>(std::index_sequence<I...>) {
              return tuple{
                  operand_of_taking<Takes, leaves_before<Operands...>(I)>(get<I>(e.operands))...};
            }(std::index_sequence_for<Operands...>{}),
            sources));
  }(numbers{});
}

/// A formula F of its arguments and, for each entry of Takes (`trace_of_formula`), of the address,
/// the count and the stride of an argument's elements (`taken_elements`).
template <class F, auto Takes>
struct taking {
  template <class... S>
  constexpr auto operator()(const S&... s) const {
    constexpr std::size_t own = sizeof...(S) - 3 * taken;
    const tuple<S...> all(s...);
    add_sources<own>(all, std::make_index_sequence<taken>{});
    return call(all, std::make_index_sequence<own>{});
  }

 private:
  static constexpr auto taken = static_cast<std::size_t>(Takes.taken_count);
  template <std::size_t Own, class All, std::size_t... K>
  static constexpr void add_sources(const All& all, std::index_sequence<K...>) {
    graph& g = *get<Own>(all).owner;
    // Leaves are numbered one after another: the first address comes right after those of F.
    const int first = g[get<Own>(all).id].field(0) - Takes.leaf_count;
    (g.taken_sources.push_back(taken_source{first + Takes.taken[K].leaf, Takes.taken[K].axis,
                                            get<Own + 3 * K>(all).id, get<Own + 3 * K + 1>(all).id,
                                            get<Own + 3 * K + 2>(all).id}),
     ...);
  }
  template <class All, std::size_t... I>
  static constexpr auto call(const All& all, std::index_sequence<I...>) {
    return F{}(get<I>(all)...);
  }
};

}  // namespace detail

template <detail::lazy X, class... Rest>
  requires(!detail::in_memory<X> && !is_symbol<X>)
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
/// Inside a formula: the value of x at the position `index`, an integer computed there, of another
/// element. x is an argument that is an array, or computed from such arguments, which then have one
/// shape. An argument whose elements are only taken is a lookup table: it need not broadcast with
/// the others. In a loop, values of variables are those before the step. Throws index_error
/// if x is empty, shape_error if its elements are not at equal distances, or if a loop's variable
/// is not contiguous.
/// ```cpp
/// const auto relax = dsl::vectorize([](auto u, auto left, auto right) {
///   return 0.5 * (dsl::take(u, left) + dsl::take(u, right));
/// });
/// ```
template <class X, class Index>
  requires is_symbol<X>
constexpr auto take(const X& x, const Index& index) {
  return detail::taken_symbol(x, index, detail::taken_leaf::flat);
}
/// The same along one axis, at the element's own position along the others.
template <class X, class Index>
  requires is_symbol<X>
constexpr auto take(const X& x, const Index& index, int axis) {
  const int from_right = detail::axis_from_right(*x.owner, x.id, axis);
  return detail::taken_symbol(x, index, from_right < 0 ? 0 : from_right);
}

}  // namespace dsl

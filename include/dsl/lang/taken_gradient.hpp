// The derivative with respect to arrays of which a formula takes elements: their weights are added
// to the elements at the positions.
#pragma once

#include <dsl/lang/generate.hpp>
#include <dsl/lang/traced_call.hpp>

namespace dsl::detail {

/// The elements that a formula takes of arguments, in the order of its nodes: the argument, the
/// axis along which positions count, from the right (`taken_leaf::flat`: in row-major order), and
/// the dtype.
struct taken_reads {
  static constexpr int most = 64;
  struct read {
    int argument = 0, axis = 0;
    dtype type{};
  };
  int count = 0;
  read at[most]{};
};

template <class X> inline constexpr bool is_table = false;
template <class T, int R> inline constexpr bool is_table<table_leaf<T, R>> = true;

/// The operand that is a leaf, by its number, or -1.
template <class... Operands>
constexpr int operand_of_leaf(int leaf) {
  for (std::size_t i = 0; i < sizeof...(Operands); ++i)
    if (leaves_before<Operands...>(i) == leaf) return static_cast<int>(i);
  return -1;
}

/// Of an expression of a formula: the elements that it takes of the arguments that have a bit in
/// `Inputs`, and the arguments of which it reads no others.
template <class E, std::uint64_t Inputs> struct takes_of;
template <class F, class... X, std::uint64_t Inputs>
struct takes_of<expression<F, X...>, Inputs> {
  static constexpr std::uint64_t inputs = Inputs;
  static constexpr taken_reads reads = [] {
    graph g;
    tracer t{&g};
    (void)traced<expression<F, X...>>::run(t);
    taken_reads found;
    for (int i = 0; i < g.size(); ++i) {
      if (g[i].code != op::gather) continue;
      for (int k = 0; k < g.taken_sources.size(); ++k) {
        const taken_source& s = g.taken_sources[k];
        if (s.address != g[i].field(0)) continue;
        const int argument = operand_of_leaf<X...>(s.leaf);
        if (argument < 0 || (Inputs >> argument & 1) == 0) continue;
        if (found.count == taken_reads::most) throw "dsl::take inside a formula: too many elements";
        found.at[found.count++] = {argument, s.axis, g[i].type};
      }
    }
    return found;
  }();
  static constexpr std::uint64_t tables = [] {
    std::uint64_t bits = 0, bit = 1;
    ((bits |= is_table<X> ? bit : 0, bit <<= 1), ...);
    return bits & Inputs;
  }();
  static constexpr auto numbers = std::make_index_sequence<static_cast<std::size_t>(reads.count)>{};
};

/// The weights of elements that were taken of an array, and their positions.
template <class T, int R>
struct taken_weights {
  std::conditional_t<R == 0, scalar<T>, array<T, R>> weight;
  std::conditional_t<R == 0, scalar<std::int64_t>, array<std::int64_t, R>> position;
};
template <class Takes, int R, class Numbers> struct taken_weights_of;
template <class Takes, int R, std::size_t... K>
struct taken_weights_of<Takes, R, std::index_sequence<K...>> {
  using type = tuple<taken_weights<element_t<Takes::reads.at[K].type>, R>...>;
};
/// Those of all elements that a formula takes (Takes: `takes_of`), which has elements of rank R.
template <class Takes, int R>
using all_taken_weights =
    typename taken_weights_of<Takes, R, std::remove_const_t<decltype(Takes::numbers)>>::type;
/// They are targets of an expression in this order.
template <class... W>
auto targets_of_taken(tuple<W...>& all) {
  return unpack(
      [](auto&... t) {
        return concatenate(
            tuple<decltype((t.weight)), decltype((t.position))>(t.weight, t.position)...);
      },
      all);
}
/// The outputs of a formula for these targets. Where a formula is only looked at it may take fewer
/// elements, for positions along different axes are not told apart.
template <class Takes, class Call>
constexpr auto taken_results(const Call& made, const sequence<term>& taken) {
  const auto at = [&taken](std::size_t i) {
    return static_cast<int>(i) < taken.size() ? taken[static_cast<int>(i)] : term{};
  };
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    return concatenate(tuple{made.template result<Takes::reads.at[K].type>(at(2 * K)),
                             made.template result<dtype::int64>(at(2 * K + 1))}...);
  }(Takes::numbers);
}

/// Elements that are contiguous, in one dimension.
template <class T, int R>
view<T, 1> as_line(const view<T, R>& x) {
  return {x.owner(), x.origin(), {x.size()}, {1}};
}
/// Adds weights of taken elements to those of the array. One call for all shapes: compiled once.
template <class T>
void add_at(const view<T, 1>& to, const view<const std::int64_t, 1>& position,
            const view<const T, 1>& weight) {
  scatter_add(to, position, weight);
}
/// Axis: as in `taken_reads`. The array is contiguous.
template <int Axis, class Array, class T, int R>
void add_taken(Array& to, const taken_weights<T, R>& of) {
  const view<T, 1> all = as_line(to.view());
  const view<const T, 1> weight = as_line(of.weight.view());
  if constexpr (Axis == taken_leaf::flat) {
    add_at<T>(all, as_line(of.position.view()), weight);
  } else {
    // The array may have fewer axes than the formula's elements, or extents 1.
    constexpr int rank = Array::rank;
    const auto own = row_major(to.extents());
    dsl::extents<R> strides{};
    for (int d = 0; d < rank; ++d)
      if (d != rank - 1 - Axis && to.extent(d) != 1)
        strides[static_cast<std::size_t>(R - rank + d)] = own[static_cast<std::size_t>(d)];
    const std::int64_t stride = own[rank - 1 - Axis];
    const auto key = vectorize([](auto first, auto at, auto by) { return first + at * by; });
    const array<std::int64_t, R> keys =
        key(index_leaf<R>{0, of.position.extents(), strides}, of.position, stride);
    add_at<T>(all, as_line(keys.view()), weight);
  }
}

}  // namespace dsl::detail

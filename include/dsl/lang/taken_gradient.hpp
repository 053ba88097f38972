// The derivative with respect to arrays of which a formula takes elements: their weights are added
// to the elements at the positions.
#pragma once

#include <dsl/lang/generate.hpp>
#include <dsl/lang/traced_call.hpp>

namespace dsl::detail {

/// The elements that a formula takes of arguments, in the order of its nodes: the argument, the axis
/// along which positions count, from the right (`taken_leaf::flat`: in row-major order), and the
/// dtype.
struct taken_reads {
  static constexpr int most = 64;
  struct read { int argument = 0, axis = 0; dtype type{}; };
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
};

/// The weights of elements that were taken of an array, and their positions.
template <class T, int R>
struct taken_weights {
  std::conditional_t<R == 0, scalar<T>, array<T, R>> weight;
  std::conditional_t<R == 0, scalar<std::int64_t>, array<std::int64_t, R>> position;
};
template <class Takes, int R, class Numbers> struct all_taken_weights;
template <class Takes, int R, std::size_t... K>
struct all_taken_weights<Takes, R, std::index_sequence<K...>> {
  using type = tuple<taken_weights<element_t<Takes::reads.at[K].type>, R>...>;
};
/// Those of all elements that a formula takes, which has elements of rank R.
template <class Takes, int R> using all_taken_weights_t = typename all_taken_weights<
    Takes, R, std::make_index_sequence<static_cast<std::size_t>(Takes::reads.count)>>::type;

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
/// Axis: as in `taken_reads`.
template <int Axis, class Array, class T, int R>
void add_taken(Array& to, const taken_weights<T, R>& of) {
  const view<T, 1> all = as_line(to.view());
  const view<const T, 1> weight = as_line(of.weight.view());
  if constexpr (Axis == taken_leaf::flat) {
    add_at<T>(all, as_line(of.position.view()), weight);
  } else {
    constexpr std::size_t along = R - 1 - Axis;
    dsl::extents<R> strides = row_major(to.extents());
    const std::int64_t stride = strides[along];
    strides[along] = 0;
    const auto key = vectorize([](auto first, auto at, auto by) { return first + at * by; });
    const array<std::int64_t, R> keys =
        key(index_leaf<R>{0, of.position.extents(), strides}, of.position, stride);
    add_at<T>(all, as_line(keys.view()), weight);
  }
}

}  // namespace dsl::detail

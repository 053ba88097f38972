// Values of a formula at positions that are data.
#pragma once

#include <dsl/ir/shift.hpp>

namespace dsl::detail {

/// The position that an index chooses among `count` elements: negative ones count from the end, and
/// those beyond an end give the element at that end.
template <class Index, class Count>
constexpr symbol<dtype::int64> position_within(Index index, Count count) {
  const auto zero = constant<dtype::int64>(index.owner, 0),
             one = constant<dtype::int64>(index.owner, 1);
  const auto from_start =
      apply<op::where>(apply<op::less>(index, zero), apply<op::add>(index, count), index);
  return apply<op::max>(apply<op::min>(from_start, apply<op::subtract>(count, one)), zero);
}

/// Takes the value of a node at another position, by taking the elements from which it is computed.
template <class Graph>
class graph_take {
 public:
  /// `index`: the node of the position, int64. Negative ones count from the end, others are
  /// clamped.
  constexpr graph_take(Graph& g, int index, int axis) : g_(g), index_(index), axis_(axis) {}

  constexpr int of(int id) {
    const int value = g_.values_taken++;
    sequence<int> root;
    root.push_back(id);
    const sequence<char> needed = needed_by(g_, root);
    const read_beside reads = read_beside_by(g_, id);
    if (axis_ == taken_leaf::flat && (reads.neighbours > 0 || reads.taken > 0) &&
        (g_.notes_literals || reads.of_variables)) {
      if (reads.neighbours > 0 && !reads.of_variables) g_.refuse_take();
      return from_stored(id, needed, value);
    }
    sequence<int> to(id + 1, -1);
    for (int i = 0; i <= id; ++i)
      if (needed[i] != 0) to[i] = taken(i, to, value);
    return to[id];
  }

 private:
  constexpr int taken(int id, const sequence<int>& to, int value) {
    const node n = g_[id];
    if (is_position(n)) g_.refuse_take();
    if (has_axes(n) && rank_of_leaf(g_, n) <= (axis_ == taken_leaf::flat ? 0 : axis_)) return id;
    if (n.code == op::load) return g_.has_types_alone ? id : element(n, value);
    if (n.code == op::value) return id;  // a C++ number
    if (n.code == op::address && axis_ == taken_leaf::flat) return id;
    if (has_axes(n) || n.code == op::result || n.code == op::call || is_step(n.code)) {
      g_.refuse_take();
      return id;
    }
    node copy = n;
    for (int k = 0; k < count_inputs(n); ++k) set_field(copy, k, to[input_node(n, k)]);
    return g_.add(n.code, n.type, copy.word);
  }
  constexpr int element(const node& n, int value, bool is_read = false) {
    const int known = source_of(n.field(0));
    if (known >= 0) return gather(n.type, g_.taken_sources[known].address, known);
    // The formula is traced to find out what it takes.
    if (!g_.notes_literals) throw "dsl::take of a value that no argument of the formula gives";
    g_.taken.push_back(taken_leaf{n.field(0), axis_, value, is_read});
    return g_.add(op::gather, n.type,
                  fields(g_.add(op::address, dtype::uint64, fields(n.field(0))), index_));
  }
  constexpr int source_of(int leaf) const {
    int i = g_.taken_sources.size() - 1;
    while (i >= 0 && (g_.taken_sources[i].leaf != leaf || g_.taken_sources[i].axis != axis_)) --i;
    return i;
  }
  constexpr int gather(dtype type, int address, int source) {
    const taken_source& s = g_.taken_sources[source];
    const symbol<dtype::int64> at{&g_, index_}, count{&g_, s.count}, stride{&g_, s.stride};
    const auto offset = apply<op::multiply>(position_within(at, count), stride);
    return g_.add(op::gather, type, fields(address, offset.id));
  }
  // In a loop, a value that is computed from elements elsewhere is stored, in memory laid out as
  // that of the variables from which it is computed.
  constexpr int from_stored(int id, const sequence<char>& needed, int value) {
    int last = -1, source = -1;
    for (int i = 0; i <= id; ++i) {
      const node n = g_[i];
      const bool is_leaf =
          n.code == op::load || (n.code == op::neighbour && !is_placed_value(n) && !is_position(n));
      if (needed[i] == 0 || !is_leaf) continue;
      // If the value is stored, it is computed at each element's own position.
      if (g_.notes_literals)
        last = element(node{op::load, g_[id].type, fields(n.field(0))}, value, true);
      else if (source < 0 && n.field(0) < g_.variables) source = source_of(n.field(0));
    }
    if (g_.notes_literals && last >= 0) return last;
    // It may be computed from stored values alone, which have the shape of all variables.
    for (int i = 0; i < g_.taken_sources.size() && source < 0; ++i)
      if (g_.taken_sources[i].axis == axis_ && g_.taken_sources[i].leaf < g_.variables) source = i;
    if (source < 0) throw "dsl::take of a value that no argument of the formula gives";
    const int stored = store(g_, id, rank_of_node(g_, id)),
              address = g_.add(op::address, dtype::uint64,
                               fields(stored, 0, static_cast<int>(op::reduced)));
    return gather(g_[id].type, address, source);
  }

  Graph& g_;
  int index_, axis_;
};

}  // namespace dsl::detail

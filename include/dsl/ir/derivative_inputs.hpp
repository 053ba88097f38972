// The inputs with respect to which a graph is differentiated.
#pragma once

#include <dsl/ir/neighbour.hpp>
#include <dsl/ir/term.hpp>

namespace dsl::detail {

constexpr bool may_have_derivative(dtype type) { return kind_of(type) >= kind::real; }

/// The inputs with respect to which a graph is differentiated: nodes. An operand of the formula is
/// an input with all its reads, those of neighbours as well. An input that is not an operand is
/// marked: it gets a node of its own, which does nothing, so that equal values which the formula
/// computes otherwise are other nodes.
class derivative_inputs {
 public:
  constexpr explicit derivative_inputs(graph& g) : g_(g) {}
  constexpr void add(int id) { nodes_.push_back(id); }
  /// Adds an input that is marked, and returns the mark.
  constexpr int add_marked(int id) {
    add(g_.add(op::positive, g_[id].type, fields(id, g_.size(), static_cast<int>(mark::marked))));
    return nodes_[nodes_.size() - 1];
  }
  constexpr bool is_mark(int id) const { return is_marked(g_[id]); }
  constexpr int count() const { return nodes_.size(); }
  constexpr int operator[](int i) const { return nodes_[i]; }
  /// The number of the input that a node is, or -1.
  constexpr int number_of(int id) const {
    int i = nodes_.size() - 1;
    while (i >= 0 && nodes_[i] != id) --i;
    return i;
  }
  /// The number of the input of which a node reads a neighbour, or -1.
  constexpr int read_by(int id) const {
    const node& n = g_[id];
    if (n.code != op::neighbour || is_placed_value(n) ||
        static_cast<op>(n.field(2) & 0xff) != op::load)
      return -1;
    int i = nodes_.size() - 1;
    while (i >= 0 && !(g_[nodes_[i]].code == op::load && g_[nodes_[i]].field(0) == n.field(0))) --i;
    return i;
  }

  /// The number of the input from which a node takes the element at a position, or -1.
  constexpr int taken_from(const node& n) const {
    if (n.code != op::gather) return -1;
    const int address = n.field(0);
    int leaf = is_stored_address(g_[address]) ? -1 : g_[address].field(0);
    for (int i = 0; i < g_.taken_sources.size(); ++i)
      if (g_.taken_sources[i].address == address) leaf = g_.taken_sources[i].leaf;
    int i = nodes_.size() - 1;
    while (i >= 0 && !(g_[nodes_[i]].code == op::load && g_[nodes_[i]].field(0) == leaf)) --i;
    return i;
  }

  /// For each node, whether it depends on an input by operations that have derivatives. `takes`:
  /// the elements of inputs that are taken have weights of their own; otherwise they are refused.
  constexpr sequence<char> active(int size, bool takes = false) const {
    sequence<char> marks(size, 0);
    for (int i = 0; i < size; ++i) {
      if (number_of(i) >= 0 || read_by(i) >= 0) marks[i] = 1;
      const node& n = g_[i];
      if (marks[i] != 0 || !may_have_derivative(n.type) || has_mark(n, mark::stopped)) continue;
      if (is_mark(i) && moves_mark(i)) g_.refuse_derivative(no_derivative::neighbours);
      if (taken_from(n) >= 0) {
        if (!takes) g_.refuse_derivative(no_derivative::taken);
        marks[i] = 1;
        continue;
      }
      if (n.code == op::reduced) {
        const traced_reduction& f = g_.reduction_at(n.field(0));
        for (int k = 0; k < f.values.size(); ++k)
          if (marks[f.values[k]] != 0) marks[i] = 1;
        continue;
      }
      for (int k = 0; k < count_inputs(n); ++k)
        if (marks[input_node(n, k)] != 0) marks[i] = 1;
      if (marks[i] == 0) continue;
      if (n.code == op::result || n.code == op::call) g_.refuse_derivative(no_derivative::functor);
      if (is_placed(n.code)) g_.refuse_derivative(no_derivative::neighbours);
    }
    return marks;
  }

 private:
  // Whether a mark is that of an input at another place.
  constexpr bool moves_mark(int id) const {
    for (int i = 0; i < nodes_.size(); ++i)
      if (is_mark(nodes_[i]) && g_[nodes_[i]].field(1) == g_[id].field(1)) return true;
    return false;
  }
  graph& g_;
  sequence<int> nodes_;
};

/// The position at which a node op::gather takes an element.
constexpr term taken_position(graph& g, int gather) {
  const node& n = g[gather];
  const node& offset = g[n.field(1)];
  for (int i = 0; i < g.taken_sources.size(); ++i) {
    const taken_source& s = g.taken_sources[i];
    if (s.address != n.field(0) || offset.code != op::multiply) continue;
    if (offset.field(1) == s.stride) return {&g, offset.field(0)};
    if (offset.field(0) == s.stride) return {&g, offset.field(1)};
  }
  return {&g, n.field(1)};
}

}  // namespace dsl::detail

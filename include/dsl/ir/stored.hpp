// Values that the step of a loop stores, so that they can be read at other positions.
#pragma once

#include <dsl/ir/program.hpp>

namespace dsl::detail {

/// Whether a node is such a value. It is represented as a reduction that reduces nothing: later
/// phases of the step read it as an array of the variables' shape.
constexpr bool is_stored(const graph& g, const node& n) {
  return n.code == op::reduced && g.rule_at(g.reduction_at(n.field(0)).rule).stores;
}
/// The node whose value it is.
constexpr int source_of_stored(const graph& g, const node& n) {
  return g.reduction_at(n.field(0)).values[0];
}

/// Stores the value of a node, which has `rank` axes. Returns the node that reads it.
constexpr int store(graph& g, int id, int rank) {
  for (int i = 0; i < g.reduction_count(); ++i)
    if (g.rule_at(g.reduction_at(i).rule).stores && g.reduction_at(i).values[0] == id)
      return g.add(op::reduced, g[id].type, fields(i));
  // An index space of its own gives the value its axes.
  g.spaces.push_back(index_space{0, 0, 0, true, rank, {}, false});
  reduction_rule rule;
  rule.stores = true;
  sequence<int> value;
  value.push_back(id);
  const int of_formula = g.space;
  g.space = g.spaces.size();
  const int number = g.add_reduction(std::move(rule), std::move(value));
  g.space = of_formula;
  return g.add(op::reduced, g[id].type, fields(number));
}

/// What a value is computed from, as far as it decides whether to store it.
struct read_beside {
  int neighbours = 0, taken = 0;  // Nodes.
  bool of_variables = false;      // It depends on arrays among a loop's variables.
};
constexpr read_beside read_beside_by(const graph& g, int id) {
  sequence<char> needed(id + 1, 0);
  needed[id] = 1;
  read_beside found;
  for (int i = id; i >= 0; --i) {
    if (needed[i] == 0) continue;
    const node& n = g[i];
    for (int k = 0; k < count_inputs(n); ++k) needed[input_node(n, k)] = 1;
    if (n.code == op::neighbour) ++found.neighbours;
    if (n.code == op::gather) ++found.taken;
    const bool is_leaf = n.code == op::load || (n.code == op::neighbour && !is_placed_value(n));
    if ((is_leaf && n.field(0) < g.variables) || is_stored(g, n)) found.of_variables = true;
  }
  return found;
}

}  // namespace dsl::detail

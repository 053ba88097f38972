// Numbers of elements: of a pass's results they are a word of the kernel's parameters, op::count;
// elsewhere they are operands.
#pragma once

#include <dsl/ir/origin.hpp>

namespace dsl::detail {

/// Adds a reduction of a node over an index space, with an operation of two values, which are the
/// accumulators in the reverse order if `reversed`. Returns the node of its result.
constexpr int reduce_node(graph& g, int id, int space, op code, literal identity,
                          bool reversed = false) {
  const dtype type = g[id].type;
  reduction_rule rule;
  graph& c = rule.combine;
  const int first = c.add(op::value, type, {0}), second = c.add(op::value, type, {1});
  c.outputs.push_back(c.add(code, type, reversed ? fields(second, first) : fields(first, second)));
  rule.identity.push_back(identity);
  sequence<int> values;
  values.push_back(id);
  const int current = g.space;
  g.space = space;
  const int number = g.add_reduction(std::move(rule), std::move(values));
  g.space = current;
  return g.add(op::reduced, type, fields(number));
}

/// The node of the number of elements of an index space that are reduced to one value.
constexpr int count_elements(graph& g, int space) {
  if (!g.counts_groups) return g.add(op::count, dtype::int64, fields(space));
  const int one = g.add(op::constant, dtype::int64, {1});
  return reduce_node(g, one, space, op::add, literal{});
}

constexpr bool has_counts(const graph& g) {
  for (int i = 0; i < g.size(); ++i)
    if (g[i].code == op::count) return true;
  return false;
}

/// A value that is computed from counts and scalars alone as a result of the pass over their index
/// space: it depends on a reduction. Other nodes are left as they are.
constexpr int result_of_counts(graph& g, int id) {
  if (!has_counts(g)) return id;
  sequence<int> root;
  root.push_back(id);
  const sequence<char> needed = needed_by(g, root);
  int space = -1;
  for (int i = 0; i <= id; ++i) {
    const op code = g[i].code;
    if (needed[i] == 0) continue;
    if (code <= op::index || code == op::gather || code == op::reduced) return id;
    if (code == op::count) space = g[i].field(0);
  }
  if (space < 0) return id;
  const int nothing = g.add(op::constant, dtype::boolean, literal{}),
            never = reduce_node(g, nothing, space, op::logical_or, literal{});
  return g.add(op::where, g[id].type, fields(never, id, id));
}

/// The counts that elements, or results of other index spaces, are computed from.
class counts_outside_results {
 public:
  constexpr explicit counts_outside_results(const graph& g)
      : g_(g), origins_(g), is_outside_(g.size(), 0) {
    const sequence<char> live =
        needed_in_pass(g, needed_by(g, g.outputs), sequence<char>(g.size(), 0));
    for (int i = g.size() - 1; i >= 0; --i) {
      if (live[i] == 0) continue;
      for (int k = 0; k < count_inputs(g[i]); ++k)
        note(input_node(g[i], k), origins_[i], is_outside_[i] != 0);
      if (g[i].code != op::reduced) continue;
      const traced_reduction& f = g.reduction_at(g[i].field(0));
      for (int k = 0; k < f.values.size(); ++k) note(f.values[k], origin{origin::element}, false);
    }
  }
  constexpr bool contains(int node) const {
    return g_[node].code == op::count && is_outside_[node] != 0;
  }

 private:
  // What counts of one index space give is a result of that space if only its results read it.
  constexpr void note(int from, const origin& reader, bool reader_is_outside) {
    const origin& o = origins_[from];
    if (o.kind != origin::reduced || o.depth > 0) return;
    const bool is_result = reader.kind == origin::reduced && reader.space == o.space;
    if (!is_result || reader_is_outside) is_outside_[from] = 1;
  }

  const graph& g_;
  node_origins<graph> origins_;
  sequence<char> is_outside_;
};

/// Makes each count that is used outside the results of its index space an operand, after all
/// others: the same scalar for all elements of all passes. `set_counts`
/// (exec/statement/counts.hpp) computes it when the statement runs.
constexpr void make_counts_operands(graph& g) {
  if (!has_counts(g)) return;
  for (int k = 0; k < g.outputs.size(); ++k) g.outputs[k] = result_of_counts(g, g.outputs[k]);
  const counts_outside_results outside(g);
  for (int i = 0; i < g.size(); ++i) {
    if (!outside.contains(i)) continue;
    g.counted.push_back(g[i].field(0));
    g.replace(i, node{op::value, dtype::int64, fields(g.operands++)});
  }
}

}  // namespace dsl::detail

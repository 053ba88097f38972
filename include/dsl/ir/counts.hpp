// Numbers and positions of elements that are reduced together. Results of a pass read the number as
// a word of the kernel's parameters, op::count, and its reductions the position as an operand of
// the pass; elsewhere both are operands of the statement.
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

/// Marks each index space (0: the whole statement) whose positions are used outside its reductions,
/// or at other elements than their own.
constexpr sequence<char> positions_outside_reductions(const graph& g) {
  sequence<char> outside(g.spaces.size() + 1, 0);
  bool any = false;
  for (int i = 0; i < g.size(); ++i) any = any || is_position(g[i]);
  if (!any) return outside;
  // The index space of the reductions that are computed from each node.
  constexpr int none = -1, several = -2;
  sequence<int> readers(g.size(), none);
  const auto note = [&readers](int node, int reader) {
    int& known = readers[node];
    if (reader != none) known = known == none || known == reader ? reader : several;
  };
  for (int i = 0; i < g.outputs.size(); ++i) note(g.outputs[i], several);
  for (int i = g.size() - 1; i >= 0; --i) {
    const node& n = g[i];
    if (is_position(n) && readers[i] != none &&
        (n.code != op::index || readers[i] != space_of_position(n)))
      outside[space_of_position(n)] = 1;
    for (int k = 0; k < count_inputs(n); ++k) note(input_node(n, k), readers[i]);
    if (n.code != op::reduced || readers[i] == none) continue;
    const traced_reduction& f = g.reduction_at(n.field(0));
    for (int k = 0; k < f.values.size(); ++k) note(f.values[k], f.space);
  }
  return outside;
}

/// Makes operands, after all others, of each count that is used outside the results of its index
/// space, the same scalar for all elements of all passes, and of each position that is used outside
/// the reductions of its own, computed numbers of that space's shape. `set_space_operands`
/// (exec/statement/counts.hpp) makes them when the statement runs.
constexpr void make_space_operands(graph& g) {
  if (has_counts(g)) {
    for (int k = 0; k < g.outputs.size(); ++k) g.outputs[k] = result_of_counts(g, g.outputs[k]);
    const counts_outside_results outside(g);
    for (int i = 0; i < g.size(); ++i) {
      if (!outside.contains(i)) continue;
      g.of_spaces.push_back({g[i].field(0), false});
      g.replace(i, node{op::value, dtype::int64, fields(g.operands++)});
    }
  }
  const sequence<char> outside = positions_outside_reductions(g);
  for (int space = 0; space < outside.size(); ++space) {
    if (outside[space] == 0) continue;
    for (int i = 0; i < g.size(); ++i) {
      node n = g[i];
      if (!is_position(n) || space_of_position(n) != space) continue;
      n.word.bits = (n.word.bits & ~std::uint64_t{0xffff}) | static_cast<std::uint64_t>(g.operands);
      g.replace(i, n);
    }
    g.of_spaces.push_back({space, true});
    ++g.operands;
  }
}

}  // namespace dsl::detail

// Nodes that are computed as others are, from other inputs.
#pragma once

#include <dsl/ir/origin.hpp>

namespace dsl::detail {

/// A call of a functor with other arguments, for nodes that have become to[node]. The arguments of
/// a call are nodes one after another, so all are new; one that stays gets a node that does
/// nothing.
constexpr int call_with(graph& g, const node& call, const sequence<int>& to) {
  const int number = call.field(0), first = call.field(1), count = call.field(2);
  bool same = true;
  for (int k = 0; k < count; ++k) same = same && to[g[first + k].field(0)] == g[first + k].field(0);
  if (same) return g.known(call.code, call.type, call.word);
  sequence<int> values;
  for (int k = 0; k < count; ++k) {
    const int before = g[first + k].field(0), now = to[before];
    values.push_back(now != before ? now
                                   : g.add(op::positive, g[now].type,
                                           fields(now, g.size(), static_cast<int>(mark::marked))));
  }
  int begin = -1;
  for (int k = 0; k < count; ++k) {
    const int made = g.add(op::argument, g[first + k].type, fields(values[k], number, k));
    if (k == 0) begin = made;
  }
  return g.add(call.code, call.type, fields(number, begin, count));
}

/// The node `id`, computed from other nodes. `replacement(i, to)`: the node that takes the place of
/// node i, or -1 if that is computed from its inputs as before, which have become to[input]. What
/// reductions reduce is replaced too.
template <class Replacement>
constexpr int replace_nodes(graph& g, int id, const Replacement& replacement) {
  // In one pass, however deep reductions are nested: what they reduce has smaller numbers.
  sequence<int> to(id + 1, -1);
  sequence<char> needed(id + 1, 0);
  needed[id] = 1;
  for (int i = id; i >= 0; --i) {
    if (needed[i] == 0) continue;
    for (int k = 0; k < count_inputs(g[i]); ++k) needed[input_node(g[i], k)] = 1;
    if (g[i].code == op::reduced)
      for (const int value : g.reduction_at(g[i].field(0)).values) needed[value] = 1;
  }
  for (int i = 0; i <= id; ++i) {
    if (needed[i] == 0) continue;
    to[i] = replacement(i, to);
    if (to[i] >= 0) continue;
    node n = g[i];
    if (n.code == op::reduced) {
      const int rule = g.reduction_at(n.field(0)).rule, space = g.reduction_at(n.field(0)).space;
      const int count = g.reduction_at(n.field(0)).values.size();
      sequence<int> values;
      for (int k = 0; k < count; ++k) values.push_back(to[g.reduction_at(n.field(0)).values[k]]);
      to[i] = g.add(op::reduced, n.type,
                    fields(g.add_reduction(rule, space, std::move(values)), n.field(1)));
      continue;
    }
    if (n.code == op::argument) continue;
    if (n.code == op::call) {
      to[i] = call_with(g, n, to);
      continue;
    }
    bool same = true;
    const int inputs = count_inputs(n);
    for (int k = 0; k < inputs; ++k) {
      const int before = input_node(n, k);
      same = same && to[before] == before;
      set_field(n, field_of_input(n, k), to[before]);
    }
    to[i] = same ? i : g.add(n.code, n.type, n.word);
  }
  return to[id];
}

}  // namespace dsl::detail

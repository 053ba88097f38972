// Nodes that are computed as others are, from other inputs.
#pragma once

#include <dsl/ir/origin.hpp>

namespace dsl::detail {

/// The node `id`, computed from other nodes. `replacement(i, to)`: the node that takes the place of
/// node i, or -1 if that is computed from its inputs as before, which have become to[input]. What
/// reductions reduce is replaced too.
template <class Replacement>
constexpr int replace_nodes(graph& g, int id, const Replacement& replacement) {
  sequence<int> root, to(id + 1, -1);
  root.push_back(id);
  const sequence<char> needed = needed_by(g, root);
  for (int i = 0; i <= id; ++i) {
    if (needed[i] == 0) continue;
    to[i] = replacement(i, to);
    if (to[i] >= 0) continue;
    node n = g[i];
    if (n.code == op::reduced) {
      const int rule = g.reduction_at(n.field(0)).rule, space = g.reduction_at(n.field(0)).space;
      const int count = g.reduction_at(n.field(0)).values.size();
      sequence<int> values;
      for (int k = 0; k < count; ++k)
        values.push_back(replace_nodes(g, g.reduction_at(n.field(0)).values[k], replacement));
      to[i] = g.add(op::reduced, n.type,
                    fields(g.add_reduction(rule, space, std::move(values)), n.field(1)));
      continue;
    }
    for (int k = 0; k < count_inputs(n); ++k) set_field(n, k, to[input_node(g[i], k)]);
    to[i] = g.add(n.code, n.type, n.word);
  }
  return to[id];
}

}  // namespace dsl::detail

// Copies a part of a graph into another graph.
#pragma once

#include <dsl/ir/program.hpp>

namespace dsl::detail {

/// Adds a copy of a reduction, whose operand nodes have already been copied, and returns its
/// number.
template <class Graph>
constexpr int copy_reduction(Graph& to, const graph& from, const traced_reduction& f,
                             const sequence<int>& copied) {
  const reduction_rule& known = from.rule_at(f.rule);
  reduction_rule rule;
  rule.needs_elements = known.needs_elements;
  for (int i = 0; i < known.combine.size(); ++i)
    rule.combine.add(known.combine[i].code, known.combine[i].type, known.combine[i].word);
  for (int i = 0; i < known.combine.outputs.size(); ++i)
    rule.combine.outputs.push_back(known.combine.outputs[i]);
  for (int i = 0; i < known.identity.size(); ++i) rule.identity.push_back(known.identity[i]);
  sequence<int> values;
  for (int i = 0; i < f.values.size(); ++i) values.push_back(copied[f.values[i]]);
  return to.add_reduction(std::move(rule), std::move(values));
}

/// Which leaves (by number) and which nodes of the source graph become operands of the copy: the
/// operand's number, or -1 for none. A node that becomes an operand is read by the operation in
/// `codes`.
struct operand_places {
  sequence<int> of_leaf, of_node;
  sequence<op> codes;
  sequence<int> addresses{};  // For each node that is a stored value: the operand with its address.
};

/// The word of a copied node that reads a neighbour or asks for a position.
constexpr literal placed_word(const node& n, const operand_places& places,
                              const sequence<int>& copied) {
  const bool of_value = is_placed_value(n);
  const int slot = of_value ? places.of_node[n.field(0)] : places.of_leaf[n.field(0)];
  const int base = of_value ? (n.field(2) & ~0xff) | static_cast<int>(op::load) : n.field(2);
  return fields(slot, n.code == op::coordinate ? n.field(1) : copied[n.field(1)], base);
}

/// Copies the `needed` nodes, which form one index space in the copy, and returns their new
/// numbers.
template <class Graph>
constexpr sequence<int> copy_into(Graph& to, const graph& from, const sequence<char>& needed,
                                  const operand_places& places) {
  sequence<int> copied(from.size(), -1), reductions(from.reduction_count(), -1);
  for (int i = 0; i < from.size(); ++i) {
    if (needed[i] == 0) continue;
    node n = from[i];
    if (places.of_node[i] >= 0) {
      n = node{places.codes[i], n.type, fields(places.of_node[i])};
    } else if (n.code == op::count) {
      n.word = literal{};
    } else if (is_position(n)) {
      n.word = fields(position_in_reduction);
    } else if (is_placed(n.code)) {
      n.word = placed_word(n, places, copied);
    } else if (is_stored_address(n)) {
      n.word = fields(places.addresses[n.field(0)]);
    } else if (n.code <= op::load_scalar) {
      n.word = fields(places.of_leaf[n.field(0)]);
    } else if (n.code == op::reduced) {
      int& number = reductions[n.field(0)];
      if (number < 0) number = copy_reduction(to, from, from.reduction_at(n.field(0)), copied);
      n.word = fields(number, n.field(1));
    } else {
      // A call's arguments are chained; the node names the first one only.
      const int first = n.code == op::call ? 1 : 0, last = n.code == op::call ? 2 : count_inputs(n);
      for (int k = first; k < last; ++k) set_field(n, k, copied[from[i].field(k)]);
      if (n.code == op::given_step) set_field(n, 1, places.of_leaf[n.field(1)]);
    }
    copied[i] = to.add(n.code, n.type, n.word);
  }
  for (const result_name& name : from.names())
    if (copied[name.result] >= 0 && places.of_node[name.result] < 0 && copied[name.of] >= 0)
      to.name({copied[name.result], copied[name.of], name.ddof < 0 ? -1 : copied[name.ddof],
               name.text});
  return copied;
}

}  // namespace dsl::detail

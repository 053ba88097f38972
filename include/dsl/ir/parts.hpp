// The parts of a statement, by the depth of its reductions: each can be computed by one pass.
#pragma once

#include <dsl/ir/copy.hpp>
#include <dsl/ir/origin.hpp>
#include <dsl/ir/schedule.hpp>

namespace dsl::detail {

/// A part of a statement that one pass can compute: results of reductions, elements, or both.
struct statement_part {
  struct reductions_of { int space, depth; };
  // In one index space at one depth; in several if the part also has elements.
  sequence<reductions_of> reductions;
  // Outputs of the graph.
  sequence<int> elements;
  // Nodes.
  sequence<int> results;
  // Leaves, and values (numbered after all leaves), ordered by leaf.
  sequence<int> inputs;
  int reduction_count = 0, reduced_values = 0;
  bool calls = false;
  // The elements are computed from values alone, one for each row of a formula of rows.
  bool of_rows = false;
  constexpr int depth() const { return reductions[0].depth; }
  constexpr int space() const { return elements.size() > 0 ? 0 : reductions[0].space; }
};

/// The parts of a graph, the values that they pass to each other, and their inputs. Elementwise
/// values are recomputed in every part that needs them; results of reductions are stored once.
template <class Graph>
class statement_parts {
 public:
  using part = statement_part;
  constexpr explicit statement_parts(const Graph& g) : g_(g), origins_(g) {
    find_values();
    make_parts();
    number_values();
    for (int i = 0; i < parts_.size(); ++i) find_inputs(parts_[i]);
  }
  /// The parts in the order in which they are computed.
  constexpr const sequence<part>& all() const { return parts_; }
  constexpr const node_origins<Graph>& origins() const { return origins_; }
  /// The nodes whose values are stored. An input number is that of a leaf, or leaves() plus that of
  /// a value.
  constexpr const sequence<int>& values() const { return values_; }
  constexpr int leaves() const { return origins_.leaf_count(); }
  constexpr bool is_leaf(int input) const { return input < leaves(); }
  constexpr int value_of_input(int input) const { return values_[input - leaves()]; }
  /// The operation that reads an input, and its dtype.
  constexpr op code_of_input(int input) const {
    if (is_leaf(input)) return origins_.leaf_code(input);
    return rank_of(origins_[value_of_input(input)].space) == 0 ? op::load_scalar : op::load;
  }
  constexpr dtype type_of_input(int input) const {
    return is_leaf(input) ? origins_.leaf_type(input) : g_[value_of_input(input)].type;
  }
  /// Whether an input is the result of a formula of rows, read outside that formula.
  constexpr bool is_outside(const part& p, int input) const {
    if (is_leaf(input)) return false;
    const int number = origins_[value_of_input(input)].space;
    if (number == 0 || !space(number).of_rows) return false;
    for (int k = 0; k < p.reductions.size(); ++k)
      if (p.reductions[k].space == number) return false;
    return space(number).reduces || p.of_rows;
  }
  /// The rank of the results of an index space's reductions, and the number of its first leaf.
  constexpr int rank_of(int number) const { return number == 0 ? 0 : space(number).rank; }
  constexpr int first_leaf(int number) const { return number == 0 ? 0 : space(number).first; }

  // Where a result is written: directly to the target if it goes to one target alone. A result with
  // other readers or several targets is stored as a value first.
  constexpr output_place place_of(const part& p, int node) const {
    output_place place{
        origins_[node].kind == origin::reduced ? origins_[node].space : p.reductions[0].space,
        numbers_[node], -1, false};
    for (int i = 0; place.value < 0 && place.target < 0 && i < g_.outputs.size(); ++i)
      if (g_.outputs[i] == node) place.target = i;
    sequence<int> root;
    root.push_back(node);
    const sequence<char> needed = needed_by(g_, root);
    for (int i = 0; i < g_.size(); ++i)
      if (needed[i] != 0 && g_[i].code == op::reduced && is_inside(p, origins_[i]))
        place.needs_elements =
            place.needs_elements || g_.rule_at(g_.reduction_at(g_[i].field(0)).rule).needs_elements;
    return place;
  }

  // The nodes that a pass computes or reads. Values of other passes are included, the nodes they
  // are computed from are not.
  constexpr sequence<char> nodes_of(const part& p) const {
    sequence<char> needed(g_.size(), 0);
    for (int i = 0; i < p.elements.size(); ++i) needed[g_.outputs[p.elements[i]]] = 1;
    for (int i = 0; i < p.results.size(); ++i) needed[p.results[i]] = 1;
    sequence<char> inputs(g_.size(), 0);
    for (int i = 0; i < g_.size(); ++i) inputs[i] = is_input(p, i) ? 1 : 0;
    return needed_in_pass(g_, std::move(needed), inputs);
  }

  /// Copies the nodes that a part computes into another graph, where input k is read as operand
  /// number places[k], and returns their new numbers.
  constexpr sequence<int> copy_nodes(const part& p, const sequence<int>& places, graph& to) const {
    operand_places at{sequence<int>(leaves(), -1), sequence<int>(g_.size(), -1),
                      sequence<op>(g_.size(), op::load)};
    for (int k = 0; k < p.inputs.size(); ++k) {
      const int input = p.inputs[k];
      if (is_leaf(input)) {
        at.of_leaf[input] = places[k];
      } else {
        at.of_node[value_of_input(input)] = places[k];
        at.codes[value_of_input(input)] = code_of_input(input);
      }
    }
    return copy_into(to, g_, nodes_of(p), at);
  }

 private:
  using reductions_of = statement_part::reductions_of;
  constexpr const index_space& space(int number) const { return g_.spaces[number - 1]; }

  // ---- stored nodes
  constexpr bool is_value_for(int from, const origin& reader) const {
    const origin& o = origins_[from];
    return o.kind == origin::reduced &&
           !(reader.kind == origin::reduced && reader.space == o.space &&
             (reader.depth == o.depth || o.depth == 0));
  }
  constexpr void find_values() {
    is_value_ = sequence<char>(g_.size(), 0);
    live_ = sequence<char>(g_.size(), 0);
    for (int i = 0; i < g_.outputs.size(); ++i) live_[g_.outputs[i]] = 1;
    // A result that only contributes its shape to a formula's operands is stored as a value too.
    for (int k = 1; k <= g_.spaces.size(); ++k)
      for (int outer = space(k).parent; outer != 0; outer = space(outer).parent)
        if (origins_.holds_arrays_of(outer, k)) read(space(k).outputs[0], {origin::element, 0, 0});
    for (int i = g_.size() - 1; i >= 0; --i) {
      if (live_[i] == 0) continue;
      const node& n = g_[i];
      for (int k = 0; k < count_inputs(n); ++k) read(input_node(n, k), origins_[i]);
      if (n.code != op::reduced) continue;
      const traced_reduction& f = g_.reduction_at(n.field(0));
      for (int k = 0; k < f.values.size(); ++k) read(f.values[k], {origin::element, 0, 0});
    }
  }
  constexpr void read(int from, const origin& reader) {
    live_[from] = 1;
    if (is_value_for(from, reader)) is_value_[from] = 1;
  }

  // ---- the passes
  constexpr part& part_of(reductions_of k) {
    for (int i = 0; i < parts_.size(); ++i)
      if (parts_[i].reductions[0].space == k.space && parts_[i].depth() == k.depth)
        return parts_[i];
    part made;
    made.reductions.push_back(k);
    parts_.push_back(std::move(made));
    return parts_[parts_.size() - 1];
  }
  static constexpr void add_once(sequence<int>& to, int value) {
    for (int i = 0; i < to.size(); ++i)
      if (to[i] == value) return;
    to.push_back(value);
  }
  constexpr bool is_scalar_output(int output) const {
    return (g_.scalar_outputs >> output & 1) != 0;
  }

  constexpr void make_parts() {
    for (int i = 0; i < g_.size(); ++i)
      if (is_value_[i] != 0) add_once(part_of({origins_[i].space, origins_[i].depth}).results, i);
    // Elements of arrays; values of each row; single values that are not results of reductions
    // themselves. `last`: the depth of the elements.
    part arrays, rows, scalars;
    int last = 0;
    rows.of_rows = true;
    for (int i = 0; i < g_.outputs.size(); ++i) {
      const origin& o = origins_[g_.outputs[i]];
      if (o.kind == origin::reduced) {
        add_once(part_of({o.space, o.depth}).results, g_.outputs[i]);
        if (origins_.is_direct(o.space) && o.depth - 1 > last) last = o.depth - 1;
      } else if (is_scalar_output(i) && o.kind != origin::element) {
        scalars.elements.push_back(i);
      } else if (o.kind == origin::combined && is_of_rows(g_.outputs[i])) {
        rows.elements.push_back(i);
      } else {
        arrays.elements.push_back(i);
        if (o.depth > last) last = o.depth;
      }
    }
    for (int k = 1; k <= g_.spaces.size(); ++k)
      if (origins_.shapes_elements(k) && origins_.depth_of_space(k) > last)
        last = origins_.depth_of_space(k);
    attach_scalars(scalars);
    sort_parts();
    if (arrays.elements.size() > 0) fuse(arrays, last);
    if (arrays.elements.size() > 0) parts_.push_back(std::move(arrays));
    if (rows.elements.size() > 0) parts_.push_back(std::move(rows));
    if (scalars.elements.size() > 0) parts_.push_back(std::move(scalars));
  }
  constexpr bool is_of_rows(int output) const {
    sequence<int> root;
    root.push_back(output);
    const sequence<char> needed = needed_by(g_, root);
    for (int i = 0; i < g_.size(); ++i)
      if (needed[i] != 0 && origins_[i].kind == origin::reduced && origins_[i].space > 0 &&
          space(origins_[i].space).of_rows)
        return true;
    return false;
  }
  // Single values computed from scalars alone are computed by the first part whose reductions give
  // a single value to a target.
  constexpr void attach_scalars(part& scalars) {
    part* to = nullptr;
    for (int i = 0; i < g_.outputs.size() && to == nullptr; ++i) {
      const origin& o = origins_[g_.outputs[i]];
      if (o.kind == origin::reduced && rank_of(o.space) == 0) to = &part_of({o.space, o.depth});
    }
    sequence<int> left;
    for (int i = 0; i < scalars.elements.size(); ++i) {
      const int node = g_.outputs[scalars.elements[i]];
      if (to != nullptr && origins_[node].kind == origin::scalar) add_once(to->results, node);
      else left.push_back(scalars.elements[i]);
    }
    scalars.elements = std::move(left);
  }
  constexpr void sort_parts() {
    sequence<part> sorted;
    for (int depth = 1, left = parts_.size(); left > 0; ++depth)
      for (int i = 0; i < parts_.size(); ++i)
        if (parts_[i].depth() == depth) {
          sorted.push_back(std::move(parts_[i]));
          --left;
          parts_[i].reductions = sequence<reductions_of>(1, reductions_of{0, -1});
        }
    parts_ = std::move(sorted);
  }
  // A reduction that goes to a target is computed in one pass with the elements if these depend on
  // reductions just one level below it.
  constexpr void fuse(part& arrays, int last) {
    sequence<part> left;
    for (int i = 0; i < parts_.size(); ++i) {
      part& p = parts_[i];
      if (p.depth() == last + 1 && origins_.is_direct(p.reductions[0].space) && goes_to_target(p)) {
        arrays.reductions.push_back(p.reductions[0]);
        for (int k = 0; k < p.results.size(); ++k) arrays.results.push_back(p.results[k]);
      } else {
        left.push_back(std::move(p));
      }
    }
    parts_ = std::move(left);
  }
  constexpr bool goes_to_target(const part& p) const {
    for (int k = 0; k < p.results.size(); ++k)
      for (int i = 0; i < g_.outputs.size(); ++i)
        if (g_.outputs[i] == p.results[k]) return true;
    return false;
  }

  // ---- stored values, and the inputs of each pass
  constexpr void number_values() {
    numbers_ = sequence<int>(g_.size(), -1);
    for (int i = 0; i < g_.size(); ++i) {
      int targets = 0;
      for (int k = 0; k < g_.outputs.size(); ++k)
        targets += g_.outputs[k] == i && origins_[i].kind == origin::reduced ? 1 : 0;
      if (is_value_[i] == 0 && targets < 2) continue;
      numbers_[i] = values_.size();
      values_.push_back(i);
    }
  }
  static constexpr bool is_inside(const part& p, const origin& o) {
    if (o.kind != origin::reduced) return false;
    for (int i = 0; i < p.reductions.size(); ++i)
      if (p.reductions[i].space == o.space && (p.reductions[i].depth == o.depth || o.depth == 0))
        return true;
    return false;
  }
  constexpr bool is_input(const part& p, int node) const {
    return origins_[node].kind == origin::reduced && !is_inside(p, origins_[node]);
  }

  // Adds one of the values of a space as an input, for its shape.
  constexpr void add_value_of(int number, sequence<char>& reads) const {
    int found = -1;
    for (int k = values_.size() - 1; k >= 0; --k) {
      if (origins_[values_[k]].space != number) continue;
      if (reads[origins_.leaf_count() + k] != 0) return;
      found = k;
    }
    if (found >= 0) reads[origins_.leaf_count() + found] = 1;
  }
  constexpr int leaf_of_input(int input) const {
    return input < origins_.leaf_count()
               ? input
               : first_leaf(origins_[values_[input - origins_.leaf_count()]].space);
  }
  constexpr void find_inputs(part& p) {
    sequence<char> reads(origins_.leaf_count() + values_.size(), 0);
    for (int i = 0; i < origins_.leaf_count(); ++i) {
      bool mine = (p.reductions.size() == 0 || p.elements.size() > 0) && holds_arrays(p) &&
                  origins_.is_leaf_of(i, 0) && !g_.is_of_space(i);
      for (int k = 0; k < p.reductions.size(); ++k)
        mine = mine || origins_.is_leaf_of(i, p.reductions[k].space);
      if (mine) reads[i] = 1;
    }
    const sequence<char> needed = nodes_of(p);
    sequence<char> counted(g_.reduction_count(), 0);
    for (int i = 0; i < g_.size(); ++i) {
      if (needed[i] == 0) continue;
      const node& n = g_[i];
      if (is_input(p, i)) {
        reads[origins_.leaf_count() + numbers_[i]] = 1;
      } else if (const int leaf = leaf_of(n); leaf >= 0) {
        reads[leaf] = 1;
      } else if (n.code == op::call) {
        p.calls = true;
      } else if (n.code == op::reduced && counted[n.field(0)] == 0) {
        const traced_reduction& f = g_.reduction_at(n.field(0));
        const graph& combine = g_.rule_at(f.rule).combine;
        counted[n.field(0)] = 1;
        ++p.reduction_count;
        p.reduced_values += f.values.size();
        for (int k = 0; k < combine.size(); ++k) p.calls = p.calls || combine[k].code == op::call;
      }
    }
    for (int k = 1; k <= g_.spaces.size(); ++k) {
      bool shapes = p.elements.size() > 0 && holds_arrays(p) && origins_.shapes_elements(k);
      for (int i = 0; i < p.reductions.size(); ++i)
        shapes = shapes || origins_.holds_arrays_of(p.reductions[i].space, k);
      if (shapes) add_value_of(k, reads);
    }
    for (int leaf = 0; leaf < origins_.leaf_count(); ++leaf)
      for (int i = 0; i < reads.size(); ++i)
        if (reads[i] != 0 && leaf_of_input(i) == leaf) p.inputs.push_back(i);
  }
  // Whether the part's elements are computed from arrays, not only from values of other passes.
  constexpr bool holds_arrays(const part& p) const {
    if (p.of_rows) return false;
    for (int i = 0; i < p.elements.size(); ++i)
      if (!is_scalar_output(p.elements[i]) ||
          origins_[g_.outputs[p.elements[i]]].kind == origin::element)
        return true;
    return false;
  }

  const Graph& g_;
  node_origins<Graph> origins_;
  // `numbers_`: a node's number among the values, or -1.
  sequence<int> values_, numbers_;
  sequence<char> live_, is_value_;
  sequence<part> parts_;
};

}  // namespace dsl::detail

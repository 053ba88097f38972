// Splits a graph into passes by the depth of its reductions.
#pragma once

#include <dsl/ir/copy.hpp>
#include <dsl/ir/origin.hpp>
#include <dsl/ir/schedule.hpp>

namespace dsl::detail {

/// Splits a graph into passes. What is known for each element is computed anew in every pass that needs it; what a reduction
/// leaves is stored, once. Passes of one depth whose operands are of the same kinds and dtypes become one program.
template <class Graph>
class pass_splitter {
 public:
  constexpr explicit pass_splitter(const Graph& g) : g_(g), origins_(g) {
    find_values();
    make_uses();
    number_values();
    for (int i = 0; i < uses_.size(); ++i) find_inputs(uses_[i]);
    group_uses();
  }

  constexpr roomy_schedule make_schedule() const {
    roomy_schedule to;
    to.leaves = origins_.leaf_count();
    for (int i = 0; i < g_.outputs.size(); ++i)
      if (origins_[g_.outputs[i]].kind == origin::reduced) to.reduced |= 1u << i;
    for (int k = 0; k < values_.size(); ++k) {
      const int number = origins_[values_[k]].space;
      put(to.value, to.values, reduced_value{g_[values_[k]].type, rank_of(number), first_leaf(number)});
      for (int i = 0; i < g_.outputs.size(); ++i)
        if (g_.outputs[i] == values_[k]) put(to.copy, to.copies, value_copy{k, i});
    }
    for (int p = 0; p < passes_.size(); ++p) {
      const sequence<int>& members = passes_[p];
      sequence<int> places;  // of each member's outputs among the pass's
      const graph made = make_pass(p, places);
      const int outputs = made.outputs.size();
      put(to.pass, to.passes, scheduled_pass{to.uses, members.size(), made.operands, outputs, uses_[members[0]].calls});
      for (int m = 0, at = 0; m < members.size(); ++m) {
        const use& u = uses_[members[m]];
        put(to.use, to.uses, pass_use{u.elements.size() > 0 ? 0 : u.reductions[0].space, to.inputs, to.outputs});
        for (int i = 0; i < u.inputs.size(); ++i) put(to.input, to.inputs, u.inputs[i]);
        const int first = to.outputs;
        for (int i = 0; i < outputs; ++i) put(to.output, to.outputs, output_place{0, -1, -1, false});
        for (int i = 0; i < u.elements.size(); ++i)
          to.output[static_cast<std::size_t>(first + places[at++])].target = u.elements[i];
        for (int i = 0; i < u.results.size(); ++i)
          to.output[static_cast<std::size_t>(first + places[at++])] = place_of(u, u.results[i]);
      }
    }
    return to;
  }

  /// The graph of a pass, whose operands are those of its first use.
  constexpr graph pass_graph(int pass) const {
    sequence<int> places;
    return make_pass(pass, places);
  }

 private:
  struct key { int space, depth; };
  // A pass on one index space, or on several beside elements.
  struct use {
    sequence<key> reductions;
    sequence<int> elements;  // outputs of the graph
    sequence<int> results;   // nodes
    sequence<int> inputs;    // leaves, and after them values, in the order of the leaves
    int reduction_count = 0, reduced_values = 0;
    bool calls = false;
  };

  constexpr const index_space& space(int number) const { return g_.spaces[number - 1]; }
  constexpr int rank_of(int number) const { return number == 0 ? 0 : space(number).rank; }
  constexpr int first_leaf(int number) const { return number == 0 ? 0 : space(number).first; }
  template <std::size_t N, class T>
  static constexpr void put(std::array<T, N>& to, int& size, const T& value) {
    if (size + 1 == static_cast<int>(N)) throw "a statement has too many reductions";
    to[static_cast<std::size_t>(size++)] = value;
  }

  // ---- which nodes are stored
  constexpr bool is_value_for(int from, const origin& reader) const {
    const origin& o = origins_[from];
    return o.kind == origin::reduced &&
           !(reader.kind == origin::reduced && reader.space == o.space && (reader.depth == o.depth || o.depth == 0));
  }
  constexpr void find_values() {
    is_value_ = sequence<char>(g_.size(), 0);
    live_ = sequence<char>(g_.size(), 0);
    for (int i = 0; i < g_.outputs.size(); ++i) live_[g_.outputs[i]] = 1;
    // What only gives a formula's operands their shape has a value as well.
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

  // ---- which passes there are
  constexpr use& use_of(key k) {
    for (int i = 0; i < uses_.size(); ++i)
      if (uses_[i].reductions[0].space == k.space && uses_[i].reductions[0].depth == k.depth) return uses_[i];
    use made;
    made.reductions.push_back(k);
    uses_.push_back(std::move(made));
    return uses_[uses_.size() - 1];
  }
  static constexpr void add_once(sequence<int>& to, int value) {
    for (int i = 0; i < to.size(); ++i)
      if (to[i] == value) return;
    to.push_back(value);
  }
  constexpr bool is_scalar_output(int output) const { return (g_.scalar_outputs >> output & 1) != 0; }

  constexpr void make_uses() {
    for (int i = 0; i < g_.size(); ++i)
      if (is_value_[i] != 0) add_once(use_of({origins_[i].space, origins_[i].depth}).results, i);
    use arrays, scalars;  // of elements; of single values that no reduction leaves by itself
    int last = 0;         // the depth of the elements
    for (int i = 0; i < g_.outputs.size(); ++i) {
      const origin& o = origins_[g_.outputs[i]];
      if (o.kind == origin::reduced) {
        add_once(use_of({o.space, o.depth}).results, g_.outputs[i]);
        if (origins_.is_direct(o.space) && o.depth - 1 > last) last = o.depth - 1;
      } else if (is_scalar_output(i) && o.kind != origin::element) {
        scalars.elements.push_back(i);
      } else {
        arrays.elements.push_back(i);
        if (o.depth > last) last = o.depth;
      }
    }
    for (int k = 1; k <= g_.spaces.size(); ++k)
      if (origins_.shapes_elements(k) && origins_.depth_of_space(k) > last) last = origins_.depth_of_space(k);
    attach_scalars(scalars);
    sort_uses();
    if (arrays.elements.size() > 0) fuse(arrays, last);
    if (arrays.elements.size() > 0) uses_.push_back(std::move(arrays));
    if (scalars.elements.size() > 0) uses_.push_back(std::move(scalars));
  }
  // Single values of scalars alone are computed beside the first reductions that go to a target as one value.
  constexpr void attach_scalars(use& scalars) {
    use* to = nullptr;
    for (int i = 0; i < g_.outputs.size() && to == nullptr; ++i) {
      const origin& o = origins_[g_.outputs[i]];
      if (o.kind == origin::reduced && rank_of(o.space) == 0) to = &use_of({o.space, o.depth});
    }
    sequence<int> left;
    for (int i = 0; i < scalars.elements.size(); ++i) {
      const int node = g_.outputs[scalars.elements[i]];
      if (to != nullptr && origins_[node].kind == origin::scalar) add_once(to->results, node);
      else left.push_back(scalars.elements[i]);
    }
    scalars.elements = std::move(left);
  }
  constexpr void sort_uses() {
    sequence<use> sorted;
    for (int depth = 1, left = uses_.size(); left > 0; ++depth)
      for (int i = 0; i < uses_.size(); ++i)
        if (uses_[i].reductions[0].depth == depth) {
          sorted.push_back(std::move(uses_[i]));
          --left;
          uses_[i].reductions = sequence<key>(1, key{0, -1});
        }
    uses_ = std::move(sorted);
  }
  // Reductions that go to targets are computed in one pass with the elements where these depend on as much.
  constexpr void fuse(use& arrays, int last) {
    sequence<use> left;
    for (int i = 0; i < uses_.size(); ++i) {
      use& u = uses_[i];
      if (u.reductions[0].depth == last + 1 && origins_.is_direct(u.reductions[0].space) && goes_to_target(u)) {
        arrays.reductions.push_back(u.reductions[0]);
        for (int k = 0; k < u.results.size(); ++k) arrays.results.push_back(u.results[k]);
      } else {
        left.push_back(std::move(u));
      }
    }
    uses_ = std::move(left);
  }
  constexpr bool goes_to_target(const use& u) const {
    for (int k = 0; k < u.results.size(); ++k)
      for (int i = 0; i < g_.outputs.size(); ++i)
        if (g_.outputs[i] == u.results[k]) return true;
    return false;
  }

  // ---- what is stored, and what each pass reads
  // What goes to one target alone is written there; what has more readers, or several targets, is a value first.
  constexpr void number_values() {
    numbers_ = sequence<int>(g_.size(), -1);
    for (int i = 0; i < g_.size(); ++i) {
      int targets = 0;
      for (int k = 0; k < g_.outputs.size(); ++k) targets += g_.outputs[k] == i && origins_[i].kind == origin::reduced ? 1 : 0;
      if (is_value_[i] == 0 && targets < 2) continue;
      numbers_[i] = values_.size();
      values_.push_back(i);
    }
  }
  constexpr output_place place_of(const use& u, int node) const {
    output_place place{origins_[node].kind == origin::reduced ? origins_[node].space : u.reductions[0].space, numbers_[node], -1,
                       false};
    for (int i = 0; place.value < 0 && place.target < 0 && i < g_.outputs.size(); ++i)
      if (g_.outputs[i] == node) place.target = i;
    sequence<int> root;
    root.push_back(node);
    const sequence<char> needed = needed_by(g_, root);
    for (int i = 0; i < g_.size(); ++i)
      if (needed[i] != 0 && g_[i].code == op::reduced && is_inside(u, origins_[i]))
        place.needs_elements = place.needs_elements || g_.rule_at(g_.reduction_at(g_[i].field(0)).rule).needs_elements;
    return place;
  }

  static constexpr bool is_inside(const use& u, const origin& o) {
    if (o.kind != origin::reduced) return false;
    for (int i = 0; i < u.reductions.size(); ++i)
      if (u.reductions[i].space == o.space && (u.reductions[i].depth == o.depth || o.depth == 0)) return true;
    return false;
  }
  // The nodes that a pass computes or reads: the values of other passes, but not what is behind them.
  constexpr sequence<char> nodes_of(const use& u) const {
    sequence<char> needed(g_.size(), 0);
    for (int i = 0; i < u.elements.size(); ++i) needed[g_.outputs[u.elements[i]]] = 1;
    for (int i = 0; i < u.results.size(); ++i) needed[u.results[i]] = 1;
    for (int i = g_.size() - 1; i >= 0; --i) {
      if (needed[i] == 0 || is_input(u, i)) continue;
      const node& n = g_[i];
      for (int k = 0; k < count_inputs(n); ++k) needed[input_node(n, k)] = 1;
      if (n.code != op::reduced) continue;
      const traced_reduction& f = g_.reduction_at(n.field(0));
      for (int k = 0; k < f.values.size(); ++k) needed[f.values[k]] = 1;
    }
    return needed;
  }
  constexpr bool is_input(const use& u, int node) const {
    return origins_[node].kind == origin::reduced && !is_inside(u, origins_[node]);
  }

  // One of the values that a space gives, for its shape.
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
    return input < origins_.leaf_count() ? input : first_leaf(origins_[values_[input - origins_.leaf_count()]].space);
  }
  constexpr void find_inputs(use& u) {
    sequence<char> reads(origins_.leaf_count() + values_.size(), 0);
    for (int i = 0; i < origins_.leaf_count(); ++i) {
      bool mine = u.reductions.size() == 0 || u.elements.size() > 0 ? holds_arrays(u) && origins_.is_leaf_of(i, 0) : false;
      for (int k = 0; k < u.reductions.size(); ++k) mine = mine || origins_.is_leaf_of(i, u.reductions[k].space);
      if (mine) reads[i] = 1;
    }
    const sequence<char> needed = nodes_of(u);
    sequence<char> counted(g_.reduction_count(), 0);
    for (int i = 0; i < g_.size(); ++i) {
      if (needed[i] == 0) continue;
      const node& n = g_[i];
      if (is_input(u, i)) {
        reads[origins_.leaf_count() + numbers_[i]] = 1;
      } else if (const int leaf = leaf_of(n); leaf >= 0) {
        reads[leaf] = 1;
      } else if (n.code == op::call) {
        u.calls = true;
      } else if (n.code == op::reduced && counted[n.field(0)] == 0) {
        const traced_reduction& f = g_.reduction_at(n.field(0));
        const graph& combine = g_.rule_at(f.rule).combine;
        counted[n.field(0)] = 1;
        ++u.reduction_count;
        u.reduced_values += f.values.size();
        for (int k = 0; k < combine.size(); ++k) u.calls = u.calls || combine[k].code == op::call;
      }
    }
    for (int k = 1; k <= g_.spaces.size(); ++k) {
      bool shapes = u.elements.size() > 0 && holds_arrays(u) && origins_.shapes_elements(k);
      for (int i = 0; i < u.reductions.size(); ++i) shapes = shapes || origins_.holds_arrays_of(u.reductions[i].space, k);
      if (shapes) add_value_of(k, reads);
    }
    for (int leaf = 0; leaf < origins_.leaf_count(); ++leaf)
      for (int i = 0; i < reads.size(); ++i)
        if (reads[i] != 0 && leaf_of_input(i) == leaf) u.inputs.push_back(i);
  }
  // Whether its elements are those of arrays, and not single values that other passes have left.
  constexpr bool holds_arrays(const use& u) const {
    for (int i = 0; i < u.elements.size(); ++i)
      if (!is_scalar_output(u.elements[i]) || origins_[g_.outputs[u.elements[i]]].kind == origin::element) return true;
    return false;
  }

  // ---- which of them share a program
  struct kind_of_input {
    op code;
    dtype type;
    friend constexpr bool operator==(const kind_of_input& a, const kind_of_input& b) {
      return a.code == b.code && a.type == b.type;
    }
  };
  constexpr kind_of_input kind_of(int input) const {
    if (input < origins_.leaf_count()) return {origins_.leaf_code(input), origins_.leaf_type(input)};
    const int value = values_[input - origins_.leaf_count()];
    return {rank_of(origins_[value].space) == 0 ? op::load_scalar : op::load, g_[value].type};
  }
  constexpr bool may_share(const use& a, const use& b) const {
    if (a.elements.size() + b.elements.size() > 0 || a.calls || b.calls || a.inputs.size() != b.inputs.size()) return false;
    if (a.reductions[0].depth != b.reductions[0].depth) return false;
    for (int i = 0; i < a.inputs.size(); ++i)
      if (!(kind_of(a.inputs[i]) == kind_of(b.inputs[i]))) return false;
    return true;
  }
  constexpr bool has_room(const sequence<int>& pass, const use& more) const {
    int results = more.results.size(), reduction_count = more.reduction_count, reduced_values = more.reduced_values;
    for (int i = 0; i < pass.size(); ++i) {
      const use& u = uses_[pass[i]];
      results += u.results.size();
      reduction_count += u.reduction_count;
      reduced_values += u.reduced_values;
    }
    return results <= static_cast<int>(max_program_outputs) && reduction_count <= static_cast<int>(max_reductions) &&
           2 * reduced_values <= static_cast<int>(max_image_words);
  }
  constexpr void group_uses() {
    for (int i = 0; i < uses_.size(); ++i) {
      int p = 0;
      while (p < passes_.size() && !(may_share(uses_[passes_[p][0]], uses_[i]) && has_room(passes_[p], uses_[i]))) ++p;
      if (p == passes_.size()) passes_.push_back(sequence<int>());
      passes_[p].push_back(i);
    }
  }

  // ---- the graph of a pass
  constexpr graph make_pass(int pass, sequence<int>& places) const {
    graph to;
    const sequence<int>& members = passes_[pass];
    to.operands = uses_[members[0]].inputs.size();
    for (int m = 0; m < members.size(); ++m) {
      const use& u = uses_[members[m]];
      const sequence<int> copied = copy_nodes(u, to);
      for (int i = 0; i < u.elements.size(); ++i) {
        places.push_back(to.outputs.size());
        to.outputs.push_back(copied[g_.outputs[u.elements[i]]]);
      }
      for (int i = 0; i < u.results.size(); ++i) {
        int at = u.elements.size();
        while (at < to.outputs.size() && to.outputs[at] != copied[u.results[i]]) ++at;
        if (at == to.outputs.size()) {
          to.scalar_outputs |= 1u << at;
          to.outputs.push_back(copied[u.results[i]]);
        }
        places.push_back(at);
      }
    }
    return to;
  }
  constexpr sequence<int> copy_nodes(const use& u, graph& to) const {
    const sequence<char> needed = nodes_of(u);
    operand_places places{sequence<int>(origins_.leaf_count(), -1), sequence<int>(g_.size(), -1),
                          sequence<op>(g_.size(), op::load)};
    for (int k = 0; k < u.inputs.size(); ++k) {
      const int value = u.inputs[k] - origins_.leaf_count();
      if (value < 0) {
        places.of_leaf[u.inputs[k]] = k;
      } else {
        places.of_node[values_[value]] = k;
        places.codes[values_[value]] = kind_of(u.inputs[k]).code;
      }
    }
    return copy_into(to, g_, needed, places);
  }

  const Graph& g_;
  node_origins<Graph> origins_;
  sequence<int> values_, numbers_;
  sequence<char> live_, is_value_;
  sequence<use> uses_;
  sequence<sequence<int>> passes_;
};

}  // namespace dsl::detail

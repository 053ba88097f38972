// The phases of a loop's step that uses its own reductions.
#pragma once

#include <dsl/ir/copy.hpp>
#include <dsl/ir/origin.hpp>
#include <dsl/ir/pass.hpp>

namespace dsl::detail {

/// Splits a step into phases. Phase p computes the reductions of depth p + 1 whose values later
/// phases use, and stores the values of this depth that are read at other positions; the last one
/// computes all outputs. Other elementwise values are computed again in each phase that needs them.
/// All phases have the step's operands, with the same numbers, and after them one for each value
/// and one for each address of a stored value.
///
/// Within a kernel, elementwise values that take many instructions may stay on chip for later
/// phases instead. A phase then gives those that it is the first to compute as further outputs, and
/// reads those before it as operands.
template <class Graph>
class step_splitter {
 public:
  /// `reuses`: for a kernel that reuses values.
  constexpr step_splitter(const Graph& g, bool reuses) : g_(g), origins_(g) {
    live_ = needed_from(g.outputs, 0);
    for (int i = 0; i < g.size() && possible_; ++i) note_depth(i);
    for (int i = 0; i < g.outputs.size(); ++i) note_output(g.outputs[i]);
    if (!possible_) return;
    is_value_ = sequence<char>(g.size(), 0);
    for (int i = 0; i < g.outputs.size(); ++i) note_read(g.outputs[i], origin{origin::element});
    for (int i = 0; i < g.size(); ++i) {
      if (live_[i] == 0) continue;
      for (int k = 0; k < count_inputs(g[i]); ++k) note_read(input_node(g[i], k), origins_[i]);
      if (g[i].code != op::reduced) continue;
      const traced_reduction& f = g.reduction_at(g[i].field(0));
      for (int k = 0; k < f.values.size(); ++k) note_read(f.values[k], origin{origin::element});
    }
    for (int i = 0; i < g.size(); ++i)
      if (live_[i] != 0 && is_stored_address(g[i])) addresses_.push_back(g[i].field(0));
    for (int p = 0; p < last_; ++p) {
      const int before = values_.size();
      for (int i = 0; i < g.size(); ++i)
        if (is_value_[i] != 0 && phase_of(i) == p) values_.push_back(i);
      possible_ = possible_ && values_.size() > before;
    }
    if (reuses && possible_ && addresses_.size() == 0) find_reused();
  }

  /// Whether all reductions are over the elements of the step, to single values.
  constexpr bool is_possible() const { return possible_; }
  /// The number of phases before the last one.
  constexpr int earlier() const { return last_; }
  constexpr int values() const { return values_.size(); }
  constexpr dtype type_of_value(int k) const { return g_[values_[k]].type; }
  /// Whether a value is an array of the variables' shape.
  constexpr bool is_array(int k) const { return is_stored(g_, g_[values_[k]]); }
  /// The number of stored values whose addresses are operands, and the number of each value.
  constexpr int addresses() const { return addresses_.size(); }
  constexpr int value_of_address(int a) const {
    int k = 0;
    while (values_[k] != addresses_[a]) ++k;
    return k;
  }
  constexpr int reused() const { return reused_.size(); }
  constexpr int first_reused() const { return g_.operands + values_.size() + 1; }
  /// Phase p, which leaves values; or, if p is earlier(), the last one.
  constexpr graph phase(int p) const {
    graph to;
    to.operands = g_.operands + values_.size() + addresses_.size();
    sequence<int> roots;
    for (int k = 0; k < values_.size() && p < last_; ++k) {
      if (phase_of(values_[k]) != p) continue;
      if (!is_array(k)) to.scalar_outputs |= 1u << roots.size();
      roots.push_back(is_array(k) ? source_of_stored(g_, g_[values_[k]]) : values_[k]);
    }
    for (int i = 0; i < g_.outputs.size() && p == last_; ++i) roots.push_back(g_.outputs[i]);
    for (int k = 0; k < reused_.size(); ++k)
      if (origins_[reused_[k]].depth == p) roots.push_back(reused_[k]);
    operand_places at{sequence<int>(origins_.leaf_count(), -1), sequence<int>(g_.size(), -1),
                      sequence<op>(g_.size(), op::load_scalar), sequence<int>(g_.size(), -1)};
    for (int k = 0; k < origins_.leaf_count(); ++k) at.of_leaf[k] = k;
    for (int k = 0; k < values_.size(); ++k) {
      if (phase_of(values_[k]) < p) at.of_node[values_[k]] = g_.operands + k;
      if (is_array(k)) at.codes[values_[k]] = op::load;
    }
    for (int a = 0; a < addresses_.size(); ++a)
      at.addresses[addresses_[a]] = g_.operands + values_.size() + a;
    for (int k = 0; k < reused_.size(); ++k) {
      if (origins_[reused_[k]].depth >= p) continue;
      at.of_node[reused_[k]] = first_reused() + k;
      at.codes[reused_[k]] = op::load;
    }
    const sequence<int> copied = copy_into(to, g_, needed_from(roots, p), at);
    for (int i = 0; i < roots.size(); ++i) to.outputs.push_back(copied[roots[i]]);
    if (p == last_) to.scalar_outputs = g_.scalar_outputs;
    return to;
  }

 private:
  constexpr int phase_of(int node) const { return origins_[node].depth - 1; }
  // The nodes from which a phase computes some nodes. Its inputs are what earlier phases leave.
  constexpr sequence<char> needed_from(const sequence<int>& roots, int phase) const {
    sequence<char> inputs(g_.size(), 0), needed(g_.size(), 0);
    for (int k = 0; k < values_.size(); ++k) inputs[values_[k]] = phase_of(values_[k]) < phase;
    for (int k = 0; k < reused_.size(); ++k)
      inputs[reused_[k]] |= origins_[reused_[k]].depth < phase;
    for (int i = 0; i < roots.size(); ++i) needed[roots[i]] = 1;
    return needed_in_pass(g_, std::move(needed), inputs);
  }
  // Finds the elementwise values that a later phase reuses, if they take many instructions, given
  // those that are found already.
  constexpr void find_reused() {
    constexpr int many = 12, of_function = 8;
    sequence<int> instructions(g_.size(), 0);
    sequence<char> read_later(g_.size(), 0), again(g_.size(), 0);
    for (int i = g_.size() - 1; i >= 0; --i) {
      if (live_[i] == 0) continue;
      const auto note = [&](int from, int depth) {
        if (origins_[from].depth < depth) read_later[from] = 1;
      };
      for (int k = 0; k < count_inputs(g_[i]); ++k) note(input_node(g_[i], k), origins_[i].depth);
    }
    for (int i = 0; i < g_.outputs.size(); ++i)
      if (origins_[g_.outputs[i]].depth < last_) read_later[g_.outputs[i]] = 1;
    for (int i = 0; i < g_.size(); ++i) {
      const node& n = g_[i];
      if (live_[i] == 0 || origins_[i].kind != origin::element || n.code == op::load) continue;
      const op_info& row = info(n.code);
      int complex_operands = 0;
      for (int k = 0; k < row.arity; ++k)
        complex_operands += kind_of(g_[n.field(k)].type) == kind::complex ? 1 : 0;
      const int flops = complex_operands == 0           ? row.flops
                        : complex_operands == row.arity ? row.complex_flops
                                                        : 2 * row.flops;
      instructions[i] = n.code == op::neighbour || n.code == op::gather    ? 2
                        : row.flops >= of_function || n.code == op::divide ? 4 * flops
                                                                           : flops;
      for (int k = 0; k < count_inputs(n); ++k) instructions[i] += instructions[input_node(n, k)];
      if (instructions[i] < many || read_later[i] == 0 || is_widened(n.type)) continue;
      again[i] = 1;
      instructions[i] = 0;
    }
    for (int p = 0; p < last_; ++p)
      for (int i = 0; i < g_.size(); ++i)
        if (again[i] != 0 && origins_[i].depth == p) reused_.push_back(i);
  }
  constexpr void note_depth(int node) {
    if (live_[node] == 0) return;
    const origin& o = origins_[node];
    if (is_stored(g_, g_[node])) return;
    if (g_[node].code == op::reduced) {
      const int space = g_.reduction_at(g_[node].field(0)).space;
      possible_ = !o.is_array && (space_ < 0 || space_ == space) &&
                  (space == 0 || !g_.spaces[space - 1].reduces);
      space_ = space;
      if (o.depth - 1 > last_) last_ = o.depth - 1;
    }
    possible_ = possible_ && o.kind != origin::combined &&
                (!is_placed_value(g_[node]) || is_stored(g_, g_[g_[node].field(0)]));
  }
  constexpr void note_output(int node) {
    const origin& o = origins_[node];
    if (o.kind == origin::element && o.depth > last_) last_ = o.depth;
  }
  // A result of an earlier phase is a value if anything but that phase's results reads it.
  constexpr void note_read(int node, const origin& reader) {
    const origin& o = origins_[node];
    if (is_stored(g_, g_[node])) is_value_[node] = 1;
    if (o.kind != origin::reduced || phase_of(node) >= last_) return;
    const bool same_phase =
        reader.kind == origin::reduced && (reader.depth == o.depth || o.depth == 0);
    if (same_phase) return;
    is_value_[node] = 1;
    possible_ = possible_ && o.depth > 0;
  }

  const Graph& g_;
  node_origins<Graph> origins_;
  sequence<char> live_, is_value_;
  sequence<int> values_;     // Nodes, in the order of their phases.
  sequence<int> addresses_;  // The stored values, nodes, whose addresses are used.
  sequence<int> reused_;     // Nodes, in the order of their phases.
  int last_ = 0, space_ = -1;
  bool possible_ = true;
};

/// Makes the first single value among a pass's outputs depend on a reduction. The pass has single
/// values and no reductions. They may replace scalars that its blocks read, and end the loop; as in
/// any pass that reduces, its last block then stores them, when all blocks have read.
constexpr void reduce_for_results(graph& g) {
  reduction_rule any;
  const int a = any.combine.add(op::value, dtype::boolean, literal{0}),
            b = any.combine.add(op::value, dtype::boolean, literal{1});
  any.combine.outputs.push_back(any.combine.add(op::logical_or, dtype::boolean, fields(a, b)));
  any.identity.push_back(literal{});
  sequence<int> nothing;
  nothing.push_back(g.add(op::constant, dtype::boolean, literal{}));
  const int number = g.add_reduction(std::move(any), std::move(nothing)),
            never = g.add(op::reduced, dtype::boolean, fields(number));
  int first = 0;
  while ((g.scalar_outputs >> first & 1) == 0) ++first;
  const int value = g.outputs[first];
  g.outputs[first] = g.add(op::where, g[value].type, fields(never, value, value));
}

/// The phases of the step that `Trace::run()` builds, as passes, if it can be split; of a kernel
/// that reuses values, if there are any (`Reuses`). The two are constant expressions of their own,
/// because the compilers limit the work of one.
template <bool Reuses, class Trace, class... Calls>
class step_in_phases {
  static constexpr int most = 12, most_values = 64;
  struct roomy_step {
    bool is_possible = false;
    int earlier = 0, values = 0, operands = 0, addresses = 0, alone = 0;
    dtype types[most_values]{};
    bool arrays[most_values]{};
    int of_address[most_values]{};
    pass_image<max_program_nodes, 4 * max_image_words, 4 * max_reductions, most + 2> image{};
  };
  static constexpr roomy_step make() {
    const auto g = Trace::run();
    const step_splitter split(g, Reuses);
    roomy_step to;
    to.operands = g.operands;
    to.alone = to.earlier = split.earlier();
    to.values = split.values();
    to.is_possible = split.is_possible() && to.earlier > 0 && to.earlier <= most &&
                     to.values <= most_values && (split.reused() > 0 || !Reuses);
    if (!to.is_possible) return to;
    to.addresses = split.addresses();
    for (int k = 0; k < to.values; ++k) to.types[k] = split.type_of_value(k);
    for (int k = 0; k < to.values; ++k) to.arrays[k] = split.is_array(k);
    for (int a = 0; a < to.addresses; ++a) to.of_address[a] = split.value_of_address(a);
    for (int p = 0; p <= to.earlier && to.is_possible; ++p)
      to.is_possible = add_pass(split.phase(p), to.image, true);
    if (!Reuses && to.is_possible && g.scalar_outputs != 0) {
      graph last = split.phase(to.earlier);
      if (last.reduction_count() == 0) {
        reduce_for_results(last);
        to.is_possible = add_pass(last, to.image, true);
        ++to.alone;
      }
    }
    if (!to.is_possible) to.image = {};
    return to;
  }
  static constexpr roomy_step roomy = make();

 public:
  static constexpr bool is_possible = roomy.is_possible;
  /// The number of phases before the last one, of values, and of the first value's operand; and of
  /// the phase that is the last one as a launch of its own.
  static constexpr int earlier = roomy.earlier, values = roomy.values, first_value = roomy.operands,
                       alone = roomy.alone;
  static constexpr dtype type_of_value(int k) { return roomy.types[k]; }
  static constexpr bool is_array(int k) { return roomy.arrays[k]; }
  /// The addresses of stored values follow the values.
  static constexpr int addresses = roomy.addresses;
  static constexpr int value_of_address(int a) { return roomy.of_address[a]; }
  static constexpr auto exact =
      roomy.image.template exact<roomy.image.nodes + 1, roomy.image.words() + 1,
                                 roomy.image.programs + 1, most + 2>();
  /// Phase K.
  template <int K> using phase =
      typename pass_spelled<step_in_phases, static_cast<std::size_t>(K), Calls...>::type;
};
/// The last phase, within a kernel of all phases and as a launch of its own.
template <class Phases> using last_phase = typename Phases::template phase<Phases::earlier>;
template <class Phases> using last_phase_alone = typename Phases::template phase<Phases::alone>;

}  // namespace dsl::detail

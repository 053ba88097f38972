// The origin of each node of a graph: computed for each element, or from reductions, and of which
// depth.
#pragma once

#include <dsl/ir/stored.hpp>

namespace dsl::detail {

/// The origin of a node: scalars alone; reductions of one index space at one depth; values of
/// several index spaces or depths; or computed for each element. A reduction has depth 1 if its
/// elements depend on no other reduction.
struct origin {
  enum kind_of_node { scalar, reduced, combined, element } kind = scalar;
  int space = 0, depth = 0;
  // For reductions: whether they reduce along axes, so that the value is an array.
  bool is_array = false;
};

/// The number of the leaf that a node reads or queries, or -1.
constexpr int leaf_of(const node& n) {
  if (n.code == op::given_step) return n.field(1);
  if (n.code > op::load_scalar || is_placed_value(n) || is_stored_address(n)) return -1;
  return is_position(n) ? -1 : n.field(0);
}

/// Marks the nodes from which a pass computes those that are `needed`, through its reductions too.
/// Nodes that are its inputs are marked; what these are computed from is not. `inputs`: a mark for
/// each node that is one.
template <class Graph>
constexpr sequence<char> needed_in_pass(const Graph& g, sequence<char> needed,
                                        const sequence<char>& inputs) {
  for (int i = g.size() - 1; i >= 0; --i) {
    if (needed[i] == 0 || inputs[i] != 0) continue;
    const node& n = g[i];
    for (int k = 0; k < count_inputs(n); ++k) needed[input_node(n, k)] = 1;
    if (n.code != op::reduced) continue;
    const traced_reduction& f = g.reduction_at(n.field(0));
    for (int k = 0; k < f.values.size(); ++k) needed[f.values[k]] = 1;
  }
  return needed;
}

/// Whether a node has a value of its own for each element: origin::element, without the origins of
/// all nodes.
constexpr bool is_of_elements(const graph& g, int id) {
  sequence<char> needed(id + 1, 0);
  needed[id] = 1;
  for (int i = id; i >= 0; --i) {
    if (needed[i] == 0) continue;
    const node& n = g[i];
    if (n.code <= op::index || n.code == op::gather || is_stored(g, n)) return true;
    for (int k = 0; k < count_inputs(n); ++k) needed[input_node(n, k)] = 1;
  }
  return false;
}

// Templates, because most files split no graph and uninstantiated code costs them less.

/// The origin of each node of a graph.
template <class Graph>
class node_origins {
 public:
  constexpr explicit node_origins(const Graph& g)
      : g_(g), reduction_depths_(g.reduction_count(), 0), space_depths_(g.spaces.size() + 1, 0) {
    for (int i = 0; i < g.size(); ++i) origins_.push_back(origin_of(g[i]));
    find_leaves();
  }
  constexpr const origin& operator[](int node) const { return origins_[node]; }
  /// Whether all given nodes are single values computed from reductions.
  constexpr bool are_values(const sequence<int>& nodes) const {
    bool all = true;
    for (int i = 0; i < nodes.size(); ++i) {
      const origin& o = origins_[nodes[i]];
      all = all && (o.kind == origin::reduced || o.kind == origin::combined) && !o.is_array;
    }
    return all;
  }
  /// Whether an index space gives single values, not elements, to the enclosing space.
  constexpr bool gives_values(int space) const {
    const index_space& s = g_.spaces[space - 1];
    return s.reduces || (s.outputs.size() > 0 && are_values(s.outputs));
  }
  /// Whether results of `space` are array operands of the enclosing space `outer`.
  constexpr bool holds_arrays_of(int outer, int space) const {
    if (!g_.spaces[space - 1].reduces || g_.spaces[space - 1].rank == 0 || !is_within(outer, space))
      return false;
    int at = g_.spaces[space - 1].parent;
    while (at != outer && at != 0 && !gives_values(at)) at = g_.spaces[at - 1].parent;
    return at == outer;
  }
  /// Whether a space lies within no reduction.
  constexpr bool is_direct(int number) const {
    for (int at = space(number).parent; at != 0; at = space(at).parent)
      if (space(at).reduces) return false;
    return true;
  }
  /// Whether results of a space are array arguments of a formula that gives elements. They then
  /// determine its shape, whether it uses them or not.
  constexpr bool shapes_elements(int number) const {
    for (int outer = space(number).parent; outer != 0; outer = space(outer).parent) {
      if (gives_values(outer)) return false;
      if (holds_arrays_of(outer, number)) return true;
    }
    return false;
  }
  /// The greatest depth of a space's reductions.
  constexpr int depth_of_space(int space) const { return space_depths_[space]; }
  /// The leaves: their number; the operation that reads each one (op::neighbour if any of its
  /// neighbours is read) and its dtype; whether a leaf is an operand of an index space.
  constexpr int leaf_count() const { return leaves_.size(); }
  constexpr op leaf_code(int leaf) const { return leaves_[leaf].code; }
  constexpr dtype leaf_type(int leaf) const { return leaves_[leaf].type; }
  constexpr bool is_leaf_of(int leaf, int number) const {
    int at = space_of_leaf_[leaf];
    while (at != number && at != 0 && !gives_values(at)) at = space(at).parent;
    return at == number;
  }

 private:
  constexpr const index_space& space(int number) const { return g_.spaces[number - 1]; }
  constexpr bool is_within(int outer, int number) const {
    int at = space(number).parent;
    while (at != outer && at != 0) at = space(at).parent;
    return at == outer;
  }
  constexpr void find_leaves() {
    for (int i = 0; i < g_.size(); ++i) {
      const int leaf = leaf_of(g_[i]);
      if (leaf < 0) continue;
      while (leaves_.size() <= leaf) leaves_.push_back(leaf_kind{});
      leaf_kind& known = leaves_[leaf];
      // The type of op::inside and the like is not the dtype of the elements.
      const bool reads =
          g_[i].code != op::inside && g_[i].code != op::coordinate && g_[i].code != op::given_step;
      if (reads || !known.reads) known.type = g_[i].type;
      known.reads = known.reads || reads;
      if (known.code != op::neighbour)
        known.code = is_placed(g_[i].code) ? op::neighbour : g_[i].code;
    }
    space_of_leaf_ = sequence<int>(leaves_.size(), 0);
    for (int k = 1; k <= g_.spaces.size(); ++k)
      for (int i = space(k).first; i < space(k).end; ++i) space_of_leaf_[i] = k;
  }
  struct leaf_kind {
    op code = op::load;
    dtype type{};
    bool reads = false;  // a node reads its elements
  };
  static constexpr int greater(int a, int b) { return a > b ? a : b; }
  constexpr origin reduced_in(int space, int depth) const {
    return {origin::reduced, space, depth, space > 0 && g_.spaces[space - 1].rank > 0};
  }
  constexpr origin origin_of(const node& n) {
    if (is_stored(g_, n)) return {origin::element, 0, depth_of_reduction(n.field(0))};
    if (n.code == op::reduced)
      return reduced_in(g_.reduction_at(n.field(0)).space, depth_of_reduction(n.field(0)));
    if (n.code == op::count) return reduced_in(n.field(0), 0);
    origin o{n.code <= op::index || n.code == op::gather ? origin::element : origin::scalar, 0, 0};
    for (int k = 0; k < count_inputs(n); ++k) o = join(o, origins_[input_node(n, k)]);
    return o;
  }
  constexpr int depth_of_reduction(int number) {
    int& depth = reduction_depths_[number];
    const traced_reduction& f = g_.reduction_at(number);
    if (depth == 0) {
      for (int k = 0; k < f.values.size(); ++k) depth = greater(depth, origins_[f.values[k]].depth);
      // Operands are broadcast to a common shape first, including those that are not reduced.
      for (int k = 1; f.space > 0 && k <= g_.spaces.size(); ++k)
        if (holds_arrays_of(f.space, k)) depth = greater(depth, space_depths_[k]);
      space_depths_[f.space] = greater(space_depths_[f.space], ++depth);
    }
    return depth;
  }
  // A count (depth 0) is computed together with its index space's reductions, and single values of
  // lower depth can be read at the same time.
  constexpr origin join(origin a, origin b) const {
    const int depth = greater(a.depth, b.depth);
    const origin both{origin::combined, 0, depth, a.is_array || b.is_array};
    if (a.kind == origin::element || b.kind == origin::element) return {origin::element, 0, depth};
    if (a.kind == origin::scalar) return b;
    if (b.kind == origin::scalar) return a;
    if (a.kind == origin::combined || b.kind == origin::combined) return both;
    if (a.space == b.space && (a.depth == b.depth || a.depth == 0 || b.depth == 0))
      return reduced_in(a.space, depth);
    if (a.depth != b.depth) {
      const origin &later = a.depth > b.depth ? a : b, &earlier = a.depth > b.depth ? b : a;
      if (!earlier.is_array) return later;
    }
    return both;
  }

  const Graph& g_;
  sequence<int> reduction_depths_, space_depths_, space_of_leaf_;
  sequence<leaf_kind> leaves_;
  sequence<origin> origins_;
};

}  // namespace dsl::detail

// Shifts the values of a graph along an axis.
#pragma once

#include <dsl/ir/neighbour.hpp>
#include <dsl/ir/stored.hpp>
#include <dsl/ir/symbol.hpp>

namespace dsl::detail {

/// Whether a node has axes of its own: it reads an operand, asks for the position of an operand's
/// element, or is the value of a reduction.
constexpr bool has_axes(const node& n) {
  return n.code == op::reduced || (n.code <= op::load_scalar && !is_stored_address(n));
}
/// The number of axes of such a node.
constexpr int rank_of_leaf(const graph& g, const node& n) {
  if (is_placed_value(n)) return rank_of_leaf(g, g[n.field(0)]);
  if (n.code != op::reduced) return g.rank_of(n.field(0)) > 0 ? g.rank_of(n.field(0)) : 0;
  const int space = g.reduction_at(n.field(0)).space;
  return space == 0 ? 0 : g.spaces[space - 1].rank;
}
/// The number of axes of any node.
constexpr int rank_of_node(const graph& g, int id) {
  sequence<char> needed(id + 1, 0);
  needed[id] = 1;
  int rank = 0;
  for (int i = id; i >= 0; --i) {
    if (needed[i] == 0) continue;
    const int of_leaf = has_axes(g[i]) ? rank_of_leaf(g, g[i]) : 0;
    if (of_leaf > rank) rank = of_leaf;
    for (int k = 0; k < count_inputs(g[i]); ++k) needed[input_node(g[i], k)] = 1;
  }
  return rank;
}

/// Joins two path steps along one axis if they are equivalent to one; returns whether they are.
/// `alone`: no other operand broadcasts the inner step's axis to more elements.
constexpr bool join_steps(const path_step& outer, const path_step& inner, bool alone,
                          path_step& joined) {
  if (outer.slot >= 0 || inner.slot >= 0 || outer.axis != inner.axis) return false;
  const bool same_way = (outer.distance < 0) == (inner.distance < 0);
  joined = inner;
  joined.distance = outer.distance + inner.distance;
  // A broadcast element has no neighbour, although the outer step moves among many elements.
  if (outer.ends_inside)
    return inner.ends_inside || inner.beyond != boundary::zero || joined.distance != 0 || alone;
  if (outer.beyond == boundary::wrap) {
    joined.beyond = boundary::wrap;
    joined.ends_inside = false;
    return inner.beyond == boundary::wrap || inner.ends_inside;
  }
  return outer.beyond != boundary::reflect && same_way && outer.beyond == inner.beyond;
}

/// Shifts a value of a graph by one path step, by moving the leaves from which it is computed.
template <class Graph>
class graph_shift {
 public:
  constexpr graph_shift(Graph& g, const path_step& by) : g_(g), by_(by) {}

  constexpr int of(int id) {
    if (by_.slot < 0 && by_.distance == 0) return id;
    id = stored_if_wide(id);
    find_leaves(id);
    if (moves_leaf(id)) return moved(id);
    // A formula of zeros need not be zero.
    if (by_.slot < 0 && (by_.beyond != boundary::zero || keeps_zero(id))) return moved(id);
    int within = -1;
    for (int i = 0; i < leaves_.size(); ++i) {
      const int there = inside_of(leaves_[i]);
      within = within < 0 ? there : g_.add(op::logical_or, dtype::boolean, fields(within, there));
    }
    by_.ends_inside = true;
    if (by_.slot < 0) by_.beyond = boundary::clamp;
    const int value = moved(id);
    return g_.add(op::where, g_[id].type,
                  fields(within, value, g_.add(op::constant, g_[id].type, literal{})));
  }
  /// Whether the path step ends within the axis: a condition.
  constexpr int inside_for(int id) {
    find_leaves(id);
    return inside_of(leaves_[0]);
  }
  /// The position along the path step's axis.
  constexpr int coordinate_of(int id) {
    find_leaves(id);
    int at = -1;
    for (int i = 0; i < leaves_.size(); ++i) {
      const node& n = g_[leaves_[i]];
      const auto base = static_cast<int>(n.code == op::reduced ? op::reduced : op::load);
      const int mine =
          g_.add(op::coordinate, dtype::int64, fields(operand_of(leaves_[i]), by_.axis, base));
      at = at < 0 ? mine : g_.add(op::max, dtype::int64, fields(at, mine));
    }
    return at;
  }

 private:
  // In a loop, a value that reads many neighbours itself is stored, not computed again for each of
  // its own neighbours.
  constexpr int stored_if_wide(int id) {
    constexpr int most = 8;
    if (g_.variables == 0) return id;
    const read_beside of = read_beside_by(g_, id);
    const bool is_wide = of.of_variables && (of.neighbours > most || of.taken > 0);
    return is_wide ? store(g_, id, rank_of_node(g_, id)) : id;
  }
  constexpr int operand_of(int id) const {
    return g_[id].code == op::reduced ? id : g_[id].field(0);
  }
  // A position has all axes of its index space, whose rank is not known here.
  constexpr bool has_axis(int id) const {
    return is_position(g_[id]) || rank_of_leaf(g_, g_[id]) > (by_.slot >= 0 ? 0 : by_.axis);
  }
  constexpr bool is_same_operand(int a, int b) const {
    return operand_of(a) == operand_of(b) && of_value(a) == of_value(b);
  }
  constexpr bool of_value(int id) const {
    return g_[id].code == op::reduced || is_placed_value(g_[id]);
  }

  // Finds the nodes from which a node is computed, and one leaf for each operand that has the axis.
  constexpr void find_leaves(int id) {
    needed_ = sequence<char>(id + 1, 0);
    needed_[id] = 1;
    for (int i = id; i >= 0; --i) {
      if (needed_[i] == 0) continue;
      if (has_axes(g_[i])) {
        if (has_axis(i)) note_leaf(i);
        continue;
      }
      for (int k = 0; k < count_inputs(g_[i]); ++k) needed_[input_node(g_[i], k)] = 1;
    }
  }
  constexpr void note_leaf(int id) {
    for (int i = 0; i < leaves_.size(); ++i)
      if (is_same_operand(leaves_[i], id)) return;
    leaves_.push_back(id);
  }
  // Whether a node is an operand's element, possibly converted to another dtype: it is zero
  // wherever the element is.
  constexpr bool moves_leaf(int id) const {
    while (g_[id].code == op::convert) id = g_[id].field(0);
    return has_axes(g_[id]) && g_[id].code != op::inside;
  }

  // Whether a formula of one operand is zero wherever the operand is, and no leaf has a path step
  // along the axis yet, with which this one could not be joined. Example: sums of neighbours along
  // other axes.
  constexpr bool keeps_zero(int id) const {
    if (leaves_.size() != 1) return false;
    sequence<char> is_zero(id + 1, 0);
    for (int i = 0; i <= id; ++i) {
      const node& n = g_[i];
      if (needed_[i] == 0) continue;
      const auto input = [&](int k) { return is_zero[input_node(n, k)] != 0; };
      if (has_axes(n)) {
        if (has_axis(i) && (n.code == op::inside || has_step(i))) return false;
        is_zero[i] = has_axis(i);
      } else if (n.code == op::constant) {
        is_zero[i] = n.word == literal{};
      } else if (n.code == op::convert) {
        is_zero[i] = input(0);
      } else if (n.code == op::add || n.code == op::subtract) {
        is_zero[i] = input(0) && input(1);
      }
    }
    return is_zero[id] != 0;
  }
  constexpr bool has_step(int id) const {
    if (g_[id].code != op::neighbour) return false;
    const neighbour_path p = path_of(g_, id);
    for (int s = 0; s < p.count; ++s)
      if (p.step[s].slot >= 0 || p.step[s].axis == by_.axis) return true;
    return false;
  }

  constexpr int moved(int id) {
    sequence<int> to(id + 1, -1);
    for (int i = 0; i <= id; ++i)
      if (needed_[i] != 0) to[i] = moved_node(i, to);
    return to[id];
  }
  constexpr int moved_node(int id, const sequence<int>& to) {
    const node n = g_[id];
    if (has_axes(n)) return has_axis(id) ? moved_leaf(id) : id;
    node copy = n;
    bool changed = false;
    for (int k = 0; k < count_inputs(n); ++k) {
      const int from = input_node(n, k);
      changed = changed || to[from] != from;
      set_field(copy, k, to[from]);
    }
    if (!changed) return id;
    if (n.code == op::result || n.code == op::call)
      throw "dsl::shift: what a functor gives has no neighbours inside a formula: dsl::eval it, and pass the array";
    return g_.add(n.code, n.type, copy.word);
  }
  constexpr int moved_leaf(int id) {
    const node n = g_[id];
    if (n.code == op::neighbour || n.code == op::inside) return add(n, path_of(g_, id));
    neighbour_path p;
    p.slot = operand_of(id);
    p.base = n.code == op::value ? op::load : n.code;
    if (n.code == op::coordinate) {
      p.axis = n.field(1);
      if (is_placed_value(n))
        throw "dsl::shift: dsl::index of a reduction's values has no neighbours: dsl::eval them";
    }
    return add({op::neighbour, n.type, {}}, p);
  }
  constexpr int inside_of(int id) {
    neighbour_path p;
    p.slot = operand_of(id);
    p.base = of_value(id) ? op::reduced : op::load;
    return add({op::inside, dtype::boolean, {}}, p);
  }

  // Adds the node for a path that starts with this path step.
  constexpr int add(const node& n, neighbour_path p) {
    begin_with(by_, p);
    bool may_be_outside = false;
    for (int i = 0; i < p.count; ++i)
      may_be_outside = may_be_outside || p.step[i].slot >= 0 || p.step[i].beyond == boundary::zero;
    if (n.code == op::inside && !may_be_outside)
      return g_.add(op::constant, dtype::boolean, literal{1});
    if (p.count == 0) return place_itself(n, p);
    int next = no_step;
    for (int i = p.count - 1; i >= 0; --i)
      next = g_.add(code_of(p.step[i]), dtype::int64, {word_of(p.step[i], next)});
    const int base =
        static_cast<int>(n.code == op::inside && p.base != op::reduced ? op::load : p.base) |
        p.axis << 8;
    return g_.add(n.code, n.type, fields(p.slot, next, base));
  }
  // Adds the node for a path without steps.
  constexpr int place_itself(const node& n, const neighbour_path& p) {
    if (p.base == op::reduced) return p.slot;
    if (p.base == op::coordinate)
      return g_.add(p.base, n.type, fields(p.slot, p.axis, static_cast<int>(op::load)));
    return g_.add(p.base, n.type, fields(p.slot));
  }
  // Steps along different axes commute, unless an axis is unknown.
  constexpr void begin_with(path_step by, neighbour_path& p) const {
    int at = 0;
    while (by.slot < 0 && at < p.count && p.step[at].slot < 0 && p.step[at].axis < by.axis) ++at;
    path_step joined;
    while (at < p.count && join_steps(by, p.step[at], leaves_.size() == 1, joined)) {
      for (int i = at; i + 1 < p.count; ++i) p.step[i] = p.step[i + 1];
      --p.count;
      by = joined;
      if (by.distance == 0) return;
    }
    if (p.count == neighbour_path::max_steps)
      throw "dsl::shift: too many steps to a neighbour: dsl::eval a part of the formula";
    for (int i = p.count++; i > at; --i) p.step[i] = p.step[i - 1];
    p.step[at] = by;
  }

  Graph& g_;
  path_step by_;
  sequence<char> needed_;
  sequence<int> leaves_;
};

/// Whether the formula reads any neighbour, apart from the shifts that operands specify themselves.
constexpr bool moves_formula(const graph& g) {
  for (int i = 0; i < g.size(); ++i) {
    if (g[i].code == op::coordinate) return true;
    if (g[i].code != op::neighbour && g[i].code != op::inside) continue;
    const neighbour_path path = path_of(g, i);
    for (int s = 0; s < path.count; ++s)
      if (path.step[s].slot != path.slot || is_placed_value(g[i])) return true;
  }
  return false;
}

/// Converts an axis of a node to one counted from the right; -1 if it does not exist.
constexpr int axis_from_right(graph& g, int id, int axis) {
  const int rank = rank_of_node(g, id), from_right = axis < 0 ? -1 - axis : rank - 1 - axis;
  if (from_right >= 0 && from_right < rank) return from_right;
  g.refuse_axis();
  return -1;
}

template <dtype D, bool W>
constexpr symbol<D, W> shift_symbol(const symbol<D, W>& x, std::int64_t distance, boundary beyond,
                                    int axis) {
  path_step by;
  by.axis = axis_from_right(*x.owner, x.id, axis);
  by.beyond = beyond;
  by.distance = distance;
  return {x.owner, by.axis < 0 ? x.id : graph_shift(*x.owner, by).of(x.id)};
}
/// Shifts by the axis, boundary and distance that an operand gives at run time.
template <dtype D, bool W>
constexpr symbol<D, W> shift_symbol(const symbol<D, W>& x, int slot) {
  path_step by;
  by.slot = slot;
  return {x.owner, graph_shift(*x.owner, by).of(x.id)};
}
template <dtype D, bool W>
constexpr symbol<dtype::int64> index_symbol(const symbol<D, W>& x, int axis) {
  path_step by;
  by.axis = axis_from_right(*x.owner, x.id, axis);
  return {x.owner, by.axis < 0 ? constant<dtype::int64>(x.owner, 0).id
                               : graph_shift(*x.owner, by).coordinate_of(x.id)};
}

}  // namespace dsl::detail

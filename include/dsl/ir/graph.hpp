// The graph that results from calling a formula with symbols, during compilation.
#pragma once

#include <cstdint>

#include <dsl/ir/literal.hpp>
#include <dsl/ir/op.hpp>
#include <dsl/ir/result_name.hpp>
#include <dsl/ir/sequence.hpp>

namespace dsl::detail {

/// A node of the graph: operation, dtype and a word. The word holds 16-bit fields, from bit 0 on.
/// Fields that name operands are numbers of earlier nodes. Other fields depend on the operation:
///  load, address, index, value, load_scalar: operand number
///  address of a stored value: its node, 0, op::reduced
///  neighbour, inside: operand number, first path step, what is read there
///    (`neighbour_path::base`; its axis from bit 40 on)
///  coordinate: operand number, axis counted from the right, kind of operand (load)
///    (if the third field of these three is op::reduced, a node takes the operand's place)
///  operand number of index and of these three: also that of a position (`position_in`)
///  step, given_step: next path step or `no_step`, then see `word_of`
///  reduced: reduction, number of its value
///  count: index space
///  constant: the literal
///  argument: operand, call, position
///  call: call, first argument, number of arguments (one more than the functor takes if the last
///    argument is the call's condition)
///  result: node of the call, call, position
struct node {
  op code{};
  dtype type{};
  literal word{};
  friend constexpr bool operator==(const node& a, const node& b) {
    return a.word.bits == b.word.bits && a.code == b.code && a.type == b.type &&
           a.word.second == b.word.second;
  }
  constexpr int field(int i) const { return static_cast<int>(word.bits >> 16 * i & 0xffff); }
};

constexpr literal fields(int a, int b = 0, int c = 0) {
  return {static_cast<std::uint64_t>(a) | static_cast<std::uint64_t>(b) << 16 |
          static_cast<std::uint64_t>(c) << 32};
}

/// Replaces a field of a node's word.
constexpr void set_field(std::uint64_t& word, int i, std::uint64_t value) {
  word = (word & ~(std::uint64_t{0xffff} << 16 * i)) | value << 16 * i;
}
constexpr void set_field(node& n, int i, int value) {
  set_field(n.word.bits, i, static_cast<std::uint64_t>(value));
}

/// The third field of a node op::positive. marked: an input of a derivative. stopped: a value that
/// counts as a constant in derivatives.
enum class mark { none, marked, stopped };
constexpr bool has_mark(const node& n, mark m) {
  return n.code == op::positive && n.field(2) == static_cast<int>(m);
}
constexpr bool is_marked(const node& n) { return has_mark(n, mark::marked); }

inline constexpr int no_step = 0xffff;
constexpr bool is_step(op code) { return code == op::step || code == op::given_step; }
/// Whether the node reads a neighbour or asks for a position, and so needs its operand's axes.
constexpr bool is_placed(op code) {
  return code == op::neighbour || code == op::inside || code == op::coordinate;
}
/// Whether the node's operand is a value computed earlier, not a leaf.
constexpr bool is_placed_value(const node& n) {
  return is_placed(n.code) && static_cast<op>(n.field(2) & 0xff) == op::reduced;
}

/// The operand numbers, from the last one down, of the positions among the elements that an index
/// space reduces together. `make_space_operands` (ir/counts.hpp) makes operands of some; any other
/// is the operand of its pass.
inline constexpr int position_in_reduction = 0xffff, most_spaces = 0xfff;
constexpr int position_in(int space) { return position_in_reduction - space; }
constexpr bool is_position(const node& n) {
  return (n.code == op::index || is_placed(n.code)) && !is_placed_value(n) &&
         n.field(0) > position_in(most_spaces);
}
constexpr int space_of_position(const node& n) { return position_in_reduction - n.field(0); }

struct reduction_rule;

/// A reduction of a tuple of values over many elements: the nodes of the values, the rule that
/// combines two tuples, and the index space.
struct traced_reduction {
  int rule, space;
  sequence<int> values;
};

/// The index space of a reduction or of a formula. It covers the leaves `first` to `end`
/// (exclusive), except that an inner space which gives single values replaces its leaves by these
/// values. Space 0 is the whole statement.
struct index_space {
  int parent, first, end;
  // Its elements are not visible outside it: only reductions are.
  bool reduces;
  // Rank of its reductions' results.
  int rank;
  // Nodes.
  sequence<int> outputs;
  // Outside this space, its reductions' results lack the reduced axes.
  bool of_rows = false;
};

/// An operand that an index space gives: the number of elements that it reduces to one value, or
/// the position of each element among these.
struct space_operand {
  int space = 0;
  bool is_position = false;
};

/// An operand whose elements a formula takes: the number of the leaf, the axis along which
/// positions count, from the right (`flat`: they count all elements in row-major order), and the
/// number of the value that it is part of. Operands of one value have one shape.
struct taken_leaf {
  static constexpr int flat = -1;
  int leaf = 0, axis = flat, value = 0;
  bool is_read = false;  // The element at the formula's own position is read as well.
};
/// The nodes that describe such an operand: the address of its first element, the number of
/// positions, and the distance between two.
struct taken_source { int leaf, axis, address, count, stride; };

/// Why a formula cannot be differentiated.
enum class no_derivative : std::uint8_t {
  exists,
  functor,
  neighbours,
  taken,
  reduction,
  shared_reduction,
  axes,
  product,
  far_shift,
  given_shift,
  complex_weight
};

/// Nodes in the order of their creation. Equal nodes are one node (hash-consing). Adding a node
/// takes amortised constant time, which keeps tracing a formula of a thousand nodes within the
/// compilers' limits for constant expressions.
class graph {
 public:
  constexpr int add(op code, dtype type, literal word) {
    const node made{code, type, word};
    const int place = find(made);
    if (table_[place] != 0) return table_[place] - 1;
    if (nodes_.size() == max_nodes) throw "a formula may have at most 65535 distinct nodes";
    nodes_.push_back(made);
    table_[place] = nodes_.size();
    if (2 * nodes_.size() > table_.size()) grow();
    return nodes_.size() - 1;
  }

  /// The number of an existing node, or -1.
  constexpr int known(op code, dtype type, literal word) const {
    return table_[find({code, type, word})] - 1;
  }

  constexpr const node& operator[](int i) const { return nodes_[i]; }
  /// Makes a node another one. It must not be equal to any node.
  constexpr void replace(int i, const node& by) { nodes_[i] = by; }
  constexpr int size() const { return nodes_.size(); }

  /// Opens an index space within the current one and makes it current. `rank` is the rank of its
  /// reductions' results.
  constexpr int open_space(int first, bool reduces, int rank, bool of_rows = false) {
    if (spaces.size() + 1 == most_spaces) throw "a statement has too many formulas";
    spaces.push_back(index_space{space, first, first, reduces, rank, {}, of_rows});
    return space = spaces.size();
  }
  constexpr void close_space(int end) {
    index_space& current = spaces[space - 1];
    current.end = end;
    space = current.parent;
  }

  /// Adds a reduction of the values of nodes and returns its number; returns the number of an equal
  /// reduction if there is one.
  constexpr int add_reduction(reduction_rule rule, sequence<int> values);
  /// The same for other values, with an existing rule, in the given index space.
  constexpr int add_reduction(int rule, int in_space, sequence<int> values);
  constexpr const traced_reduction& reduction_at(int i) const { return reductions_[i]; }
  constexpr const reduction_rule& rule_at(int i) const;
  constexpr int reduction_count() const { return reductions_.size(); }

  /// Names a result. Equal results are one node, which has the last name that it was given.
  constexpr void name(const result_name& given) {
    for (int i = 0; i < names_.size(); ++i)
      if (names_[i].result == given.result) {
        names_[i] = given;
        return;
      }
    names_.push_back(given);
  }
  constexpr const sequence<result_name>& names() const { return names_; }

  // Numbers start at 1.
  sequence<index_space> spaces;
  // The current index space's number.
  int space = 0;
  // Nodes.
  sequence<int> outputs;
  // Bit i: output i is a single value, not one for each element.
  std::uint32_t scalar_outputs = 0;
  // Number of operands; `position_in_reduction` gets the next number.
  int operands = 0;
  // The graph is traced for dtypes alone: its arrays are in no memory.
  bool has_types_alone = false;
  bool notes_literals = false, literal_outside = false, axis_missing = false, take_refused = false;
  no_derivative refused_derivative{};
  // Of a pass.
  int most_outputs = 32;
  // Elements use results of reductions over their rows: a variance then computes the mean first.
  bool reads_rows_again = false;
  // The graph has a variance, to which this applies.
  bool has_variance = false;
  // Elements are reduced by a key: the size of a group is itself a reduction.
  bool counts_groups = false;
  // The last operands, in this order: what index spaces give.
  sequence<space_operand> of_spaces;
  // Lets symbols convert to C++ numbers, in order to find other errors.
  bool notes_numbers = false;
  // Ranks of the operands that are arrays, if their types give them; otherwise -1.
  sequence<int> ranks;
  // In a loop, the number of operands that are its variables; else 0. A step may store values that
  // it has computed from them, in order to read these elsewhere.
  int variables = 0;
  // Operands whose elements are taken at computed positions: those that the formula wants, noted
  // while it is traced to find them, and those that it is given. The number of values taken so far.
  sequence<taken_leaf> taken;
  sequence<taken_source> taken_sources;
  int values_taken = 0;
  // The range in which each operand that is a C++ integer must lie.
  sequence<integer_range> scalars;

  /// Reports a literal that the dtype of the other operand does not hold: a compile-time error, or
  /// a flag if the graph is built to look for such literals.
  constexpr void refuse_literal() {
    if (!notes_literals)
      throw "an integer literal is outside the dtype of the array beside it (as NumPy's OverflowError): dsl::cast the array to a wider one";
    literal_outside = true;
  }
  /// Reports an axis that a value does not have, in the same way.
  constexpr void refuse_axis() {
    if (!notes_literals) throw "dsl::shift, dsl::take and dsl::index: there is no such axis";
    axis_missing = true;
  }
  /// Reports a value that cannot be computed at another position, in the same way.
  constexpr void refuse_take() {
    if (!notes_literals)
      throw "dsl::take inside a formula: of neighbours, dsl::index or a functor's values";
    take_refused = true;
  }
  constexpr void refuse_derivative(no_derivative why) {
    if (!notes_literals) throw "this has no derivative";
    if (refused_derivative == no_derivative::exists) refused_derivative = why;
  }
  constexpr void refuse_number() const {
    if (!notes_numbers) throw "a symbol is no C++ number: what holds one is auto";
  }
  constexpr void note_rank(int operand, int rank) {
    while (ranks.size() <= operand) ranks.push_back(-1);
    ranks[operand] = rank;
  }
  constexpr int rank_of(int operand) const { return operand < ranks.size() ? ranks[operand] : -1; }
  constexpr bool is_of_space(int operand) const {
    return of_spaces.size() > 0 && operand >= operands - of_spaces.size();
  }
  constexpr void restrict_scalar(int operand, integer_range to) {
    while (scalars.size() <= operand) scalars.push_back(integer_range{});
    scalars[operand].narrow(to);
  }

 private:
  static constexpr int max_nodes = 0xffff;

  constexpr int find(const node& n) const {
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio
    std::uint64_t hash = n.word.bits * spread ^ n.word.second;
    hash = (hash ^ static_cast<std::uint64_t>(n.code) << 8 ^ static_cast<std::uint64_t>(n.type)) *
           spread;
    const int mask = table_.size() - 1;
    int place = static_cast<int>(hash >> 32) & mask;
    while (table_[place] != 0 && !(nodes_[table_[place] - 1] == n)) place = (place + 1) & mask;
    return place;
  }

  constexpr void grow() {
    table_ = sequence<int>(4 * table_.size(), 0);
    for (int i = 0; i < nodes_.size(); ++i) table_[find(nodes_[i])] = i + 1;
  }

  sequence<node> nodes_;
  sequence<traced_reduction> reductions_;
  sequence<reduction_rule> rules_;
  sequence<result_name> names_;
  sequence<int> table_ = sequence<int>(128, 0);  // node number + 1; 0: free
};

/// A reduction's rule: how two tuples of values combine to one. `combine` has nodes op::value 0, 1,
/// ... for the first tuple, then for the second; its outputs are the combined tuple. `identity` is
/// the identity of this combination.
struct reduction_rule {
  graph combine;
  sequence<literal> identity;
  bool needs_elements = false;  // reducing no elements is an error
  // Nothing is reduced: the value of each element is stored (ir/stored.hpp).
  bool stores = false;
  friend constexpr bool operator==(const reduction_rule& a, const reduction_rule& b) {
    if (a.needs_elements != b.needs_elements || a.stores != b.stores ||
        a.combine.size() != b.combine.size() || a.identity.size() != b.identity.size())
      return false;
    for (int i = 0; i < a.combine.size(); ++i)
      if (!(a.combine[i] == b.combine[i])) return false;
    for (int i = 0; i < a.identity.size(); ++i)
      if (!(a.identity[i] == b.identity[i]) || a.combine.outputs[i] != b.combine.outputs[i])
        return false;
    return true;
  }
};

constexpr const reduction_rule& graph::rule_at(int i) const { return rules_[i]; }

constexpr int graph::add_reduction(reduction_rule rule, sequence<int> values) {
  int known = 0;
  while (known < rules_.size() && !(rules_[known] == rule)) ++known;
  if (known == rules_.size()) rules_.push_back(std::move(rule));
  return add_reduction(known, space, std::move(values));
}

constexpr int graph::add_reduction(int rule, int in_space, sequence<int> values) {
  for (int i = 0; i < reductions_.size(); ++i) {
    bool same = reductions_[i].rule == rule && reductions_[i].space == in_space;
    for (int k = 0; same && k < values.size(); ++k) same = reductions_[i].values[k] == values[k];
    if (same) return i;
  }
  reductions_.push_back(traced_reduction{rule, in_space, std::move(values)});
  return reductions_.size() - 1;
}

}  // namespace dsl::detail

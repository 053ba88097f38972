// The graph that a formula leaves behind when it is called with symbols. Built while the program is
// being compiled.
#pragma once

#include <cstdint>

#include <dsl/ir/literal.hpp>
#include <dsl/ir/op.hpp>
#include <dsl/ir/sequence.hpp>

namespace dsl::detail {

/// A node's operands are the numbers of earlier nodes, 16 bits each. What else the word means
/// depends on the operation: load, address, index, value, load_scalar: the operand's number; index
/// of a position: `position`, index space; neighbour, inside: the operand's number, the first step,
/// what is found there (`neighbour_path::base`; its axis from bit 40 on); coordinate: the operand's
/// number, an axis counted from the right, what the operand is (load); of these three, where it is
/// op::reduced, a node stands for the operand; step, given_step: the next step or `no_step`, and
/// what `word_of` says; reduced: reduction, value's number; count: index space; constant: the
/// literal; argument: operand, call, position; call: call, first argument, number of arguments, one
/// more than the functor takes where the last is a condition of the call; result: node of the call,
/// call, position.
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

inline constexpr int no_step = 0xffff;
constexpr bool is_step(op code) { return code == op::step || code == op::given_step; }
/// Whether it reads beside an element, or asks where that is, and so needs its operand's axes.
constexpr bool is_placed(op code) {
  return code == op::neighbour || code == op::inside || code == op::coordinate;
}
/// Whether a value that is computed before, not a leaf, has the place.
constexpr bool is_placed_value(const node& n) {
  return is_placed(n.code) && static_cast<op>(n.field(2) & 0xff) == op::reduced;
}

struct reduction_rule;

/// Values that travel together and become one set of values for many elements: which nodes, by
/// which rule, in which index space.
struct traced_reduction {
  int rule, space;
  sequence<int> values;
};

/// What a reduction or a formula ranges over: the leaves numbered `first` to `end` but for those of
/// spaces within it that give single values, which take their place. Number 0 is the whole
/// statement.
struct index_space {
  int parent, first, end;
  bool reduces;           // its elements stay within it
  int rank;               // of what its reductions give
  sequence<int> outputs;  // nodes
  bool of_rows =
      false;  // outside it, what its reductions give is without the axes that they reduce
};

/// Nodes in the order of their making, each once: equal nodes are one (hash-consing). Adding costs
/// amortised constant time, which keeps tracing a formula of a thousand nodes within the compilers'
/// limits for constant expressions.
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

  /// The number of a node that is there already, or -1.
  constexpr int known(op code, dtype type, literal word) const {
    return table_[find({code, type, word})] - 1;
  }

  constexpr const node& operator[](int i) const { return nodes_[i]; }
  constexpr int size() const { return nodes_.size(); }

  /// Begins an index space within the current one and makes it the current one; `rank` is that of
  /// what its reductions give.
  constexpr int open_space(int first, bool reduces, int rank, bool of_rows = false) {
    spaces.push_back(index_space{space, first, first, reduces, rank, {}, of_rows});
    return space = spaces.size();
  }
  constexpr void close_space(int end) {
    index_space& current = spaces[space - 1];
    current.end = end;
    space = current.parent;
  }

  /// Reduces the values of nodes and returns the reduction's number: that of an equal one, where
  /// there is one.
  constexpr int add_reduction(reduction_rule rule, sequence<int> values);
  /// The same rule for other values, in an index space.
  constexpr int add_reduction(int rule, int in_space, sequence<int> values);
  constexpr const traced_reduction& reduction_at(int i) const { return reductions_[i]; }
  constexpr const reduction_rule& rule_at(int i) const;
  constexpr int reduction_count() const { return reductions_.size(); }

  sequence<index_space> spaces;  // number 1 and on
  int space = 0;                 // the current one's number
  sequence<int> outputs;         // nodes
  std::uint32_t scalar_outputs =
      0;             // a bit for each output that is one value, not one for each element
  int operands = 0;  // that `position` follows
  bool notes_literals = false, literal_outside = false, axis_missing = false;
  bool reads_rows_again =
      false;  // elements that need what rows reduce to: a variance then takes their mean first
  bool has_variance = false;  // which would do so
  bool counts_groups =
      false;  // elements are reduced by a key: how many a group has is a reduction itself
  bool notes_numbers = false;  // lets symbols become C++ numbers, to see what else is wrong
  sequence<int> ranks;         // of operands that are arrays, as far as their types say so; else -1
  sequence<integer_range> scalars;  // what each operand that is a C++ integer has to lie in

  /// A literal that the dtype beside it does not hold: an error of the compiler, or noted where the
  /// graph is made to look for it.
  constexpr void refuse_literal() {
    if (!notes_literals)
      throw "an integer literal is outside the dtype of the array beside it (as NumPy's OverflowError): dsl::cast the array to a wider one";
    literal_outside = true;
  }
  /// An axis that a value does not have, likewise.
  constexpr void refuse_axis() {
    if (!notes_literals) throw "dsl::shift and dsl::index: there is no such axis";
    axis_missing = true;
  }
  constexpr void refuse_number() const {
    if (!notes_numbers) throw "a symbol is no C++ number: what holds one is auto";
  }
  constexpr void note_rank(int operand, int rank) {
    while (ranks.size() <= operand) ranks.push_back(-1);
    ranks[operand] = rank;
  }
  constexpr int rank_of(int operand) const { return operand < ranks.size() ? ranks[operand] : -1; }
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
  sequence<int> table_ = sequence<int>(128, 0);  // node number + 1; 0: free
};

/// How two sets of values become one: a graph of op::value nodes, 0, 1, ... for the first set and
/// then for the second, with the new set as its outputs; and the values that change nothing.
struct reduction_rule {
  graph combine;
  sequence<literal> identity;
  bool needs_elements = false;  // no elements are an error
  friend constexpr bool operator==(const reduction_rule& a, const reduction_rule& b) {
    if (a.needs_elements != b.needs_elements || a.combine.size() != b.combine.size() ||
        a.identity.size() != b.identity.size())
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

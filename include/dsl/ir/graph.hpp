// The graph that a formula leaves behind when it is called with symbols. Built while the program is being compiled.
#pragma once

#include <cstdint>

#include <dsl/ir/literal.hpp>
#include <dsl/ir/op.hpp>
#include <dsl/ir/sequence.hpp>

namespace dsl::detail {

/// A node's operands are the numbers of earlier nodes, 16 bits each. What else the word means depends on the operation:
/// load, neighbour, address, index, value, fetch: the operand's number; constant: the literal; argument: operand, call, position;
/// call: call, first argument, number of arguments; result: node of the call, call, position.
struct node {
  op code{};
  dtype type{};
  literal word{};
  friend constexpr bool operator==(const node& a, const node& b) {
    return a.word.bits == b.word.bits && a.code == b.code && a.type == b.type && a.word.second == b.word.second;
  }
  constexpr int field(int i) const { return static_cast<int>(word.bits >> 16 * i & 0xffff); }
};

constexpr literal fields(int a, int b = 0, int c = 0) {
  return {static_cast<std::uint64_t>(a) | static_cast<std::uint64_t>(b) << 16 | static_cast<std::uint64_t>(c) << 32};
}

/// What becomes of a node's value: stored for each element, or reduced with an operation over all of them.
struct output {
  int node = 0;
  op reduction = op::load;  // op::load: stored
};

/// Nodes in the order of their making, each once: equal nodes are one (hash-consing). Adding costs amortised constant time, which
/// keeps tracing a formula of a thousand nodes within the compilers' limits for constant expressions.
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
  constexpr int known(op code, dtype type, literal word) const { return table_[find({code, type, word})] - 1; }

  constexpr const node& operator[](int i) const { return nodes_[i]; }
  constexpr int size() const { return nodes_.size(); }

  sequence<output> outputs;

 private:
  static constexpr int max_nodes = 0xffff;

  constexpr int find(const node& n) const {
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio
    std::uint64_t hash = n.word.bits * spread ^ n.word.second;
    hash = (hash ^ static_cast<std::uint64_t>(n.code) << 8 ^ static_cast<std::uint64_t>(n.type)) * spread;
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
  sequence<int> table_ = sequence<int>(128, 0);  // node number + 1; 0: free
};

}  // namespace dsl::detail

// A program whose nodes can be looked up by reference.
#pragma once

#include <vector>

#include <dsl/ir/program.hpp>

namespace dsl::detail {

class indexed_program {
 public:
  indexed_program() = default;
  explicit indexed_program(const program_view& p);

  const program_view& view() const { return p_; }
  int size() const { return p_.nodes; }
  head at(int node) const { return head{p_.heads[node]}; }
  op code(int node) const { return at(node).code(); }
  std::uint64_t payload(int node) const { return p_.payloads[node]; }
  int field(int node, int k) const { return static_cast<int>(payload(node) >> 16 * k & 0xffff); }
  /// The node that computes a value; -1 if there is none.
  int node_of(reference r) const;
  int operand(int node, int k) const { return node_of(reference::of(payload(node), k)); }
  /// Whether a node is an argument of the call whose result another node is.
  bool is_argument_of(int node, int result) const {
    return code(node) == op::argument && argument_payload{payload(node)}.call() == field(result, 1);
  }
  int output(int i) const { return node_of(p_.output(i)); }
  int outputs() const { return p_.output_count; }

 private:
  program_view p_{};
  std::vector<int> places_[dtype_count];
};

}  // namespace dsl::detail

// Names reductions as the user wrote them, from the operations that tracing made of them.
#pragma once

#include <vector>

#include <dsl/ir/pass.hpp>

namespace dsl::detail {

/// A program whose nodes can be looked up by reference.
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
  int output(int i) const { return node_of(p_.output(i)); }
  int outputs() const { return p_.output_count; }

 private:
  program_view p_{};
  std::vector<int> places_[dtype_count];
};

/// A result as a named reduction of a node of the elements: mean(x), var(x, ddof(1)), argmax(x).
/// `name` is null if the result is no such reduction.
struct reduction_word {
  const char* name = nullptr;
  int of = -1;    // Node of the elements that is reduced.
  int ddof = -1;  // Node of the results with the value of ddof; -1 for ddof 0.
};

/// A pass whose reductions have names.
class worded_pass {
 public:
  explicit worded_pass(const pass_view& p);

  const pass_view& pass() const { return *pass_; }
  const indexed_program& elements() const { return elements_; }
  const indexed_program& results() const { return results_; }
  /// The reduction that a node of the results is.
  reduction_word word_of(int node) const;

 private:
  /// How a reduction combines two accumulators.
  enum class rule {
    sum,
    prod,
    min,
    max,
    nanmin,
    nanmax,
    all,
    any,
    argmin,
    argmax,
    variance,
    other
  };
  rule rule_of(int reduction) const;
  int value(int reduction, int k) const { return elements_.output(pass_->firsts[reduction] + k); }
  bool is_reduced(int node, rule of, int value) const;
  bool is_nan_test_of(int node, int x) const;
  int without_nan(int node) const;
  int without_conversion(int node) const;
  reduction_word of_reduction(int reduction, int value) const;
  reduction_word of_quotient(int node) const;
  reduction_word of_variance(int node) const;

  const pass_view* pass_;
  indexed_program elements_, results_;
  std::vector<rule> rules_;
};

}  // namespace dsl::detail

// The names of reductions, which `named` of lang/reduction_rules.hpp gives them.
#pragma once

#include <string>
#include <vector>

#include <dsl/ir/pass.hpp>

#include "exec/plan/indexed_program.hpp"

namespace dsl::detail {

/// A result as a reduction: mean(x), var(x, ddof(1)), argmax(x). `name` is empty if the result is
/// no reduction, but a formula of others.
struct named_reduction {
  std::string name;
  int of = -1;    // Node of the elements that is reduced.
  int ddof = -1;  // Node of the results with the value of ddof; -1 for ddof 0.
};

/// A pass whose reductions have names.
class named_pass {
 public:
  explicit named_pass(const pass_view& p);

  const pass_view& pass() const { return *pass_; }
  const indexed_program& elements() const { return elements_; }
  const indexed_program& results() const { return results_; }
  /// The reduction that a node of the results is. A reduced value without a name is called reduce.
  named_reduction reduction_of(int node) const;

 private:
  const pass_view* pass_;
  indexed_program elements_, results_;
  std::vector<named_reduction> names_;  // By node of the results.
};

}  // namespace dsl::detail

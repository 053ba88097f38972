// Runs the passes of a statement.
#pragma once

#include <vector>

#include <dsl/exec/explain/explanation.hpp>
#include <dsl/exec/run/run.hpp>

#include "exec/statement/prepared.hpp"

namespace dsl::detail {

/// The passes of one statement. All are laid out and checked before the first one is queued.
class statement {
 public:
  /// Adds a pass, as `bound_pass`.
  void add(const program_code& code, const operand* operands, const launch& fixed);
  /// Adds a copy of a pass's result to a further target. It runs after all passes.
  void copy(const operand& from, const operand& to);
  void assign();
  /// What `assign` would queue. May be called once. Refers to this statement.
  prepared_statement prepare();
  void replace(const changed_scalar* changed, int count) {
    for (bound_pass& p : passes_) p.replace(changed, count);
  }
  explanation explain() const;

 private:
  std::vector<bound_pass> passes_;
  std::vector<late_copy> copies_;
};

}  // namespace dsl::detail

// The passes of a statement at run time.
#pragma once

#include <vector>

#include <dsl/exec/explain/explanation.hpp>
#include <dsl/exec/run/run.hpp>

#include "exec/run/copy.hpp"

namespace dsl::detail {

/// The passes of one statement: all are laid out and checked before the first one is queued.
class statement {
 public:
  /// As `prepared`.
  void add(const program_code& code, const operand* operands, const launch& fixed);
  /// Copies what a pass writes to a further target, when all have run.
  void copy(const operand& from, const operand& to);
  void assign();
  explanation explain() const;

 private:
  std::vector<prepared> passes_;
  std::vector<late_copy> copies_;
};

}  // namespace dsl::detail

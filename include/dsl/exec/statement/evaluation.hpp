// Evaluates a statement of several passes.
#pragma once

#include <dsl/exec/explain/explanation.hpp>
#include <dsl/exec/run/run.hpp>
#include <dsl/ir/schedule.hpp>

namespace dsl::detail {

/// A reduced index space: the reduced axes and the rank of the result. If `same_elements` names a
/// function (dot), the space belongs to two operands that must have as many elements, whose leaves
/// are [first, second) and [second, end).
struct reduced_space {
  reduction_axes axes;
  int rank = 0;
  const char* same_elements = nullptr;
  int first = 0, second = 0, end = 0;
};
/// Throws shape_error if operands of one of the index spaces have different shapes. `leaves`: all
/// leaves.
void check_shapes(const reduced_space* spaces, int count, const operand* leaves);

/// The passes of a statement, bound to its operands. Passes over different index spaces run one
/// after another, each with its own outputs; passes on the same operands are merged into one.
/// Results of reductions have memory for the lifetime of this object. Everything is laid out and
/// checked before the first pass is queued.
class evaluation {
 public:
  /// What the passes are made of: one code for each pass; the leaves of all expressions in turn, as
  /// `expressions` says; index spaces from number 1 on. All are kept by address.
  struct parts {
    const schedule_view& plan;
    const program_code* const* codes;
    const operand* leaves;
    const reduced_space* spaces;
    int space_count;
    const operand_range* expressions;
    int expression_count, targets;
  };
  explicit evaluation(const parts& of);
  ~evaluation();
  evaluation(const evaluation&) = delete;

  /// Determines the shape of a target without memory. Throws shape_error, device_error and
  /// memory_error, as all functions from here on.
  struct source {
    geometry space;
    std::uint32_t reduced;
    const pass_view* pass;
    const operand* inputs;
  };
  source source_of(int target);
  /// Binds a target.
  void bind(int target, const operand& elements);
  /// Queues all passes. `fixed` applies to those that write targets.
  void assign(const launch& fixed);
  /// Explains what `assign` would do.
  explanation explain(const launch& fixed);
  /// For a statement whose last pass the caller runs: queues the others; the last pass's inputs.
  void assign_all_but_last();
  const operand* last_inputs();

 private:
  class passes;
  class chain_again;
  passes& all();
  passes& all_bound();

  const parts parts_;
  std::vector<operand> targets_;
  // Made when they are needed: a statement that has run on these operands before needs none.
  passes* passes_ = nullptr;
};

}  // namespace dsl::detail

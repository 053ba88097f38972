// A statement of several passes on its operands.
#pragma once

#include <dsl/exec/explain/explanation.hpp>
#include <dsl/exec/run/run.hpp>
#include <dsl/ir/schedule.hpp>

namespace dsl::detail {

/// An index space when it is reduced: along which axes, and the rank of the result. Where
/// `same_elements` names a function (dot), it is of two operands with as many elements, whose
/// leaves begin at `first` and `second` and end at `end`.
struct reduced_space {
  reduction_axes axes;
  int rank = 0;
  const char* same_elements = nullptr;
  int first = 0, second = 0, end = 0;
};
/// Throws shape_error where one of some index spaces has operands of different shapes, given all
/// leaves.
void check_shapes(const reduced_space* spaces, int count, const operand* leaves);

/// The passes of a statement, bound to its operands: those that one program evaluates over
/// different index spaces run one after another, each with the outputs that are its own, and those
/// on the same operands are one. Values of reductions get memory for as long as this lives. All is
/// laid out and checked before the first pass is queued.
class evaluation {
 public:
  /// `codes`: for each pass. `leaves` of all expressions, one after another, which are
  /// `expressions`; `spaces` from number 1 on. All are kept by address. Throws shape_error,
  /// device_error and memory_error.
  evaluation(const schedule_view& plan, const program_code* const* codes, const operand* leaves,
             const reduced_space* spaces, const operand_range* expressions, int expression_count,
             int targets);
  ~evaluation();
  evaluation(const evaluation&) = delete;

  /// What a target without memory is shaped by.
  struct source {
    geometry space;
    std::uint32_t reduced;
    const pass_view* pass;
    const operand* inputs;
  };
  source source_of(int target) const;
  /// Gives a target.
  void bind(int target, const operand& elements);
  /// Queues all passes. `fixed` is for those that write to targets.
  void assign(const launch& fixed);
  /// What `assign` would do.
  explanation explain(const launch& fixed) const;
  /// For a statement whose last pass is run by others, and its operands.
  void assign_all_but_last();
  const operand* last_inputs() const;

 private:
  class passes;
  passes* passes_;
};

}  // namespace dsl::detail

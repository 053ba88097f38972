// Statements of formulas and transforms along rows as work.
#pragma once

#include <deque>
#include <vector>

#include <dsl/fft/row_code.hpp>

#include "exec/run/work.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

/// The roots of unity of rows of so many points (`row_passes`), complex64 or complex128, in a
/// device's memory. Made when they are first needed, which waits for the device, and kept.
buffer_ref roots_of_rows(const row_passes& passes, dtype type, device where);

/// The operands of each phase: its inputs, then what it writes. Values that phases leave for later
/// ones have their shapes and, for messages, their formulas.
class transformed_row_phases {
 public:
  /// `operands`: the leaves, then the target. Throws shape_error and device_error.
  transformed_row_phases(const transformed_row_code& code, const operand* operands);
  transformed_row_phases(const transformed_row_phases&) = delete;

  const operand* operands(int phase) const {
    return phases_[static_cast<std::size_t>(phase)].data();
  }
  /// Has a phase write to an operand, from which later phases read.
  void set_value(int phase, const operand& value);

 private:
  const transformed_row_code& code_;
  std::vector<std::vector<operand>> phases_;
  std::deque<value_source> sources_;
};

/// The statement as one kernel.
class transformed_row_work final : public planned_work<dsl::plan> {
 public:
  /// Throws shape_error and device_error.
  transformed_row_work(const transformed_row_code& code, const operand* operands,
                       const launch& fixed);

  work_record record() const override {
    return {code_.phase[code_.phases - 1].pass.view, space_, operands_.data(), code_.leaves, 1};
  }
  bool is_empty() const override { return space_.elements == 0; }
  profiled_work profile() const override;
  void run_on(const grid_executor& devices, const stream& on) const override;

  /// Runs it, by a temporary if the target overlaps an operand whose elements lie otherwise.
  void assign();
  explanation explain() const;
  /// The plan with the cost of an element, for readers.
  dsl::plan make_plan() const;

 private:
  dsl::plan plan_for(const grid_executor& devices) const override;
  void lay_out();
  std::int64_t rows() const { return space_.elements / code_.passes.points; }
  cost cost_per_element() const;
  bool transforms(dtype type) const;

  const transformed_row_code& code_;
  std::vector<operand> operands_;
  transformed_row_phases phases_;
  geometry space_;
  launch fixed_;
};

}  // namespace dsl::detail

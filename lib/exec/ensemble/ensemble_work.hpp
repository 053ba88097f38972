// Loops of single elements as work.
#pragma once

#include <vector>

#include <dsl/exec/ensemble/ensemble.hpp>
#include <dsl/exec/explain/explanation.hpp>

#include "exec/run/work.hpp"

namespace dsl::detail {

/// A loop in each element of contiguous arrays. Its record is that of the loop's step: an operand
/// for each variable, of which the given ones are arrays; the scalars; and as targets the arrays
/// that the loop writes.
class ensemble_work final : public planned_work<plan> {
 public:
  /// `operands` as for run_ensemble. Throws device_error.
  ensemble_work(const ensemble_code& code, const operand* operands,
                const ensemble_request& request);

  work_record record() const override;
  bool is_empty() const override { return space_.elements == 0; }
  profiled_work profile() const override { return profile_of("ensemble ", record()); }
  void run_on(const grid_executor& devices, const stream& on) const override;

  explanation explain() const;
  const ensemble_code& code() const { return code_; }
  const ensemble_request& request() const { return request_; }
  /// The operands in the order of run_ensemble.
  const operand* operands() const { return operands_.data(); }
  const operand* scalars() const { return operands() + code_.given_count; }
  const operand* read() const { return scalars() + code_.scalars; }
  const operand* kept() const { return read() + code_.read_arrays; }
  const operand* stored() const { return kept() + code_.kept_count; }

 private:
  dsl::plan plan_for(const grid_executor& devices) const override;

  const ensemble_code& code_;
  ensemble_request request_;
  std::vector<operand> operands_, described_;
  geometry space_;
};

}  // namespace dsl::detail

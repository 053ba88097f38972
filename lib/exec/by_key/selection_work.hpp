// Selections as work.
#pragma once

#include <dsl/exec/by_key/compress.hpp>

#include "exec/scan/ordered_work.hpp"

namespace dsl::detail {

/// A selection: the inputs, then a target for each value, then the target of their number.
class selection_work final : public planned_work<plan, ordered_work> {
 public:
  /// Throws shape_error, memory_error and device_error, before anything runs.
  selection_work(const compress_code& code, const operand* operands);

  /// Without elements their number, zero, is still written.
  bool is_empty() const override { return false; }
  profiled_work profile() const override { return profile_of("compress ", record()); }
  explanation explain() const override;
  void run_on(const grid_executor& devices, const stream& on) const override;

  const compress_code& code() const { return code_; }

 private:
  void lay_out() override;
  bool must_redirect(int target) const override;
  /// Elements after the last selected one.
  bool keeps_elements() const override { return true; }
  dsl::plan plan_for(const grid_executor& devices) const override;

  const compress_code& code_;
};

}  // namespace dsl::detail

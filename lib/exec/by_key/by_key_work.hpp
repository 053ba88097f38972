// Reductions by key as work.
#pragma once

#include <dsl/exec/by_key/by_key.hpp>

#include "exec/scan/ordered_work.hpp"

namespace dsl::detail {

/// A reduction by key: the inputs, then the targets of groups, then those of all elements.
class by_key_work final : public planned_work<by_key_plan, ordered_work> {
 public:
  /// Throws shape_error and device_error, before anything runs.
  by_key_work(const by_key_code& code, const operand* operands, const by_key_request& request);

  bool is_empty() const override { return request_.groups == 0; }
  profiled_work profile() const override { return profile_of("by key: ", record()); }
  explanation explain() const override;
  void run_on(const grid_executor& devices, const stream& on) const override;

  const by_key_code& code() const { return code_; }
  const by_key_request& request() const { return request_; }

 private:
  void lay_out() override;
  /// There may be several launches, and the first writes results before the last has read the
  /// inputs.
  bool must_redirect(int target) const override;
  by_key_plan plan_for(const grid_executor& devices) const override;

  const by_key_code& code_;
  const by_key_request& request_;
};

}  // namespace dsl::detail

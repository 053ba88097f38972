// Scans as work.
#pragma once

#include <dsl/exec/scan/scan.hpp>

#include "exec/scan/ordered_work.hpp"

namespace dsl::detail {

/// A scan of the inputs to one target, which has their shape.
class scan_work final : public planned_work<scan_plan, ordered_work> {
 public:
  /// Throws shape_error and device_error.
  scan_work(const scan_code& code, const operand* operands, const scan_request& request);

  bool is_empty() const override { return space().elements == 0; }
  profiled_work profile() const override { return profile_of("scan of ", record()); }
  explanation explain() const override;
  void run_on(const grid_executor& devices, const stream& on) const override;

  const scan_code& code() const { return code_; }
  const scan_request& request() const { return request_; }
  /// The parameters that all kernels have; blocks' memory is not set.
  scan_parameters parameters() const;
  cost cost_per_element() const;

 private:
  void lay_out() override;
  bool must_redirect(int) const override;
  scan_plan plan_for(const grid_executor& devices) const override;

  const scan_code& code_;
  const scan_request& request_;
};

}  // namespace dsl::detail

// Whether the steps that have been queued have ended their loop.
#pragma once

#include <dsl/exec/plan/operand.hpp>
#include <dsl/mem/marker.hpp>

#include <cstdint>
#include <deque>
#include <optional>

#include "exec/run/scratch.hpp"

namespace dsl::detail {

/// Looks whether a loop has ended while its steps are queued, so that its caller can stop queueing
/// them.
///
/// On a device that completes work at once it reads the condition itself. An asynchronous device is
/// not stopped: steps are queued in groups, after each of which the device copies the condition to
/// the host. Only the copy of the group before the last one is waited for, so one group runs while
/// the next one is queued. What it finds does not depend on timing, so processes that run the same
/// loop find the same. It cannot look while the stream is captured.
class loop_end {
 public:
  /// condition: the output that is true after the loop's last step. group: steps of a group.
  loop_end(const operand& condition, std::int64_t group);

  /// Steps until the current group is complete, at least 1.
  std::int64_t left_in_group() const { return group_ - in_group_; }
  /// Notes that `steps` steps were queued, after which at most `left` will be.
  void note(std::int64_t steps, std::int64_t left);
  /// Whether steps before the last complete group have ended the loop; waits for them.
  bool has_come();
  /// The same of all steps so far, on a device that completes work at once; otherwise false.
  bool is_here() const { return !is_asynchronous_ && *at_; }
  /// The same on any device; waits for all steps so far.
  bool wait_and_look();

 private:
  struct look {
    std::int64_t group;  // Its number.
    marker copied;
    const bool* condition;
  };

  buffer* const memory_;
  const bool* const at_;
  const std::int64_t group_;
  const stream on_;
  const bool is_asynchronous_;
  std::int64_t groups_ = 0, in_group_ = 0;  // Complete groups, and steps since then.
  bool has_come_ = false;
  std::optional<locked_bytes> copies_{};  // Of two groups in turn.
  std::deque<look> looks_;                // The oldest first, at most two.
};

}  // namespace dsl::detail

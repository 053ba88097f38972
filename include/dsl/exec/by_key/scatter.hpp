// Writes elements to positions in memory.
#pragma once

#include <dsl/exec/plan/operand.hpp>

namespace dsl::detail {

/// Throws memory_error for a target without memory, device_error for elements of several processes.
void require_positions(const operand& target);

/// Queues target[positions[i]] = values[i] on the current stream: of equal positions, which stand
/// one behind the other, the last. `positions` (int64) and `values` are as many and lie one behind
/// the other; all are of rank 1, and values of the target's dtype. A position outside the target is
/// a memory_error in the simulator and left out elsewhere. Throws device_error, memory_error or
/// cuda_error.
void run_scatter(const operand& positions, const operand& values, const operand& target);

}  // namespace dsl::detail

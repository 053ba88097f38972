// Writes elements to positions in memory.
#pragma once

#include <dsl/exec/plan/operand.hpp>

namespace dsl::detail {

/// Throws memory_error for a target without memory, device_error for elements of several processes.
void require_positions(const operand& target);

/// Queues target[positions[i]] = values[i] on the current stream. Equal positions must be
/// consecutive; the last one wins. `positions` (int64) and `values` (of the target's dtype) are
/// contiguous and have as many elements; all are of rank 1. A position outside the target throws
/// memory_error in the simulator and is ignored elsewhere. Throws device_error, memory_error or
/// cuda_error.
void run_scatter(const operand& positions, const operand& values, const operand& target);

}  // namespace dsl::detail

// Rolling reductions in the simulator.
#pragma once

#include "exec/tasks/rolling_task.hpp"

namespace dsl::detail {

/// Runs the kernel of a task. Throws as `simulate`.
void run_rolling(const rolling_task& task, std::size_t shared_per_block);

}  // namespace dsl::detail

// Library tasks whose kernels run in the simulator.
#pragma once

#include "exec/tasks/convolve_task.hpp"
#include "exec/tasks/reach_task.hpp"
#include "exec/tasks/rolling_task.hpp"

namespace dsl::detail {

/// Runs the kernel of a task, for which there is a plan. Throws as `simulate`.
void simulate(const rolling_task& task, std::size_t shared_per_block);
void simulate(const convolve_task& task, std::size_t shared_per_block);
void simulate(const reach_task& task, std::size_t shared_per_block);

}  // namespace dsl::detail

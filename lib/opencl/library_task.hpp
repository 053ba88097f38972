// Sorts, and values that are written to positions.
#pragma once

#include "exec/tasks/library_task.hpp"

namespace dsl {
class stream;
}  // namespace dsl

namespace dsl::detail::opencl {

/// Builds the kernels of a task and queues their launches. Throws as `plan_of` and `launch`.
void launch_task(const sort_task& task, const stream& on);
void launch_task(const scatter_task& task, const stream& on);

}  // namespace dsl::detail::opencl

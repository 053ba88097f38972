// Elements that reach a bound, on a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include "exec/tasks/reach_task.hpp"

namespace dsl::detail::cuda {

/// Queues a task on a stream of the current GPU.
cudaError_t launch_reach(const reach_task& task, cudaStream_t stream);

}  // namespace dsl::detail::cuda

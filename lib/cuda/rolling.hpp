// Rolling reductions on a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include "exec/tasks/rolling_task.hpp"

namespace dsl::detail::cuda {

/// Queues a task on a stream of the current GPU. The GPU has a plan for it.
cudaError_t launch_rolling(const rolling_task& task, cudaStream_t stream);

}  // namespace dsl::detail::cuda

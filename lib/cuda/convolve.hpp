// Convolutions on a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include "exec/tasks/convolve_task.hpp"

namespace dsl::detail::cuda {

/// Queues a task on a stream of the current GPU.
cudaError_t launch_convolve(const convolve_task& task, cudaStream_t stream);

}  // namespace dsl::detail::cuda

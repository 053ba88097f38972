// Scatter on a GPU: writes values to positions.
#pragma once

#include <cuda_runtime_api.h>

#include "exec/tasks/scatter.hpp"

namespace dsl::detail::cuda {

/// As the function of entry_points.
const char* scatter_architectures();
cudaError_t launch_scatter(const scatter_task& task, cudaStream_t stream);

}  // namespace dsl::detail::cuda

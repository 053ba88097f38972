// Products with sparse matrices on a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include "exec/tasks/csr_task.hpp"

namespace dsl::detail::cuda {

cudaError_t launch_csr(const csr_task& task, cudaStream_t stream);

}  // namespace dsl::detail::cuda

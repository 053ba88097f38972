// Sorting on a GPU: compiled once for keys of 32 and once for keys of 64 bits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "exec/tasks/sort.hpp"

namespace dsl::detail::cuda {

/// As the function of entry_points.
const char* sort_architectures();
/// Queues a sort that works in `memory` of `bytes`; if `memory` is null, only sets `bytes` to the
/// size needed.
cudaError_t launch_sort(const sort_task& task, void* memory, std::size_t& bytes,
                        cudaStream_t stream);
cudaError_t launch_sort(const pair_sort_task& task, void* memory, std::size_t& bytes,
                        cudaStream_t stream);

}  // namespace dsl::detail::cuda

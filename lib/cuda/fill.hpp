// Fills a GPU's memory with a value, by a kernel of the library.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace dsl::detail::cuda {

/// As the function of entry_points.
const char* fill_architectures();
cudaError_t launch_fill(void* at, const void* value, std::size_t size, std::int64_t count,
                        cudaStream_t stream);

}  // namespace dsl::detail::cuda

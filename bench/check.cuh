// Checks errors of the CUDA runtime, and gives the stream on which dsl works.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>

#include <dsl/mem/stream.hpp>

namespace bench {

inline void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

inline cudaStream_t stream() { return static_cast<cudaStream_t>(dsl::stream::current().native()); }

}  // namespace bench

// cuBLAS on a stream.
#pragma once

#include <cublas_v2.h>

#include <functional>

#include <dsl/mem/stream.hpp>

namespace dsl::detail {

/// Calls use(handle) with a handle of cuBLAS whose calls are queued on the stream, and which works
/// in memory of the pool.
void with_cublas(const stream& on, const std::function<void(cublasHandle_t)>& use);

}  // namespace dsl::detail

// cuBLAS and cuSOLVER on a stream.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <cstdint>
#include <functional>

#include <dsl/ir/dtype.hpp>
#include <dsl/mem/stream.hpp>

namespace dsl::detail {

/// Throws memory_error or cuda_error if a call failed.
void check(cublasStatus_t status, const char* call);
void check(cusolverStatus_t status, const char* call);

/// Calls use(handle) with a handle whose calls are queued on the stream; cuBLAS works in memory of
/// the pool.
void with_cublas(const stream& on, const std::function<void(cublasHandle_t)>& use);
void with_cusolver(const stream& on, const std::function<void(cusolverDnHandle_t)>& use);

/// Throws cuda_error if the stream is being captured and a call works in memory of the host as
/// well: that would be gone when the graph runs.
void require_recordable(const stream& on, std::size_t bytes_on_host);

/// Queues the addresses of `count` matrices, `bytes` apart, as BLAS's batches are given.
void list_on_gpu(void* first, std::int64_t bytes, void** list, std::int64_t count,
                 cudaStream_t stream);
/// Queues the end of Cholesky's factors: what lies above the diagonals becomes 0, and matrices of a
/// status that is not 0 NaN.
void finish_cholesky_on_gpu(dtype type, void* a, std::int64_t size, std::int64_t count,
                            const int* status, cudaStream_t stream);
/// Queues a search for matrices with NaN, of which cuSOLVER makes anything: `found` is 1 for them,
/// 0 for others. `lower`: in their lower triangles.
void find_nan_on_gpu(dtype type, const void* a, std::int64_t rows, std::int64_t columns, bool lower,
                     std::int64_t count, int* found, cudaStream_t stream);
/// Queues what makes the results NaN of matrices of a status that is not 0 and of those with NaN:
/// `size` elements of each of `count` matrices.
void refuse_on_gpu(dtype type, void* results, std::int64_t size, std::int64_t count,
                   const int* status, const int* has_nan, cudaStream_t stream);
/// Queues the end of singular values by Jacobi's method, of matrices of `columns` x `rows`: all of
/// its `u` becomes our `vh`, the first `rows` columns; its `v`, not transposed, our `u`.
void finish_svd_on_gpu(dtype type, const void* all_u, const void* v, void* u, void* vh,
                       std::int64_t rows, std::int64_t columns, std::int64_t count,
                       cudaStream_t stream);

}  // namespace dsl::detail

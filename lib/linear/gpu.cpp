// Products on a GPU, by cuBLAS.
#include <cublas_v2.h>

#include <complex>
#include <mutex>
#include <string>
#include <unordered_map>

#include "cuda/calls.hpp"
#include "linear/gpu.hpp"
#include "linear/matrices.hpp"
#include "mem/stream.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string what = std::string(call) + ": " + cublasGetStatusString(status);
  if (status == CUBLAS_STATUS_ALLOC_FAILED) raise<memory_error>(what);
  raise<cuda_error>(what);
}
void check(cusolverStatus_t status, const char* call) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  const std::string what = std::string(call) + ": cuSOLVER's status " + std::to_string(status);
  if (status == CUSOLVER_STATUS_ALLOC_FAILED) raise<memory_error>(what);
  raise<cuda_error>(what);
}

namespace {

// What cuBLAS's documentation advises for these GPUs. Memory that is given to a call, instead of
// cuBLAS's own, makes its results the same each time, and may be used while a stream is captured.
std::size_t working_memory(int gpu) {
  int major = 0;
  cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu),
              "cudaDeviceGetAttribute");
  return std::size_t{major >= 9 ? 32u : 8u} << 20;
}

struct type_of_call {
  cudaDataType_t elements;
  cublasComputeType_t compute;
};
type_of_call type_for(dtype type) {
  switch (type) {
    case dtype::float16: return {CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case dtype::bfloat16: return {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case dtype::float32: return {CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case dtype::float64: return {CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case dtype::complex64: return {CUDA_C_32F, CUBLAS_COMPUTE_32F};
    default: return {CUDA_C_64F, CUBLAS_COMPUTE_64F};
  }
}

// A handle for each GPU, used by one thread at a time. Never destroyed: at the end of the program
// the driver may be gone.
template <class Handle>
struct handles {
  std::mutex mutex;
  std::unordered_map<int, Handle> of_gpu;
  static handles& all() {
    static handles& made = *new handles;
    return made;
  }
};

}  // namespace

void with_cublas(const stream& on, const std::function<void(cublasHandle_t)>& use) {
  const device where = on.where();
  const cuda::current_device current(where.index);
  const std::size_t bytes = working_memory(where.index);
  const buffer_ref memory = buffer_ref::allocate(bytes, where);
  auto& all = handles<cublasHandle_t>::all();
  const std::lock_guard lock(all.mutex);
  cublasHandle_t& handle = all.of_gpu[where.index];
  if (handle == nullptr) check(cublasCreate(&handle), "cublasCreate");
  check(cublasSetStream(handle, cuda::native(on.native())), "cublasSetStream");
  check(cublasSetWorkspace(handle, memory.data(), bytes), "cublasSetWorkspace");
  use(handle);
}

void with_cusolver(const stream& on, const std::function<void(cusolverDnHandle_t)>& use) {
  const cuda::current_device current(on.where().index);
  auto& all = handles<cusolverDnHandle_t>::all();
  const std::lock_guard lock(all.mutex);
  cusolverDnHandle_t& handle = all.of_gpu[on.where().index];
  if (handle == nullptr) check(cusolverDnCreate(&handle), "cusolverDnCreate");
  check(cusolverDnSetStream(handle, cuda::native(on.native())), "cusolverDnSetStream");
  use(handle);
}

void require_recordable(const stream& on, std::size_t bytes_on_host) {
  if (bytes_on_host > 0 && cuda::is_capturing(on.native()))
    raise<cuda_error>("linear algebra: a call that works on the host is no part of a CUDA graph");
}

// cuBLAS's matrices are column-major, so that the row-major c = a b is its c^T = b^T a^T.
void multiply_on_gpu(const products& p, const stream& on) {
  with_cublas(on, [&](cublasHandle_t handle) {
    const auto [elements, compute] = type_for(p.type);
    // cuBLAS reads complex numbers as wholes, which are aligned to their size.
    alignas(16) const std::complex<double> times = p.times, plus = p.plus;
    alignas(8) const std::complex<float> narrow_times(times), narrow_plus(plus);
    const bool wide = compute == CUBLAS_COMPUTE_64F;
    const void *const alpha = wide ? static_cast<const void*>(&times) : &narrow_times,
                      *const beta = wide ? static_cast<const void*>(&plus) : &narrow_plus;
    const auto how = [](const matrix& m) {
      return !m.transposed ? CUBLAS_OP_N : m.conjugated ? CUBLAS_OP_C : CUBLAS_OP_T;
    };
    const std::int64_t rows = p.a.rows, columns = p.b.columns, inner = p.a.columns;
    check(cublasGemmStridedBatchedEx_64(handle, how(p.b), how(p.a), columns, rows, inner, alpha,
                                        p.b.at, elements, p.b.step, p.next_b, p.a.at, elements,
                                        p.a.step, p.next_a, beta, p.c, elements, p.step_c, p.next_c,
                                        p.count, compute, CUBLAS_GEMM_DEFAULT),
          "cublasGemmStridedBatchedEx");
  });
}

}  // namespace dsl::detail

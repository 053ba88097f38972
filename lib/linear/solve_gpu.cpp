// Systems of more than 8 unknowns on a GPU: batches by cuBLAS, large matrices by cuSOLVER.
#include <cublas_v2.h>
#include <cusolverDn.h>

#include <vector>

#include "cuda/calls.hpp"
#include "linear/gpu.hpp"
#include "linear/systems.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

namespace {

cublasStatus_t factorize(cublasHandle_t handle, int n, float** a, int* pivots, int* info,
                         int count) {
  return cublasSgetrfBatched(handle, n, a, n, pivots, info, count);
}
cublasStatus_t factorize(cublasHandle_t handle, int n, double** a, int* pivots, int* info,
                         int count) {
  return cublasDgetrfBatched(handle, n, a, n, pivots, info, count);
}
cublasStatus_t factorize(cublasHandle_t handle, int n, cuComplex** a, int* pivots, int* info,
                         int count) {
  return cublasCgetrfBatched(handle, n, a, n, pivots, info, count);
}
cublasStatus_t factorize(cublasHandle_t handle, int n, cuDoubleComplex** a, int* pivots, int* info,
                         int count) {
  return cublasZgetrfBatched(handle, n, a, n, pivots, info, count);
}
cublasStatus_t solve(cublasHandle_t handle, int n, int m, float** a, const int* pivots, float** x,
                     int* info, int count) {
  return cublasSgetrsBatched(handle, CUBLAS_OP_T, n, m, a, n, pivots, x, n, info, count);
}
cublasStatus_t solve(cublasHandle_t handle, int n, int m, double** a, const int* pivots, double** x,
                     int* info, int count) {
  return cublasDgetrsBatched(handle, CUBLAS_OP_T, n, m, a, n, pivots, x, n, info, count);
}
cublasStatus_t solve(cublasHandle_t handle, int n, int m, cuComplex** a, const int* pivots,
                     cuComplex** x, int* info, int count) {
  return cublasCgetrsBatched(handle, CUBLAS_OP_T, n, m, a, n, pivots, x, n, info, count);
}
cublasStatus_t solve(cublasHandle_t handle, int n, int m, cuDoubleComplex** a, const int* pivots,
                     cuDoubleComplex** x, int* info, int count) {
  return cublasZgetrsBatched(handle, CUBLAS_OP_T, n, m, a, n, pivots, x, n, info, count);
}

// Memory of the pool, which returns to it in the order of the stream.
template <class T>
struct working_array {
  working_array(std::int64_t count, device where)
      : memory(buffer_ref::allocate(static_cast<std::size_t>(count) * sizeof(T), where)) {}
  T* at() const { return static_cast<T*>(memory.data()); }
  buffer_ref memory;
};

template <class T>
void solve_batch(const large_systems& s, const stream& on) {
  const device where = on.where();
  const auto n = static_cast<int>(s.unknowns), m = static_cast<int>(s.right_sides),
             count = static_cast<int>(s.count);
  const working_array<T*> matrices(s.count, where), sides(s.count, where);
  const working_array<int> pivots(s.count * s.unknowns, where), info(s.count, where);
  with_cublas(on, [&](cublasHandle_t handle) {
    const cudaStream_t stream = cuda::native(on.native());
    const auto size = static_cast<std::int64_t>(sizeof(T));
    list_on_gpu(s.a, s.unknowns * s.unknowns * size, reinterpret_cast<void**>(matrices.at()),
                s.count, stream);
    list_on_gpu(s.x, s.unknowns * s.right_sides * size, reinterpret_cast<void**>(sides.at()),
                s.count, stream);
    check(factorize(handle, n, matrices.at(), pivots.at(), info.at(), count), "cublasGetrfBatched");
    int wrong_argument = 0;
    check(solve(handle, n, m, matrices.at(), pivots.at(), sides.at(), &wrong_argument, count),
          "cublasGetrsBatched");
  });
}

void solve_one_by_one(const large_systems& s, cudaDataType_t type, const stream& on) {
  const device where = on.where();
  const working_array<std::int64_t> pivots(s.unknowns, where);
  const working_array<int> info(1, where);
  with_cusolver(on, [&](cusolverDnHandle_t handle) {
    std::size_t on_device = 0, on_host = 0;
    check(cusolverDnXgetrf_bufferSize(handle, nullptr, s.unknowns, s.unknowns, type, s.a,
                                      s.unknowns, type, &on_device, &on_host),
          "cusolverDnXgetrf_bufferSize");
    require_recordable(on, on_host);
    const working_array<char> memory(static_cast<std::int64_t>(on_device), where);
    std::vector<char> host_memory(on_host);
    for (std::int64_t k = 0; k < s.count; ++k) {
      char* const a = static_cast<char*>(s.a) + k * s.unknowns * s.unknowns * size_of(s.type);
      char* const x = static_cast<char*>(s.x) + k * s.unknowns * s.right_sides * size_of(s.type);
      check(cusolverDnXgetrf(handle, nullptr, s.unknowns, s.unknowns, type, a, s.unknowns,
                             pivots.at(), type, memory.at(), on_device, host_memory.data(), on_host,
                             info.at()),
            "cusolverDnXgetrf");
      check(cusolverDnXgetrs(handle, nullptr, CUBLAS_OP_T, s.unknowns, s.right_sides, type, a,
                             s.unknowns, pivots.at(), type, x, s.unknowns, info.at()),
            "cusolverDnXgetrs");
    }
  });
}

}  // namespace

void solve_on_gpu(const large_systems& s, const stream& on) {
  constexpr std::int64_t most_in_batch = 256, many = 1 << 30;
  const bool batch = s.unknowns <= most_in_batch && s.count < many;
  switch (s.type) {
    case dtype::float32:
      return batch ? solve_batch<float>(s, on) : solve_one_by_one(s, CUDA_R_32F, on);
    case dtype::float64:
      return batch ? solve_batch<double>(s, on) : solve_one_by_one(s, CUDA_R_64F, on);
    case dtype::complex64:
      return batch ? solve_batch<cuComplex>(s, on) : solve_one_by_one(s, CUDA_C_32F, on);
    default:
      return batch ? solve_batch<cuDoubleComplex>(s, on) : solve_one_by_one(s, CUDA_C_64F, on);
  }
}

}  // namespace dsl::detail

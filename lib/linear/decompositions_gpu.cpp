// Decompositions on a GPU, by cuSOLVER.
#include <cusolverDn.h>

#include <vector>

#include "cuda/calls.hpp"
#include "linear/decompositions.hpp"
#include "linear/gpu.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

namespace {

struct types_of_call { cudaDataType_t elements, real; };
types_of_call types_for(dtype type) {
  switch (type) {
    case dtype::float32: return {CUDA_R_32F, CUDA_R_32F};
    case dtype::float64: return {CUDA_R_64F, CUDA_R_64F};
    case dtype::complex64: return {CUDA_C_32F, CUDA_R_32F};
    default: return {CUDA_C_64F, CUDA_R_64F};
  }
}

// Memory of the pool for a call, and one status of each matrix.
struct working_memory {
  working_memory(std::size_t on_device, std::size_t on_host, std::int64_t statuses, device where)
      : bytes(on_device),
        memory(buffer_ref::allocate(on_device, where)),
        info(buffer_ref::allocate(static_cast<std::size_t>(statuses) * sizeof(int), where)),
        host(on_host) {}
  int* status(std::int64_t k) const { return static_cast<int*>(info.data()) + k; }
  std::size_t bytes;
  buffer_ref memory, info;
  std::vector<char> host;
};

char* matrix_at(void* first, std::int64_t k, std::int64_t elements, std::int64_t bytes) {
  return static_cast<char*>(first) + k * elements * bytes;
}

}  // namespace

void decompose_on_gpu(const cholesky_call& c, const stream& on) {
  const cudaDataType_t type = types_for(c.type).elements;
  with_cusolver(on, [&](cusolverDnHandle_t handle) {
    std::size_t on_device = 0, on_host = 0;
    check(cusolverDnXpotrf_bufferSize(handle, nullptr, CUBLAS_FILL_MODE_UPPER, c.size, type, c.a,
                                      c.size, type, &on_device, &on_host),
          "cusolverDnXpotrf_bufferSize");
    working_memory work(on_device, on_host, c.count, on.where());
    for (std::int64_t k = 0; k < c.count; ++k)
      check(cusolverDnXpotrf(handle, nullptr, CUBLAS_FILL_MODE_UPPER, c.size, type,
                             matrix_at(c.a, k, c.size * c.size, size_of(c.type)), c.size, type,
                             work.memory.data(), work.bytes, work.host.data(), work.host.size(),
                             work.status(k)),
            "cusolverDnXpotrf");
    finish_cholesky_on_gpu(c.type, c.a, c.size, c.count, work.status(0), cuda::native(on.native()));
  });
}

void decompose_on_gpu(const eigh_call& c, const stream& on) {
  const auto [type, real] = types_for(c.type);
  const int of_value = size_of(real_of(c.type));
  with_cusolver(on, [&, type = type, real = real](cusolverDnHandle_t handle) {
    std::size_t on_device = 0, on_host = 0;
    check(cusolverDnXsyevd_bufferSize(handle, nullptr, CUSOLVER_EIG_MODE_VECTOR,
                                      CUBLAS_FILL_MODE_UPPER, c.size, type, c.vectors, c.size, real,
                                      c.values, type, &on_device, &on_host),
          "cusolverDnXsyevd_bufferSize");
    working_memory work(on_device, on_host, c.count, on.where());
    for (std::int64_t k = 0; k < c.count; ++k)
      check(cusolverDnXsyevd(
                handle, nullptr, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, c.size, type,
                matrix_at(c.vectors, k, c.size * c.size, size_of(c.type)), c.size, real,
                matrix_at(c.values, k, c.size, of_value), type, work.memory.data(), work.bytes,
                work.host.data(), work.host.size(), work.status(k)),
            "cusolverDnXsyevd");
  });
}

// cuSOLVER's u is our vh, and the other way round.
void decompose_on_gpu(const svd_call& c, const stream& on) {
  const auto [type, real] = types_for(c.type);
  const int of_element = size_of(c.type), of_value = size_of(real_of(c.type));
  with_cusolver(on, [&, type = type, real = real](cusolverDnHandle_t handle) {
    std::size_t on_device = 0, on_host = 0;
    check(cusolverDnXgesvd_bufferSize(handle, nullptr, 'S', 'S', c.columns, c.rows, type, c.a,
                                      c.columns, real, c.s, type, c.vh, c.columns, type, c.u,
                                      c.rows, type, &on_device, &on_host),
          "cusolverDnXgesvd_bufferSize");
    working_memory work(on_device, on_host, c.count, on.where());
    for (std::int64_t k = 0; k < c.count; ++k)
      check(cusolverDnXgesvd(handle, nullptr, 'S', 'S', c.columns, c.rows, type,
                             matrix_at(c.a, k, c.rows * c.columns, of_element), c.columns, real,
                             matrix_at(c.s, k, c.rows, of_value), type,
                             matrix_at(c.vh, k, c.rows * c.columns, of_element), c.columns, type,
                             matrix_at(c.u, k, c.rows * c.rows, of_element), c.rows, type,
                             work.memory.data(), work.bytes, work.host.data(), work.host.size(),
                             work.status(k)),
            "cusolverDnXgesvd");
  });
}

}  // namespace dsl::detail

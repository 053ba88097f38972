// Decompositions on a GPU, by cuSOLVER.
#include <cusolverDn.h>

#include <cmath>
#include <limits>
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

// Memory of the pool for a call; and of each matrix one status, and whether it has a NaN.
struct working_memory {
  working_memory(std::size_t on_device, std::size_t on_host, std::int64_t matrices,
                 const stream& on)
      : bytes(on_device),
        count(matrices),
        memory(buffer_ref::allocate(on_device, on.where())),
        info(
            buffer_ref::allocate(static_cast<std::size_t>(2 * matrices) * sizeof(int), on.where())),
        host(on_host) {
    require_recordable(on, on_host);
  }
  int* status(std::int64_t k) const { return static_cast<int*>(info.data()) + k; }
  int* has_nan() const { return status(count); }
  std::size_t bytes;
  std::int64_t count;
  buffer_ref memory, info;
  std::vector<char> host;
};

// Makes the results of refused matrices NaN.
void refuse(const working_memory& work, dtype type, void* results, std::int64_t size,
            std::int64_t count, const stream& on) {
  refuse_on_gpu(type, results, size, count, work.status(0), work.has_nan(),
                cuda::native(on.native()));
}
void begin_svd(const svd_call& c, const working_memory& work, const stream& on) {
  find_nan_on_gpu(c.type, c.a, c.rows, c.columns, false, c.count, work.has_nan(),
                  cuda::native(on.native()));
}
void finish_svd(const svd_call& c, const working_memory& work, const stream& on) {
  refuse(work, real_of(c.type), c.s, c.rows, c.count, on);
  if (!c.has_vectors()) return;
  refuse(work, c.type, c.u, c.rows * c.rows, c.count, on);
  refuse(work, c.type, c.vh, c.rows * c.columns, c.count, on);
}

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
    working_memory work(on_device, on_host, c.count, on);
    for (std::int64_t k = 0; k < c.count; ++k)
      check(cusolverDnXpotrf(handle, nullptr, CUBLAS_FILL_MODE_UPPER, c.size, type,
                             matrix_at(c.a, k, c.size * c.size, size_of(c.type)), c.size, type,
                             work.memory.data(), work.bytes, work.host.data(), work.host.size(),
                             work.status(k)),
            "cusolverDnXpotrf");
    finish_cholesky_on_gpu(c.type, c.a, c.size, c.count, work.status(0), cuda::native(on.native()));
  });
}

namespace {

// cuSOLVER has a call for batches since CUDA 12.6's second update.
#if CUSOLVER_VERSION >= 11701
constexpr bool has_batches_of_eigh = true;
void eigh_of_batch(cusolverDnHandle_t handle, const eigh_call& c, working_memory& work) {
  const auto [type, real] = types_for(c.type);
  check(cusolverDnXsyevBatched(handle, nullptr, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER,
                               c.size, type, c.vectors, c.size, real, c.values, type,
                               work.memory.data(), work.bytes, work.host.data(), work.host.size(),
                               work.status(0), c.count),
        "cusolverDnXsyevBatched");
}
void size_of_batch(cusolverDnHandle_t handle, const eigh_call& c, std::size_t& on_device,
                   std::size_t& on_host) {
  const auto [type, real] = types_for(c.type);
  check(cusolverDnXsyevBatched_bufferSize(handle, nullptr, CUSOLVER_EIG_MODE_VECTOR,
                                          CUBLAS_FILL_MODE_UPPER, c.size, type, c.vectors, c.size,
                                          real, c.values, type, &on_device, &on_host, c.count),
        "cusolverDnXsyevBatched_bufferSize");
}
#else
constexpr bool has_batches_of_eigh = false;
void eigh_of_batch(cusolverDnHandle_t, const eigh_call&, working_memory&) {}
void size_of_batch(cusolverDnHandle_t, const eigh_call&, std::size_t&, std::size_t&) {}
#endif

void eigh_one_by_one(cusolverDnHandle_t handle, const eigh_call& c, working_memory& work) {
  const auto [type, real] = types_for(c.type);
  for (std::int64_t k = 0; k < c.count; ++k)
    check(cusolverDnXsyevd(handle, nullptr, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER,
                           c.size, type, matrix_at(c.vectors, k, c.size * c.size, size_of(c.type)),
                           c.size, real, matrix_at(c.values, k, c.size, size_of(real_of(c.type))),
                           type, work.memory.data(), work.bytes, work.host.data(), work.host.size(),
                           work.status(k)),
          "cusolverDnXsyevd");
}

// Jacobi's method for batches of small matrices.
#define DSL_SVD_BATCH(letter, T, Real)                                                             \
  cusolverStatus_t svd_batch_size(cusolverDnHandle_t handle, cusolverEigMode_t mode, int m, int n, \
                                  T* a, Real* s, T* u, T* v, int* elements, gesvdjInfo_t how,      \
                                  int count) {                                                     \
    return cusolverDn##letter##gesvdjBatched_bufferSize(handle, mode, m, n, a, m, s, u, m, v, n,   \
                                                        elements, how, count);                     \
  }                                                                                                \
  cusolverStatus_t svd_batch(cusolverDnHandle_t handle, cusolverEigMode_t mode, int m, int n,      \
                             T* a, Real* s, T* u, T* v, T* memory, int elements, int* status,      \
                             gesvdjInfo_t how, int count) {                                        \
    return cusolverDn##letter##gesvdjBatched(handle, mode, m, n, a, m, s, u, m, v, n, memory,      \
                                             elements, status, how, count);                        \
  }
DSL_SVD_BATCH(S, float, float)
DSL_SVD_BATCH(D, double, double)
DSL_SVD_BATCH(C, cuComplex, float)
DSL_SVD_BATCH(Z, cuDoubleComplex, double)
#undef DSL_SVD_BATCH

// How accurate the method is: as LAPACK's gesvj.
struct accuracy_of_svd {
  accuracy_of_svd(double epsilon, std::int64_t columns) {
    check(cusolverDnCreateGesvdjInfo(&how), "cusolverDnCreateGesvdjInfo");
    cusolverDnXgesvdjSetTolerance(how, epsilon * std::sqrt(static_cast<double>(columns)));
  }
  accuracy_of_svd(const accuracy_of_svd&) = delete;
  ~accuracy_of_svd() { cusolverDnDestroyGesvdjInfo(how); }
  gesvdjInfo_t how = nullptr;
};

template <class T, class Real>
void svd_of_batch(cusolverDnHandle_t handle, const svd_call& c, const stream& on) {
  const auto m = static_cast<int>(c.columns), n = static_cast<int>(c.rows),
             count = static_cast<int>(c.count);
  const auto mode = c.has_vectors() ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  const auto memory_for = [&](std::int64_t elements) {
    return buffer_ref::allocate(static_cast<std::size_t>(elements) * sizeof(T), on.where());
  };
  const buffer_ref all_u = memory_for(c.count * m * m), all_v = memory_for(c.count * n * n);
  auto *const a = static_cast<T*>(c.a), *const u = static_cast<T*>(all_u.data()),
              *const v = static_cast<T*>(all_v.data());
  auto* const s = static_cast<Real*>(c.s);
  const accuracy_of_svd accuracy(std::numeric_limits<Real>::epsilon(), c.columns);
  int elements = 0;
  check(svd_batch_size(handle, mode, m, n, a, s, u, v, &elements, accuracy.how, count),
        "cusolverDnGesvdjBatched_bufferSize");
  working_memory work(static_cast<std::size_t>(elements) * sizeof(T), 0, c.count, on);
  begin_svd(c, work, on);
  check(svd_batch(handle, mode, m, n, a, s, u, v, static_cast<T*>(work.memory.data()), elements,
                  work.status(0), accuracy.how, count),
        "cusolverDnGesvdjBatched");
  if (c.has_vectors())
    finish_svd_on_gpu(c.type, u, v, c.u, c.vh, c.rows, c.columns, c.count,
                      cuda::native(on.native()));
  finish_svd(c, work, on);
}

// cuSOLVER's u is our vh, and the other way round.
void svd_one_by_one(cusolverDnHandle_t handle, const svd_call& c, const stream& on) {
  const auto [type, real] = types_for(c.type);
  const int of_element = size_of(c.type), of_value = size_of(real_of(c.type));
  const signed char job = c.has_vectors() ? 'S' : 'N';
  std::size_t on_device = 0, on_host = 0;
  check(cusolverDnXgesvd_bufferSize(handle, nullptr, job, job, c.columns, c.rows, type, c.a,
                                    c.columns, real, c.s, type, c.vh, c.columns, type, c.u, c.rows,
                                    type, &on_device, &on_host),
        "cusolverDnXgesvd_bufferSize");
  working_memory work(on_device, on_host, c.count, on);
  begin_svd(c, work, on);
  const auto vectors_at = [&](void* first, std::int64_t k, std::int64_t elements) -> void* {
    return c.has_vectors() ? matrix_at(first, k, elements, of_element) : nullptr;
  };
  for (std::int64_t k = 0; k < c.count; ++k)
    check(cusolverDnXgesvd(handle, nullptr, job, job, c.columns, c.rows, type,
                           matrix_at(c.a, k, c.rows * c.columns, of_element), c.columns, real,
                           matrix_at(c.s, k, c.rows, of_value), type,
                           vectors_at(c.vh, k, c.rows * c.columns), c.columns, type,
                           vectors_at(c.u, k, c.rows * c.rows), c.rows, type, work.memory.data(),
                           work.bytes, work.host.data(), work.host.size(), work.status(k)),
          "cusolverDnXgesvd");
  finish_svd(c, work, on);
}

}  // namespace

void decompose_on_gpu(const eigh_call& c, const stream& on) {
  const auto [type, real] = types_for(c.type);
  with_cusolver(on, [&, type = type, real = real](cusolverDnHandle_t handle) {
    // Of larger matrices a call for each is faster.
    constexpr std::int64_t largest = 256;
    const bool is_batch = has_batches_of_eigh && c.count > 1 && c.size <= largest;
    std::size_t on_device = 0, on_host = 0;
    if (is_batch) size_of_batch(handle, c, on_device, on_host);
    else
      check(cusolverDnXsyevd_bufferSize(handle, nullptr, CUSOLVER_EIG_MODE_VECTOR,
                                        CUBLAS_FILL_MODE_UPPER, c.size, type, c.vectors, c.size,
                                        real, c.values, type, &on_device, &on_host),
            "cusolverDnXsyevd_bufferSize");
    working_memory work(on_device, on_host, c.count, on);
    find_nan_on_gpu(c.type, c.vectors, c.size, c.size, true, c.count, work.has_nan(),
                    cuda::native(on.native()));
    if (is_batch) eigh_of_batch(handle, c, work);
    else eigh_one_by_one(handle, c, work);
    refuse(work, real_of(c.type), c.values, c.size, c.count, on);
    refuse(work, c.type, c.vectors, c.size * c.size, c.count, on);
  });
}

void decompose_on_gpu(const svd_call& c, const stream& on) {
  // What the call for batches takes.
  constexpr std::int64_t largest = 32, many = 1 << 30;
  const bool is_batch = c.count > 1 && c.count < many && c.columns <= largest;
  with_cusolver(on, [&](cusolverDnHandle_t handle) {
    if (!is_batch) return svd_one_by_one(handle, c, on);
    switch (c.type) {
      case dtype::float32: return svd_of_batch<float, float>(handle, c, on);
      case dtype::float64: return svd_of_batch<double, double>(handle, c, on);
      case dtype::complex64: return svd_of_batch<cuComplex, float>(handle, c, on);
      default: return svd_of_batch<cuDoubleComplex, double>(handle, c, on);
    }
  });
}

}  // namespace dsl::detail

// Products of matrices and systems of equations, beside cuBLAS called by hand with a handle that is
// kept and arrays that are there, and beside a copy of as many bytes. Prints a table.
//
// usage: bench_linear
#include <cublas_v2.h>

#include <dsl/linear.hpp>

#include <complex>
#include <cstdio>
#include <string>

#include "timed.hpp"

namespace {

using std::int64_t;
using namespace std::complex_literals;

template <class T, int Rank>
dsl::array<T, Rank> filled(const dsl::extents<Rank>& shape) {
  int64_t size = 1;
  for (const int64_t n : shape) size *= n;
  return dsl::array<T, Rank>(dsl::reshape(
      dsl::eval(dsl::cast<T>(sin(dsl::cast<double>(dsl::arange<int64_t>(size) * 7919 % 1021)))),
      shape));
}

cublasHandle_t handle() {
  static const cublasHandle_t made = [] {
    cublasHandle_t h = nullptr;
    cublasCreate(&h);
    return h;
  }();
  return made;
}

template <class T>
void products(const char* dtype, cudaDataType_t type, cublasComputeType_t compute, int64_t n,
              int64_t m, int64_t count = 1) {
  const auto a = filled<T, 3>({count, n, n}), b = filled<T, 3>({count, n, m});
  dsl::array<T, 3> c(count, n, m);
  const std::complex<double> one{1}, zero{0};
  const std::complex<float> narrow_one{1}, narrow_zero{0};
  const void *const times = compute == CUBLAS_COMPUTE_64F ? static_cast<const void*>(&one)
                                                          : &narrow_one,
                    *const plus = compute == CUBLAS_COMPUTE_64F ? static_cast<const void*>(&zero)
                                                                : &narrow_zero;
  const double by_hand = milliseconds([&] {
    cublasGemmStridedBatchedEx_64(handle(), CUBLAS_OP_N, CUBLAS_OP_N, m, n, n, times, b.data(),
                                  type, m, n * m, a.data(), type, n, n * n, plus, c.data(), type, m,
                                  n * m, count, compute, CUBLAS_GEMM_DEFAULT);
  });
  const std::string what = std::to_string(count) + " x (" + std::to_string(n) + ", " +
                           std::to_string(n) + ") (" + std::to_string(n) + ", " +
                           std::to_string(m) + ") " + dtype;
  print(what, "cuBLAS", by_hand, by_hand);
  print(what, "dsl::matmul", milliseconds([&] { c = dsl::matmul(a, b); }), by_hand);
}

template <class T>
void systems(const char* dtype, int64_t unknowns, int64_t count) {
  const auto noise = filled<T, 3>({count, unknowns, unknowns});
  const dsl::array<T, 3> a =
      where(dsl::index(1, count, unknowns, unknowns) == dsl::index(2, count, unknowns, unknowns),
            noise + T(4), noise);
  const auto b = filled<T, 2>({count, unknowns});
  dsl::array<T, 2> x(count, unknowns);
  // As many bytes: half of them read, half written.
  const int64_t elements = count * (unknowns * unknowns + 2 * unknowns) / 2;
  const auto from = filled<T, 1>({elements});
  dsl::array<T> to(elements);
  const double copied = milliseconds([&] { to = from; });
  const std::string what =
      std::to_string(count) + " systems of " + std::to_string(unknowns) + " unknowns, " + dtype;
  print(what, "a copy of as many bytes", copied, copied);
  print(what, "dsl::solve", milliseconds([&] { x = dsl::solve(a, b); }), copied);
}

}  // namespace

int main() {
  std::printf("| what | by | ms | speed beside the first |\n| --- | --- | --- | --- |\n");
  products<float>("float", CUDA_R_32F, CUBLAS_COMPUTE_32F, 4096, 4096);
  products<double>("double", CUDA_R_64F, CUBLAS_COMPUTE_64F, 4096, 4096);
  products<double>("double", CUDA_R_64F, CUBLAS_COMPUTE_64F, 4097, 4097);
  products<std::complex<double>>("complex128", CUDA_C_64F, CUBLAS_COMPUTE_64F, 1024, 1024);
  products<dsl::half>("half", CUDA_R_16F, CUBLAS_COMPUTE_32F, 8192, 8192);
  products<float>("float", CUDA_R_32F, CUBLAS_COMPUTE_32F, 8192, 1);
  products<float>("float", CUDA_R_32F, CUBLAS_COMPUTE_32F, 16, 16, 100000);
  products<double>("double", CUDA_R_64F, CUBLAS_COMPUTE_64F, 128, 128);
  for (const int64_t n : {2, 3, 4, 6, 8}) systems<double>("double", n, 1000000);
  systems<double>("double", 3, 1000003);
  systems<float>("float", 3, 1000000);
  systems<float>("float", 8, 1000000);
  systems<std::complex<double>>("complex128", 4, 1000000);
  systems<double>("double", 32, 10000);
}

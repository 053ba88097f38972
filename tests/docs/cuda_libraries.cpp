// docs/interoperability.md's example with cuFFT and cuBLAS.
#include <cublas_v2.h>
#include <cufft.h>

#include <complex>
#include <cstdio>

#include <dsl/dsl.hpp>

int main() {
  constexpr int n = 64;
  cufftHandle transform;
  cublasHandle_t blas;
  if (cufftPlan1d(&transform, n, CUFFT_C2C, 1) != CUFFT_SUCCESS ||
      cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS) {
    std::puts("there is no plan or no handle");
    return 1;
  }
  dsl::array<std::complex<float>> z = dsl::ones<std::complex<float>>(n);
  const dsl::array<float> window = dsl::full<float>(0.5f, n);
  dsl::array<float> power;
  dsl::array<float, 2> a = dsl::reshape(dsl::arange<float>(n * n), n, n),
                       b = dsl::full<float>(2, n, n), c(n, n);
#include <docs/interoperability/cufft-and-cublas.inc>
  // A constant's transform is its sum at frequency 0; b - 1 is 1 everywhere, so each element of a
  // row of c is twice that row's sum.
  const dsl::array<float> sums =
      dsl::sum(dsl::reshape(dsl::arange<float>(n * n), n, n), dsl::axis(1));
  const bool right = power(0).value() == n / 4.0f && dsl::sum(power).value() == n / 4.0f &&
                     dsl::all(c == 2 * dsl::expand_dims(sums, 1) + 1).value();
  cufftDestroy(transform);
  cublasDestroy(blas);
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}

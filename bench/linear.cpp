// Products of matrices beside cuBLAS called by hand with a handle that is kept and arrays that are
// there, systems of equations beside a copy of as many bytes, and batches of decompositions beside
// a call of cuSOLVER for each matrix. Prints a table.
//
// usage: bench_linear
#include <cublas_v2.h>
#include <cusolverDn.h>

#include <dsl/linear.hpp>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

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
  alignas(16) const std::complex<double> one{1}, zero{0};
  alignas(8) const std::complex<float> narrow_one{1}, narrow_zero{0};
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

// C += 0.5 * A B, and a product of a conjugated transpose.
void accumulated(int64_t n, int64_t m) {
  const auto a = filled<double, 2>({n, n}), b = filled<double, 2>({n, m});
  dsl::array<double, 2> c = dsl::zeros<double>(n, m);
  const double times = 0.5, plus = 1;
  const double by_hand = milliseconds([&] {
    cublasDgemm_64(handle(), CUBLAS_OP_N, CUBLAS_OP_N, m, n, n, &times, b.data(), m, a.data(), n,
                   &plus, c.data(), m);
  });
  const std::string what = "c += 0.5 * (" + std::to_string(n) + ", " + std::to_string(n) + ") (" +
                           std::to_string(n) + ", " + std::to_string(m) + "), double";
  print(what, "cuBLAS", by_hand, by_hand);
  print(what, "dsl::matmul", milliseconds([&] { c += 0.5 * dsl::matmul(a, b); }), by_hand);
}
void conjugated(int64_t n) {
  using T = std::complex<double>;
  const dsl::array<T, 2> a = filled<double, 2>({n, n}) + 1i, b = filled<double, 2>({n, n}) - 1i;
  dsl::array<T, 2> c(n, n);
  const cuDoubleComplex one{1, 0}, zero{0, 0};
  const auto at = [](const dsl::array<T, 2>& x) {
    return reinterpret_cast<const cuDoubleComplex*>(x.data());
  };
  const double by_hand = milliseconds([&] {
    cublasZgemm_64(handle(), CUBLAS_OP_N, CUBLAS_OP_C, n, n, n, &one, at(b), n, at(a), n, &zero,
                   reinterpret_cast<cuDoubleComplex*>(c.data()), n);
  });
  const std::string what = "conj(transpose(a)) b of " + std::to_string(n) + ", complex128";
  print(what, "cuBLAS", by_hand, by_hand);
  print(what, "dsl::matmul", milliseconds([&] { c = dsl::matmul(conj(dsl::transpose(a)), b); }),
        by_hand);
}

// A call of cuSOLVER for each matrix, which overwrites it: so each call begins with a copy, as
// dsl's does.
struct solver {
  explicit solver(int64_t n) : size(n) {
    cusolverDnCreate(&handle);
    std::size_t of_eigh = 0, of_svd = 0, eigh_on_host = 0, svd_on_host = 0;
    cusolverDnXsyevd_bufferSize(handle, nullptr, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER,
                                n, CUDA_R_64F, nullptr, n, CUDA_R_64F, nullptr, CUDA_R_64F,
                                &of_eigh, &eigh_on_host);
    cusolverDnXgesvd_bufferSize(handle, nullptr, 'S', 'S', n, n, CUDA_R_64F, nullptr, n, CUDA_R_64F,
                                nullptr, CUDA_R_64F, nullptr, n, CUDA_R_64F, nullptr, n, CUDA_R_64F,
                                &of_svd, &svd_on_host);
    memory = dsl::array<std::uint8_t>(static_cast<int64_t>(std::max(of_eigh, of_svd)));
    on_host.resize(std::max(eigh_on_host, svd_on_host));
  }
  ~solver() { cusolverDnDestroy(handle); }
  void eigh(double* a, double* values) {
    cusolverDnXsyevd(handle, nullptr, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, size,
                     CUDA_R_64F, a, size, CUDA_R_64F, values, CUDA_R_64F, memory.data(),
                     static_cast<std::size_t>(memory.size()), on_host.data(), on_host.size(),
                     status.data());
  }
  void svd(double* a, double* s, double* u, double* vt) {
    cusolverDnXgesvd(handle, nullptr, 'S', 'S', size, size, CUDA_R_64F, a, size, CUDA_R_64F, s,
                     CUDA_R_64F, u, size, CUDA_R_64F, vt, size, CUDA_R_64F, memory.data(),
                     static_cast<std::size_t>(memory.size()), on_host.data(), on_host.size(),
                     status.data());
  }
  cusolverDnHandle_t handle = nullptr;
  int64_t size;
  dsl::array<std::uint8_t> memory;
  dsl::array<int> status{1};
  std::vector<char> on_host;
};

void decompositions(int64_t n, int64_t count) {
  const auto a = filled<double, 3>({count, n, n});
  dsl::array<double, 3> copy(count, n, n), u(count, n, n), vh(count, n, n);
  dsl::array<double, 2> s(count, n);
  solver by_hand(n);
  const auto each = [&](const auto& decompose) {
    return milliseconds([&] {
      copy = a;
      for (int64_t k = 0; k < count; ++k)
        decompose(copy.data() + k * n * n, s.data() + k * n, u.data() + k * n * n,
                  vh.data() + k * n * n);
    });
  };
  const std::string what =
      std::to_string(count) + " matrices of " + std::to_string(n) + " x " + std::to_string(n);
  const double eigh =
      each([&](double* at, double* values, double*, double*) { by_hand.eigh(at, values); });
  print("eigh of " + what, "a call for each", eigh, eigh);
  print("eigh of " + what, "dsl::eigh", milliseconds([&] { dsl::eigh(a); }), eigh);
  const double svd = each([&](double* at, double* values, double* left, double* right) {
    by_hand.svd(at, values, left, right);
  });
  print("svd of " + what, "a call for each", svd, svd);
  print("svd of " + what, "dsl::svd", milliseconds([&] { dsl::svd(a); }), svd);
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

/// Systems of 3 unknowns inside a formula, whose elements are rows of arrays (12, count).
void systems_in_formulas(int64_t count) {
  const auto noise = filled<double, 2>({12, count});
  const auto at = dsl::index(0, 12, count);
  const dsl::array<double, 2> a = where((at < 9) & (at % 4 == 0), noise + 4.0, noise);
  dsl::array<double> x(count), y(count), z(count);
  const auto from = filled<double, 1>({count * 15 / 2});
  dsl::array<double> to(count * 15 / 2);
  const double copied = milliseconds([&] { to = from; });
  const auto row = [&a](int k) { return a(k, dsl::slice()); };
  const std::string what =
      std::to_string(count) + " systems of 3 unknowns inside a formula, double";
  print(what, "a copy of as many bytes", copied, copied);
  print(what, "dsl::solve", milliseconds([&] {
          dsl::tie(x, y, z) =
              dsl::vectorize([](auto a00, auto a01, auto a02, auto a10, auto a11, auto a12,
                                auto a20, auto a21, auto a22, auto u, auto v, auto w) {
                const auto s =
                    dsl::solve(std::array{std::array{a00, a01, a02}, std::array{a10, a11, a12},
                                          std::array{a20, a21, a22}},
                               std::array{u, v, w});
                return std::tuple(s[0], s[1], s[2]);
              })(row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7), row(8), row(9),
                 row(10), row(11));
        }),
        copied);
}

/// A density matrix's steps, beside the same statement in a C++ loop.
void steps_of_a_loop(int64_t n, int steps) {
  using T = std::complex<double>;
  const dsl::array<T, 2> h = filled<double, 2>({n, n}) + 1i;
  dsl::array<T, 2> rho = filled<double, 2>({n, n}) - 1i;
  const auto step = [](const auto& r, const auto& hamiltonian, double dt) {
    return r - 1i * dt * (dsl::matmul(hamiltonian, r) - dsl::matmul(r, hamiltonian));
  };
  const std::string what = std::to_string(steps) + " steps of rho - i dt (H rho - rho H), " +
                           std::to_string(n) + " x " + std::to_string(n) + " complex128";
  const double one_by_one = milliseconds([&] {
    for (int k = 0; k < steps; ++k) rho = step(rho, h, 1e-9);
  });
  print(what, "a C++ loop", one_by_one, one_by_one);
  print(what, "dsl::iterate",
        milliseconds([&] { dsl::iterate(steps, dsl::statement(step), dsl::state(rho), h, 1e-9); }),
        one_by_one);
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
  accumulated(4096, 4096);
  accumulated(4096, 64);
  conjugated(1024);
  decompositions(4, 10000);
  decompositions(16, 1000);
  decompositions(32, 1000);
  decompositions(64, 100);
  decompositions(128, 32);
  decompositions(256, 8);
  decompositions(512, 4);
  for (const int64_t n : {2, 3, 4, 6, 8}) systems<double>("double", n, 1000000);
  systems<double>("double", 3, 1000003);
  systems_in_formulas(1000000);
  systems_in_formulas(1000003);
  systems<float>("float", 3, 1000000);
  systems<float>("float", 8, 1000000);
  systems<std::complex<double>>("complex128", 4, 1000000);
  systems<double>("double", 32, 10000);
  for (const int64_t n : {16, 64, 256}) steps_of_a_loop(n, 1000);
}

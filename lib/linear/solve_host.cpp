// Systems of equations on the host: small ones unrolled, larger ones by LAPACK.
#include <complex>
#include <vector>

#include "linear/lapack.hpp"
#include "linear/small_systems.hpp"
#include "linear/systems.hpp"

namespace dsl::detail {

template <class T>
void solve_small_on_host(const small_systems<T>& all, std::int64_t unknowns) {
  with_unknowns(unknowns, [&](auto n) {
    constexpr int N = n;
    constexpr std::int64_t grain = 4096 / (N * N);
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, all.count, grain),
                      [&](const tbb::blocked_range<std::int64_t>& some) {
                        for (std::int64_t k = some.begin(); k != some.end(); ++k) {
                          small_factors<T, N> factors;
                          const T* const a = all.a + k * all.next_a;
                          for (int i = 0; i < N; ++i)
                            for (int j = 0; j < N; ++j) factors.lu[i][j] = a[i * N + j];
                          factors.factorize();
                          factors.solve_all(all.b + k * all.next_b, all.x + k * N * all.right_sides,
                                            all.right_sides);
                        }
                      });
  });
}
template void solve_small_on_host(const small_systems<float>&, std::int64_t);
template void solve_small_on_host(const small_systems<double>&, std::int64_t);
template void solve_small_on_host(const small_systems<dsl::complex<float>>&, std::int64_t);
template void solve_small_on_host(const small_systems<dsl::complex<double>>&, std::int64_t);

namespace {

// LAPACKE's other functions refuse matrices with NaN.
lapack_int factorize(lapack_int n, float* a, lapack_int* pivots) {
  return LAPACKE_sgetrf_work(LAPACK_COL_MAJOR, n, n, a, n, pivots);
}
lapack_int factorize(lapack_int n, double* a, lapack_int* pivots) {
  return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, a, n, pivots);
}
lapack_int factorize(lapack_int n, std::complex<float>* a, lapack_int* pivots) {
  return LAPACKE_cgetrf_work(LAPACK_COL_MAJOR, n, n, a, n, pivots);
}
lapack_int factorize(lapack_int n, std::complex<double>* a, lapack_int* pivots) {
  return LAPACKE_zgetrf_work(LAPACK_COL_MAJOR, n, n, a, n, pivots);
}
lapack_int solve(lapack_int n, lapack_int m, const float* a, const lapack_int* pivots, float* x) {
  return LAPACKE_sgetrs_work(LAPACK_COL_MAJOR, 'T', n, m, a, n, pivots, x, n);
}
lapack_int solve(lapack_int n, lapack_int m, const double* a, const lapack_int* pivots, double* x) {
  return LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', n, m, a, n, pivots, x, n);
}
lapack_int solve(lapack_int n, lapack_int m, const std::complex<float>* a, const lapack_int* pivots,
                 std::complex<float>* x) {
  return LAPACKE_cgetrs_work(LAPACK_COL_MAJOR, 'T', n, m, a, n, pivots, x, n);
}
lapack_int solve(lapack_int n, lapack_int m, const std::complex<double>* a,
                 const lapack_int* pivots, std::complex<double>* x) {
  return LAPACKE_zgetrs_work(LAPACK_COL_MAJOR, 'T', n, m, a, n, pivots, x, n);
}

template <class T>
void solve_all(const large_systems& s) {
  const auto n = static_cast<lapack_int>(s.unknowns), m = static_cast<lapack_int>(s.right_sides);
  for_all_matrices(s.count, s.unknowns, [&](std::int64_t k) {
    T* const a = static_cast<T*>(s.a) + k * s.unknowns * s.unknowns;
    std::vector<lapack_int> pivots(static_cast<std::size_t>(n));
    // With a pivot that is zero the solution gets infinities and NaN.
    factorize(n, a, pivots.data());
    return solve(n, m, a, pivots.data(), static_cast<T*>(s.x) + k * s.unknowns * s.right_sides);
  });
}

}  // namespace

void solve_on_host(const large_systems& s) {
  switch (s.type) {
    case dtype::float32: return solve_all<float>(s);
    case dtype::float64: return solve_all<double>(s);
    case dtype::complex64: return solve_all<std::complex<float>>(s);
    default: return solve_all<std::complex<double>>(s);
  }
}

}  // namespace dsl::detail

// Decompositions on the host, by LAPACK.
#include <algorithm>
#include <complex>
#include <limits>

#include "linear/decompositions.hpp"
#include "linear/lapack.hpp"

namespace dsl::detail {

namespace {

lapack_int cholesky(lapack_int n, float* a) {
  return LAPACKE_spotrf(LAPACK_COL_MAJOR, 'U', n, a, n);
}
lapack_int eigh(lapack_int n, float* a, float* w) {
  return LAPACKE_ssyevd(LAPACK_COL_MAJOR, 'V', 'U', n, a, n, w);
}
lapack_int svd(char job, lapack_int m, lapack_int n, float* a, float* s, float* u, float* vt) {
  return LAPACKE_sgesdd(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, m, vt, n);
}
lapack_int cholesky(lapack_int n, double* a) {
  return LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', n, a, n);
}
lapack_int eigh(lapack_int n, double* a, double* w) {
  return LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'U', n, a, n, w);
}
lapack_int svd(char job, lapack_int m, lapack_int n, double* a, double* s, double* u, double* vt) {
  return LAPACKE_dgesdd(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, m, vt, n);
}
lapack_int cholesky(lapack_int n, std::complex<float>* a) {
  return LAPACKE_cpotrf(LAPACK_COL_MAJOR, 'U', n, a, n);
}
lapack_int eigh(lapack_int n, std::complex<float>* a, float* w) {
  return LAPACKE_cheevd(LAPACK_COL_MAJOR, 'V', 'U', n, a, n, w);
}
lapack_int svd(char job, lapack_int m, lapack_int n, std::complex<float>* a, float* s,
               std::complex<float>* u, std::complex<float>* vt) {
  return LAPACKE_cgesdd(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, m, vt, n);
}
lapack_int cholesky(lapack_int n, std::complex<double>* a) {
  return LAPACKE_zpotrf(LAPACK_COL_MAJOR, 'U', n, a, n);
}
lapack_int eigh(lapack_int n, std::complex<double>* a, double* w) {
  return LAPACKE_zheevd(LAPACK_COL_MAJOR, 'V', 'U', n, a, n, w);
}
lapack_int svd(char job, lapack_int m, lapack_int n, std::complex<double>* a, double* s,
               std::complex<double>* u, std::complex<double>* vt) {
  return LAPACKE_zgesdd(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, m, vt, n);
}

template <class T>
constexpr T nan_of() {
  if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::quiet_NaN();
  else
    return T(std::numeric_limits<typename T::value_type>::quiet_NaN(),
             std::numeric_limits<typename T::value_type>::quiet_NaN());
}

template <class T>
void decompose(const cholesky_call& c) {
  for_all_matrices(c.count, c.size, [&](std::int64_t k) {
    T* const a = static_cast<T*>(c.a) + k * c.size * c.size;
    const lapack_int status = cholesky(static_cast<lapack_int>(c.size), a);
    if (status != 0) std::fill_n(a, c.size * c.size, nan_of<T>());
    for (std::int64_t i = 0; i < c.size; ++i)
      std::fill(a + i * c.size + i + 1, a + (i + 1) * c.size, status != 0 ? nan_of<T>() : T{});
    return status;
  });
}
template <class T, class Real>
void decompose(const eigh_call& c) {
  for_all_matrices(c.count, c.size, [&](std::int64_t k) {
    T* const a = static_cast<T*>(c.vectors) + k * c.size * c.size;
    Real* const w = static_cast<Real*>(c.values) + k * c.size;
    const lapack_int status = eigh(static_cast<lapack_int>(c.size), a, w);
    if (status != 0) {
      std::fill_n(a, c.size * c.size, nan_of<T>());
      std::fill_n(w, c.size, nan_of<Real>());
    }
    return status;
  });
}
template <class T, class Real>
void decompose(const svd_call& c) {
  for_all_matrices(c.count, c.rows, [&](std::int64_t k) {
    T* const u = c.has_vectors() ? static_cast<T*>(c.u) + k * c.rows * c.rows : nullptr;
    T* const vh = c.has_vectors() ? static_cast<T*>(c.vh) + k * c.rows * c.columns : nullptr;
    Real* const s = static_cast<Real*>(c.s) + k * c.rows;
    // Its u is our vh, and the other way round.
    const lapack_int status = svd(c.has_vectors() ? 'S' : 'N', static_cast<lapack_int>(c.columns),
                                  static_cast<lapack_int>(c.rows),
                                  static_cast<T*>(c.a) + k * c.rows * c.columns, s, vh, u);
    if (status != 0) {
      std::fill_n(s, c.rows, nan_of<Real>());
      if (c.has_vectors()) {
        std::fill_n(u, c.rows * c.rows, nan_of<T>());
        std::fill_n(vh, c.rows * c.columns, nan_of<T>());
      }
    }
    return status;
  });
}

}  // namespace

void decompose_on_host(const cholesky_call& c) {
  switch (c.type) {
    case dtype::float32: return decompose<float>(c);
    case dtype::float64: return decompose<double>(c);
    case dtype::complex64: return decompose<std::complex<float>>(c);
    default: return decompose<std::complex<double>>(c);
  }
}
void decompose_on_host(const eigh_call& c) {
  switch (c.type) {
    case dtype::float32: return decompose<float, float>(c);
    case dtype::float64: return decompose<double, double>(c);
    case dtype::complex64: return decompose<std::complex<float>, float>(c);
    default: return decompose<std::complex<double>, double>(c);
  }
}
void decompose_on_host(const svd_call& c) {
  switch (c.type) {
    case dtype::float32: return decompose<float, float>(c);
    case dtype::float64: return decompose<double, double>(c);
    case dtype::complex64: return decompose<std::complex<float>, float>(c);
    default: return decompose<std::complex<double>, double>(c);
  }
}

}  // namespace dsl::detail

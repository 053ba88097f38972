// Errors of functions, measured against the C library's long double for float and libquadmath for
// double.
#pragma once

#include <dsl/ir/op.hpp>

#include <complex>
#include <cstddef>

namespace accuracy {

/// The largest error and its arguments. Unit: the last place of the exact value; for complex
/// functions epsilon * |value|. Infinite if exactly one of the two values is NaN.
struct worst {
  double error = 0;
  std::size_t at = 0;
};

/// Compares `got[i]` with the function of x[i], y[i], z[i]; operands that the function does not
/// have are not read. Errors up to `absolute` count as 0. Throws std::invalid_argument for a
/// function without a reference.
worst measure(dsl::op code, std::size_t n, const float* x, const float* y, const float* z,
              const float* got, double absolute);
worst measure(dsl::op code, std::size_t n, const double* x, const double* y, const double* z,
              const double* got, double absolute);
worst measure(dsl::op code, std::size_t n, const std::complex<float>* x,
              const std::complex<float>* y, const std::complex<float>* got);
worst measure(dsl::op code, std::size_t n, const std::complex<double>* x,
              const std::complex<double>* y, const std::complex<double>* got);

}  // namespace accuracy

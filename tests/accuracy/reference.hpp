// Errors of functions, against the C library's long double for float and against libquadmath for
// double.
#pragma once

#include <dsl/ir/op.hpp>

#include <complex>
#include <cstddef>

namespace accuracy {

/// The largest error over some arguments, and where it was: in units in the last place of the exact
/// value; of a complex function in epsilons, relative to |value|. Infinite where only one of the
/// two is NaN.
struct worst {
  double error = 0;
  std::size_t at = 0;
};

/// `got[i]` against the function of x[i], y[i], z[i]; what a function of fewer operands does not
/// need is not read. Errors of no more than `absolute` count as none. Throws std::invalid_argument
/// for a function that has no reference.
worst measure(dsl::op code, std::size_t n, const float* x, const float* y, const float* z,
              const float* got, double absolute);
worst measure(dsl::op code, std::size_t n, const double* x, const double* y, const double* z,
              const double* got, double absolute);
worst measure(dsl::op code, std::size_t n, const std::complex<float>* x,
              const std::complex<float>* y, const std::complex<float>* got);
worst measure(dsl::op code, std::size_t n, const std::complex<double>* x,
              const std::complex<double>* y, const std::complex<double>* got);

}  // namespace accuracy

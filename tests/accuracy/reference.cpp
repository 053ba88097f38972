// Needs GCC, for __float128.
#include "reference.hpp"

#include <quadmath.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace accuracy {

namespace {

using quad = __float128;

// One name for both precisions.
#define UNARY(name)                                        \
  long double name(long double x) { return std::name(x); } \
  quad name(quad x) { return ::name##q(x); }
#define BINARY(name)                                                         \
  long double name(long double x, long double y) { return std::name(x, y); } \
  quad name(quad x, quad y) { return ::name##q(x, y); }
UNARY(exp)
UNARY(exp2)
UNARY(expm1)
UNARY(log)
UNARY(log2)
UNARY(log10)
UNARY(log1p)
UNARY(sqrt)
UNARY(cbrt)
UNARY(sin)
UNARY(cos)
UNARY(tan)
UNARY(asin)
UNARY(acos)
UNARY(atan)
UNARY(sinh)
UNARY(cosh)
UNARY(tanh)
UNARY(asinh)
UNARY(acosh)
UNARY(atanh)
UNARY(erf)
UNARY(erfc)
UNARY(tgamma)
UNARY(lgamma)
UNARY(fabs)
UNARY(rint)
BINARY(pow)
BINARY(atan2)
BINARY(hypot)
BINARY(fmod)
#undef UNARY
#undef BINARY

bool is_nan(quad x) { return x != x; }

template <class W> const W pi = static_cast<W>(M_PIq);
template <class W> const W log_of_2 = static_cast<W>(M_LN2q);
template <class W> const W nan = static_cast<W>(std::numeric_limits<double>::quiet_NaN());
template <class W> const W infinity = static_cast<W>(std::numeric_limits<double>::infinity());

// Reduces the argument to [-1, 1] without rounding; the only root of the sine that remains close is
// 0.
template <class W> W period(W x) { return x - 2 * rint(x / 2); }
template <class W> W sinpi(W x) {
  if (fabs(x) == infinity<W>) return nan<W>;
  const W y = period(x), size = fabs(y), s = sin(pi<W> * (size > W(0.5) ? 1 - size : size));
  return y < 0 ? -s : s;
}
template <class W> W cospi(W x) {
  return fabs(x) == infinity<W> ? nan<W> : sin(pi<W> * (W(0.5) - fabs(period(x))));
}

// Newton's method. Beyond 1/2 it solves log(erfc(y)) = log(1 - x), which converges from the left
// for any start.
template <class W> W erfinv(W x) {
  const W size = fabs(x), root_pi = sqrt(pi<W>);
  if (!(size <= 1)) return nan<W>;
  if (size == 1) return x * infinity<W>;
  W y = 0;
  if (size <= W(0.5)) {
    y = size * root_pi / 2;
    for (int i = 0; i < 7; ++i) y -= (erf(y) - size) * root_pi / 2 * exp(y * y);
  } else {
    const W target = log(1 - size);
    for (int i = 0; i < 14; ++i) {
      const W c = erfc(y), step = (log(c) - target) * c * root_pi / 2 * exp(y * y);
      y += step;
      if (fabs(step) < y * std::numeric_limits<double>::epsilon() * W(1e-20)) break;
    }
  }
  return x < 0 ? -y : y;
}

// A modified Bessel function of order 0 or 1 by its power series, whose terms are positive; from 60
// on by the asymptotic series (Abramowitz and Stegun 9.7.1), accurate to e^-120 there.
template <class W> W bessel_i(int order, W x) {
  const W size = fabs(x);
  if (size == infinity<W>) return order == 0 ? size : x;
  W sum = 1, term = 1;
  if (size < 60) {
    for (int k = 1; k < 400 && term > sum * W(1e-36); ++k) {
      term *= size / (2 * k) * (size / (2 * (k + order)));
      sum += term;
    }
    return order == 0 ? sum : sum * x / 2;
  }
  for (int k = 1; k < 60 && fabs(term) > W(1e-36); ++k) {
    term *= W((2 * k - 1) * (2 * k - 1) - 4 * order) / (8 * size * k);
    sum += term;
  }
  const W value = exp(size) / sqrt(2 * pi<W> * size) * sum;
  return order == 1 && x < 0 ? -value : value;
}

// Below 0 by reflection; up to 40 by recurrence; from there on by the asymptotic series (Abramowitz
// and Stegun 6.3.18), accurate to 1e-38.
template <class W> W digamma(W x) {
  if (x == 0) return -1 / x;
  if (x == -infinity<W> || (x < 0 && x == rint(x))) return nan<W>;
  if (x < 0) {
    const W offset = x - rint(x), size = fabs(offset);
    const W cotangent = size > W(0.25) ? tan(pi<W> * (W(0.5) - size)) : 1 / tan(pi<W> * size);
    return digamma(1 - x) - pi<W> * (offset < 0 ? -cotangent : cotangent);
  }
  W sum = 0;
  for (; x < 40; x += 1) sum -= 1 / x;
  // Bernoulli numbers B(2 k) / (2 k)
  constexpr double above[] = {1, -1, 1, -1, 1, -691, 1, -3617, 43867, -174611, 77683, -236364091},
                   below[] = {12, 120, 252, 240, 132, 32760, 12, 8160, 14364, 6600, 276, 65520};
  W term = 1;
  for (int k = 0; k < 12; ++k) {
    term /= x * x;
    sum -= W(above[k]) / W(below[k]) * term;
  }
  return sum - 1 / (2 * x) + log(x);
}

template <class W> W logaddexp(W x, W y, W scale) {
  if (x == y) return x + log_of_2<W> * scale;
  const W high = x > y || x != x ? x : y, low = x > y || x != x ? y : x;
  return high + log1p(exp((low - high) / scale)) * scale;
}

template <class W> W remainder(W x, W y) {
  W r = fmod(x, y);
  if (r != 0 && (r < 0) != (y < 0)) r += y;
  return r;
}

template <class W>
W value(dsl::op code, W x, W y, W z) {
  switch (code) {
    case dsl::op::add: return x + y;
    case dsl::op::subtract: return x - y;
    case dsl::op::multiply: return x * y;
    case dsl::op::divide: return x / y;
    case dsl::op::reciprocal: return 1 / x;
    case dsl::op::square: return x * x;
    case dsl::op::fma: return x * y + z;
    case dsl::op::fmod: return fmod(x, y);
    case dsl::op::remainder: return remainder(x, y);
    case dsl::op::sqrt: return sqrt(x);
    case dsl::op::rsqrt: return 1 / sqrt(x);
    case dsl::op::cbrt: return cbrt(x);
    case dsl::op::hypot: return hypot(x, y);
    case dsl::op::pow: return pow(x, y);
    case dsl::op::exp: return exp(x);
    case dsl::op::exp2: return exp2(x);
    case dsl::op::exp10: return pow(W(10), x);
    case dsl::op::expm1: return expm1(x);
    case dsl::op::log: return log(x);
    case dsl::op::log2: return log2(x);
    case dsl::op::log10: return log10(x);
    case dsl::op::log1p: return log1p(x);
    case dsl::op::logaddexp: return logaddexp(x, y, W(1));
    case dsl::op::logaddexp2: return logaddexp(x, y, 1 / log_of_2<W>);
    case dsl::op::sin: return sin(x);
    case dsl::op::cos: return cos(x);
    case dsl::op::tan: return tan(x);
    case dsl::op::asin: return asin(x);
    case dsl::op::acos: return acos(x);
    case dsl::op::atan: return atan(x);
    case dsl::op::atan2: return atan2(x, y);
    case dsl::op::sinh: return sinh(x);
    case dsl::op::cosh: return cosh(x);
    case dsl::op::tanh: return tanh(x);
    case dsl::op::asinh: return asinh(x);
    case dsl::op::acosh: return acosh(x);
    case dsl::op::atanh: return atanh(x);
    case dsl::op::sinpi: return sinpi(x);
    case dsl::op::cospi: return cospi(x);
    case dsl::op::sinc: return x == 0 ? W(1) : sinpi(x) / (pi<W> * x);
    case dsl::op::degrees: return x * 180 / pi<W>;
    case dsl::op::radians: return x * pi<W> / 180;
    case dsl::op::erf: return erf(x);
    case dsl::op::erfc: return erfc(x);
    case dsl::op::erfinv: return erfinv(x);
    case dsl::op::tgamma: return x == 0 ? 1 / x : x < 0 && x == rint(x) ? nan<W> : tgamma(x);
    case dsl::op::lgamma: return lgamma(x);
    case dsl::op::digamma: return digamma(x);
    case dsl::op::i0: return bessel_i(0, x);
    case dsl::op::i1: return bessel_i(1, x);
    default: throw std::invalid_argument(std::string("no reference for ") + dsl::info(code).name);
  }
}

// Infinity counts as the number after the largest one.
template <class T, class W>
double ulps(T got, W exact, double absolute) {
  using limits = std::numeric_limits<T>;
  const bool undefined = is_nan(exact);
  if (undefined || got != got) return undefined && got != got ? 0 : limits::infinity();
  const W beyond = static_cast<W>(limits::max()) +
                   static_cast<W>(std::ldexp(1.0L, limits::max_exponent - limits::digits));
  const auto within = [&](W v) { return v > beyond ? beyond : v < -beyond ? -beyond : v; };
  const W want = within(exact), off = fabs(within(static_cast<W>(got)) - want);
  if (off <= static_cast<W>(absolute)) return 0;
  int exponent = 0;
  if constexpr (std::is_same_v<W, quad>) ::frexpq(want, &exponent);
  else std::frexp(want, &exponent);
  if (want == 0 || exponent < limits::min_exponent) exponent = limits::min_exponent;
  if (exponent > limits::max_exponent) exponent = limits::max_exponent;
  return static_cast<double>(off / static_cast<W>(std::ldexp(1.0L, exponent - limits::digits)));
}

template <class W, class T>
worst measure_real(dsl::op code, std::size_t n, const T* x, const T* y, const T* z, const T* got,
                   double absolute) {
  const int arity = dsl::info(code).arity;
  worst w;
  for (std::size_t i = 0; i < n; ++i) {
    const W exact = value<W>(code, x[i], arity > 1 ? W(y[i]) : W(0), arity > 2 ? W(z[i]) : W(0));
    const double error = ulps(got[i], exact, absolute);
    if (error > w.error) w = {error, i};
  }
  return w;
}

// Both precisions use libquadmath's complex functions.
__complex128 complex_value(dsl::op code, __complex128 x, __complex128 y) {
  switch (code) {
    case dsl::op::multiply: return x * y;
    case dsl::op::divide: return x / y;
    case dsl::op::reciprocal: return 1 / x;
    case dsl::op::square: return x * x;
    case dsl::op::sign: return x / cabsq(x);
    case dsl::op::exp: return cexpq(x);
    case dsl::op::log: return clogq(x);
    case dsl::op::sqrt: return csqrtq(x);
    case dsl::op::pow: return cpowq(x, y);
    case dsl::op::sin: return csinq(x);
    case dsl::op::cos: return ccosq(x);
    case dsl::op::tan: return ctanq(x);
    case dsl::op::sinh: return csinhq(x);
    case dsl::op::cosh: return ccoshq(x);
    case dsl::op::tanh: return ctanhq(x);
    default:
      throw std::invalid_argument(std::string("no complex reference for ") + dsl::info(code).name);
  }
}

__complex128 widened(double re, double im) {
  __complex128 z;
  __real__ z = re;
  __imag__ z = im;
  return z;
}

template <class T>
worst measure_complex(dsl::op code, std::size_t n, const std::complex<T>* x,
                      const std::complex<T>* y, const std::complex<T>* got) {
  const int arity = dsl::info(code).arity;
  worst w;
  for (std::size_t i = 0; i < n; ++i) {
    const __complex128 second = arity > 1 ? widened(y[i].real(), y[i].imag()) : widened(0, 0);
    const __complex128 exact = complex_value(code, widened(x[i].real(), x[i].imag()), second);
    const quad size = cabsq(exact);
    // The relative error is undefined if a part is NaN or out of range, or if the value is
    // subnormal.
    if (!(size > std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon() &&
          size < std::numeric_limits<T>::max() / 4))
      continue;
    const quad off = cabsq(widened(got[i].real(), got[i].imag()) - exact);
    const double error = is_nan(off)
                             ? std::numeric_limits<double>::infinity()
                             : static_cast<double>(off / size / std::numeric_limits<T>::epsilon());
    if (error > w.error) w = {error, i};
  }
  return w;
}

}  // namespace

worst measure(dsl::op code, std::size_t n, const float* x, const float* y, const float* z,
              const float* got, double absolute) {
  return measure_real<long double>(code, n, x, y, z, got, absolute);
}
worst measure(dsl::op code, std::size_t n, const double* x, const double* y, const double* z,
              const double* got, double absolute) {
  return measure_real<quad>(code, n, x, y, z, got, absolute);
}
worst measure(dsl::op code, std::size_t n, const std::complex<float>* x,
              const std::complex<float>* y, const std::complex<float>* got) {
  return measure_complex(code, n, x, y, got);
}
worst measure(dsl::op code, std::size_t n, const std::complex<double>* x,
              const std::complex<double>* y, const std::complex<double>* got) {
  return measure_complex(code, n, x, y, got);
}

}  // namespace accuracy

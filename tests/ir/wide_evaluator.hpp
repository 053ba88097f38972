// Evaluates a graph's nodes for one element in long double, with functions of the standard library
// or of its own: a reference that shares no code with the library. Values are not rounded to the
// nodes' dtypes.
#pragma once

#include <dsl/ir/graph.hpp>

#include <cmath>
#include <complex>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace wide {

using real = long double;
using number = std::complex<real>;
inline const real pi = std::acos(real(-1));

inline real sinpi(real x) {
  const real rest = x - 2 * std::round(x / 2);  // in [-1, 1]
  return std::abs(rest) == 1 || rest == 0 ? 0 : std::sin(pi * rest);
}
inline real cospi(real x) { return sinpi(x + real(0.5)); }
inline real sign(real x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
/// The solution of erf(y) = x, by Newton's method.
inline real erfinv(real x) {
  real y = 0;
  for (int k = 0; k < 60; ++k)
    y -= (std::erf(y) - x) * std::sqrt(pi) / 2 * std::exp(y * y < 30 ? y * y : 30);
  return y;
}
/// By the recurrence up to 30, then the asymptotic series.
inline real digamma(real x) {
  if (x < 0.5L) return digamma(1 - x) - pi * cospi(x) / sinpi(x);
  real below = 0;
  for (; x < 30; ++x) below += 1 / x;
  const real s = 1 / (x * x);
  return std::log(x) - 1 / (2 * x) - below -
         s * (1.0L / 12 - s * (1.0L / 120 - s * (1.0L / 252 - s * (1.0L / 240 - s / 132))));
}
/// The modified Bessel function of order 0 or 1, by its series.
inline real bessel(int order, real x) {
  real term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; k < 200; ++k) {
    term *= x * x / (4 * real(k) * real(k + order));
    sum += term;
  }
  return sum;
}
inline real mantissa(real x) {
  int e = 0;
  return std::frexp(x, &e);
}
inline real exponent(real x) {
  int e = 0;
  (void)std::frexp(x, &e);
  return e;
}

/// The value of a row of the op table. x: the operands. `is_complex`: any of them is.
inline number row(const std::string& name, const number* x, bool is_complex) {
  const number z = x[0], w = x[1];
  const real a = x[0].real(), b = x[1].real(), c = x[2].real();
  using function = number (*)(number, number);
  static const std::map<std::string, function> of_complex{
      {"add", [](number z, number w) { return z + w; }},
      {"subtract", [](number z, number w) { return z - w; }},
      {"multiply", [](number z, number w) { return z * w; }},
      {"divide", [](number z, number w) { return z / w; }},
      {"negative", [](number z, number) { return -z; }},
      {"positive", [](number z, number) { return z; }},
      {"equal", [](number z, number w) { return number(z == w); }},
      {"not_equal", [](number z, number w) { return number(z != w); }},
      {"reciprocal", [](number z, number) { return real(1) / z; }},
      {"square", [](number z, number) { return z * z; }},
      {"pow", [](number z, number w) { return std::pow(z, w); }},
      {"abs", [](number z, number) { return number(std::abs(z)); }},
      {"sign", [](number z, number) { return z == number(0) ? z : z / std::abs(z); }},
      {"isfinite",
       [](number z, number) { return number(std::isfinite(z.real()) && std::isfinite(z.imag())); }},
      {"nan_to_num", [](number z, number) { return z; }},
      {"exp", [](number z, number) { return std::exp(z); }},
      {"log", [](number z, number) { return std::log(z); }},
      {"sqrt", [](number z, number) { return std::sqrt(z); }},
      {"sin", [](number z, number) { return std::sin(z); }},
      {"cos", [](number z, number) { return std::cos(z); }},
      {"tan", [](number z, number) { return std::tan(z); }},
      {"sinh", [](number z, number) { return std::sinh(z); }},
      {"cosh", [](number z, number) { return std::cosh(z); }},
      {"tanh", [](number z, number) { return std::tanh(z); }},
      {"real", [](number z, number) { return number(z.real()); }},
      {"imag", [](number z, number) { return number(z.imag()); }},
      {"conj", [](number z, number) { return std::conj(z); }},
      {"arg", [](number z, number) { return number(std::arg(z)); }},
      {"abs2", [](number z, number) { return number(std::norm(z)); }},
  };
  using real_function = real (*)(real, real);
  static const std::map<std::string, real_function> of_real{
      {"add", [](real a, real b) { return a + b; }},
      {"subtract", [](real a, real b) { return a - b; }},
      {"multiply", [](real a, real b) { return a * b; }},
      {"divide", [](real a, real b) { return a / b; }},
      {"negative", [](real a, real) { return -a; }},
      {"positive", [](real a, real) { return a; }},
      {"equal", [](real a, real b) { return real(a == b); }},
      {"not_equal", [](real a, real b) { return real(a != b); }},
      {"less", [](real a, real b) { return real(a < b); }},
      {"less_equal", [](real a, real b) { return real(a <= b); }},
      {"greater", [](real a, real b) { return real(a > b); }},
      {"greater_equal", [](real a, real b) { return real(a >= b); }},
      {"logical_and", [](real a, real b) { return real(a != 0 && b != 0); }},
      {"logical_or", [](real a, real b) { return real(a != 0 || b != 0); }},
      {"logical_not", [](real a, real) { return real(a == 0); }},
      {"floor_divide", [](real a, real b) { return std::floor(a / b); }},
      {"remainder", [](real a, real b) { return a - b * std::floor(a / b); }},
      {"fmod", [](real a, real b) { return std::fmod(a, b); }},
      {"reciprocal", [](real a, real) { return 1 / a; }},
      {"square", [](real a, real) { return a * a; }},
      {"pow", [](real a, real b) { return std::pow(a, b); }},
      {"abs", [](real a, real) { return std::abs(a); }},
      {"fabs", [](real a, real) { return std::abs(a); }},
      {"sign", [](real a, real) { return sign(a); }},
      {"copysign", [](real a, real b) { return std::copysign(a, b); }},
      {"heaviside", [](real a, real b) { return a == 0 ? b : real(a > 0); }},
      {"nextafter", [](real a, real) { return a; }},
      {"trunc", [](real a, real) { return std::trunc(a); }},
      {"min", [](real a, real b) { return a < b ? a : b; }},
      {"max", [](real a, real b) { return a > b ? a : b; }},
      {"fmin", [](real a, real b) { return a < b ? a : b; }},
      {"fmax", [](real a, real b) { return a > b ? a : b; }},
      {"isfinite", [](real a, real) { return real(std::isfinite(a)); }},
      {"nan_to_num", [](real a, real) { return a; }},
      {"exp", [](real a, real) { return std::exp(a); }},
      {"exp2", [](real a, real) { return std::exp2(a); }},
      {"exp10", [](real a, real) { return std::pow(real(10), a); }},
      {"expm1", [](real a, real) { return std::expm1(a); }},
      {"log", [](real a, real) { return std::log(a); }},
      {"log2", [](real a, real) { return std::log2(a); }},
      {"log10", [](real a, real) { return std::log10(a); }},
      {"log1p", [](real a, real) { return std::log1p(a); }},
      {"logaddexp", [](real a, real b) { return std::log(std::exp(a) + std::exp(b)); }},
      {"logaddexp2", [](real a, real b) { return std::log2(std::exp2(a) + std::exp2(b)); }},
      {"sqrt", [](real a, real) { return std::sqrt(a); }},
      {"rsqrt", [](real a, real) { return 1 / std::sqrt(a); }},
      {"cbrt", [](real a, real) { return std::cbrt(a); }},
      {"hypot", [](real a, real b) { return std::hypot(a, b); }},
      {"sin", [](real a, real) { return std::sin(a); }},
      {"cos", [](real a, real) { return std::cos(a); }},
      {"tan", [](real a, real) { return std::tan(a); }},
      {"asin", [](real a, real) { return std::asin(a); }},
      {"acos", [](real a, real) { return std::acos(a); }},
      {"atan", [](real a, real) { return std::atan(a); }},
      {"atan2", [](real a, real b) { return std::atan2(a, b); }},
      {"sinh", [](real a, real) { return std::sinh(a); }},
      {"cosh", [](real a, real) { return std::cosh(a); }},
      {"tanh", [](real a, real) { return std::tanh(a); }},
      {"asinh", [](real a, real) { return std::asinh(a); }},
      {"acosh", [](real a, real) { return std::acosh(a); }},
      {"atanh", [](real a, real) { return std::atanh(a); }},
      {"sinpi", [](real a, real) { return sinpi(a); }},
      {"cospi", [](real a, real) { return cospi(a); }},
      {"sinc", [](real a, real) { return a == 0 ? 1 : std::sin(pi * a) / (pi * a); }},
      {"degrees", [](real a, real) { return a * 180 / pi; }},
      {"radians", [](real a, real) { return a * pi / 180; }},
      {"erf", [](real a, real) { return std::erf(a); }},
      {"erfc", [](real a, real) { return std::erfc(a); }},
      {"erfinv", [](real a, real) { return std::abs(a) < 1 ? erfinv(a) : real(NAN); }},
      {"tgamma", [](real a, real) { return std::tgamma(a); }},
      {"lgamma", [](real a, real) { return std::lgamma(a); }},
      {"digamma", [](real a, real) { return digamma(a); }},
      {"i0", [](real a, real) { return bessel(0, a); }},
      {"i1", [](real a, real) { return bessel(1, a); }},
      {"ldexp", [](real a, real b) { return std::ldexp(a, static_cast<int>(b)); }},
      {"frexp_mantissa", [](real a, real) { return mantissa(a); }},
      {"frexp_exponent", [](real a, real) { return exponent(a); }},
      {"modf_fraction", [](real a, real) { return a - std::trunc(a); }},
      {"real", [](real a, real) { return a; }},
      {"imag", [](real, real) { return real(0); }},
      {"conj", [](real a, real) { return a; }},
      {"arg", [](real a, real) { return a < 0 ? pi : real(0); }},
      {"abs2", [](real a, real) { return a * a; }},
  };
  if (name == "where") return a != 0 ? w : x[2];
  if (name == "fma") return a * b + c;
  if (name == "clip") return a < b ? (b < c ? b : c) : a < c ? a : c;
  if (name == "polar") return number(a * std::cos(b), a * std::sin(b));
  if (is_complex) {
    if (const auto f = of_complex.find(name); f != of_complex.end()) return f->second(z, w);
  } else if (const auto f = of_real.find(name); f != of_real.end()) {
    return f->second(a, b);
  }
  throw std::runtime_error("no long double code for " + name);
}

/// A constant's value.
inline number constant(const dsl::detail::node& n) {
  using dsl::detail::from_literal;
  switch (n.type) {
    case dsl::dtype::float64: return from_literal<double>(n.word);
    case dsl::dtype::complex128: {
      const auto z = from_literal<dsl::detail::value_t<dsl::dtype::complex128>>(n.word);
      return {z.re, z.im};
    }
    case dsl::dtype::complex64: {
      const auto z = from_literal<dsl::detail::value_t<dsl::dtype::complex64>>(n.word);
      return {z.re, z.im};
    }
    default:
      if (dsl::kind_of(n.type) == dsl::kind::real) return from_literal<float>(n.word);
      return static_cast<real>(static_cast<std::int64_t>(n.word.bits));
  }
}

/// Appends the values of the nodes from number values.size() up to `end`. `operand`: the values of
/// loads.
inline void evaluate(const dsl::detail::graph& g, int end, const std::vector<number>& operand,
                     std::vector<number>& values) {
  using dsl::op;
  for (int i = static_cast<int>(values.size()); i < end; ++i) {
    const dsl::detail::node& n = g[i];
    const int arity = dsl::info(n.code).arity;
    number x[3];
    bool is_complex = false;
    const int count = n.code == op::complex ? 2 : n.code == op::convert ? 1 : arity;
    for (int k = 0; k < count; ++k) {
      x[k] = values[static_cast<std::size_t>(n.field(k))];
      is_complex = is_complex || dsl::kind_of(g[n.field(k)].type) == dsl::kind::complex;
    }
    switch (n.code) {
      case op::load: values.push_back(operand[static_cast<std::size_t>(n.field(0))]); break;
      case op::constant: values.push_back(constant(n)); break;
      case op::convert: values.push_back(x[0]); break;
      case op::complex: values.emplace_back(x[0].real(), x[1].real()); break;
      default: values.push_back(row(dsl::info(n.code).name, x, is_complex));
    }
  }
}

}  // namespace wide

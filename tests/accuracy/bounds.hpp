// Bounds of the distance between a function's value and the exact one. The tests against NumPy and
// the accuracy measurement share this table.
#pragma once

#include <dsl/ir/op.hpp>

namespace accuracy {

/// Units in the last place, counted from the correctly rounded value as NVIDIA does: an error of n
/// + 1/2 from the exact value is allowed. An absolute error of up to `absolute32` or `absolute64`
/// is always allowed.
struct bound {
  double float32, float64, absolute32 = 0, absolute64 = 0;
  constexpr double ulps(bool is_float) const { return is_float ? float32 : float64; }
  constexpr double absolute(bool is_float) const { return is_float ? absolute32 : absolute64; }
};

struct function_bounds {
  dsl::op code;
  bound host;  // vectorised: SLEEF 3.5.1 ("1.0 ULP" unless said otherwise) and GCC; one at a time,
               // in the simulator: glibc 2.36
  bound device;  // CUDA C++ Programming Guide 13.0, "Mathematical Functions": maximum ULP errors
};

// Functions that are not listed are exact.
inline constexpr function_bounds bounds_table[] = {
    //                       host         device
    {dsl::op::add, {0, 0}, {0, 0}},
    {dsl::op::subtract, {0, 0}, {0, 0}},
    {dsl::op::multiply, {0, 0}, {0, 0}},
    {dsl::op::divide, {0, 0}, {0, 0}},
    {dsl::op::reciprocal, {0, 0}, {0, 0}},
    {dsl::op::square, {0, 0}, {0, 0}},
    {dsl::op::fma, {0, 0}, {0, 0}},
    {dsl::op::fmod, {0, 0}, {0, 0}},
    {dsl::op::remainder, {0, 0}, {0, 0}},
    {dsl::op::sqrt, {0, 0}, {0, 0}},
    {dsl::op::exp, {1, 1}, {2, 1}},
    {dsl::op::exp2, {1, 1}, {2, 1}},
    {dsl::op::exp10, {1, 2}, {2, 1}},  // glibc: 2
    {dsl::op::expm1, {1, 1}, {1, 1}},
    {dsl::op::log, {1, 1}, {1, 1}},
    {dsl::op::log2, {1, 1}, {1, 1}},
    {dsl::op::log10, {2, 2}, {2, 1}},  // glibc: 2
    {dsl::op::log1p, {1, 1}, {1, 1}},
    {dsl::op::rsqrt, {1, 1}, {2, 1}},  // two roundings on the host
    {dsl::op::cbrt, {1, 4}, {1, 1}},   // glibc: 4
    {dsl::op::hypot, {1, 2}, {3, 2}},  // SLEEF without FMA: 1.7 next to the smallest normal doubles
    {dsl::op::pow, {1, 1}, {4, 2}},
    {dsl::op::sin, {1, 1}, {2, 2}},
    {dsl::op::cos, {1, 1}, {2, 2}},
    {dsl::op::tan, {1, 1}, {4, 2}},
    {dsl::op::asin, {1, 1}, {2, 2}},
    {dsl::op::acos, {1, 1}, {2, 2}},
    {dsl::op::atan, {1, 1}, {2, 2}},
    {dsl::op::atan2, {2, 1}, {3, 2}},   // SLEEF without FMA: 1.7 of subnormal floats
    {dsl::op::sinh, {2, 2}, {3, 2}},    // glibc: 2
    {dsl::op::cosh, {2, 2}, {2, 1}},    // glibc: 2
    {dsl::op::tanh, {2, 2}, {2, 1}},    // glibc: 2
    {dsl::op::asinh, {2, 2}, {3, 3}},   // glibc: 2
    {dsl::op::acosh, {2, 2}, {4, 3}},   // glibc: 2
    {dsl::op::atanh, {2, 2}, {3, 2}},   // glibc: 2
    {dsl::op::sinpi, {1, 2}, {1, 2}},   // the library's own
    {dsl::op::cospi, {1, 2}, {1, 2}},   // the library's own
    {dsl::op::erf, {2, 1}, {2, 2}},     // SLEEF without FMA: 1.8 for the smallest normal floats
    {dsl::op::erfc, {3, 5}, {4, 5}},    // g++: 0.6 and SLEEF's 1.5; clang: glibc's 3 and 5
    {dsl::op::erfinv, {1, 2}, {2, 5}},  // the library's own
    {dsl::op::tgamma,
     {8, 10},
     {5, 10}},  // glibc: 8 and 10; SLEEF's below its smallest arguments: a product of 14 factors
    // glibc: 7 and 4. Near its roots below -2 SLEEF and CUDA bound the absolute error alone.
    {dsl::op::lgamma, {7, 4, 1e-6, 2e-15}, {6, 4, 1e-5, 1e-13}},
    // The library's own: seven roundings. Near the roots below 0 it is a difference of numbers up
    // to
    // 36 (16 for floats).
    {dsl::op::digamma, {4, 4, 3e-6, 2e-14}, {4, 4, 3e-6, 2e-14}},
    {dsl::op::i0, {1, 3}, {6, 6}},  // the library's own
    {dsl::op::i1, {1, 4}, {6, 6}},  // the library's own
    // Composed of the functions above: their errors, propagated, plus a half for each further
    // rounding.
    {dsl::op::sinc, {3, 3}, {3, 4}},  // sinpi(x) / (pi x): sinpi, pi rounded, a product, a quotient
    {dsl::op::degrees, {1, 1}, {1, 1}},  // the rounded factor, a product
    {dsl::op::radians, {1, 1}, {1, 1}},
    // max + log1p(exp(-d)): the rounding of d enters in full if the sum is near 0.
    {dsl::op::logaddexp, {4, 4, 1.2e-7, 2.3e-16}, {4, 4, 1.2e-7, 2.3e-16}},
    {dsl::op::logaddexp2, {4, 4, 1.2e-7, 2.3e-16}, {4, 4, 1.2e-7, 2.3e-16}},
};

// Complex functions: |error| in units of epsilon * |value|.
struct complex_bound {
  dsl::op code;
  double epsilons;
};
inline constexpr complex_bound complex_bounds_table[] =
    {
        {dsl::op::multiply, 2},   {dsl::op::divide, 4},
        {dsl::op::reciprocal, 4}, {dsl::op::square, 2},
        {dsl::op::sign, 4},       {dsl::op::exp, 4},
        {dsl::op::log, 4},        {dsl::op::sqrt, 4},
        {dsl::op::sin, 4},        {dsl::op::cos, 4},
        {dsl::op::tan, 4},        {dsl::op::sinh, 4},
        {dsl::op::cosh, 4},       {dsl::op::tanh, 4},
        {dsl::op::pow, 256},  // exp(b log(a)): the rounding of the exponent's parts,
                              // some hundreds in size, enters in full; 218 was measured
};

constexpr bound bound_of(dsl::op code, bool on_device) {
  for (const function_bounds& row : bounds_table)
    if (row.code == code) return on_device ? row.device : row.host;
  return {0, 0};
}
constexpr double complex_bound_of(dsl::op code) {
  for (const complex_bound& row : complex_bounds_table)
    if (row.code == code) return row.epsilons;
  return 0;
}

}  // namespace accuracy

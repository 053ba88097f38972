// log(x) of float and double.
#pragma once

#include <dsl/ir/arithmetic.hpp>

namespace dsl::detail::math {

/// Where a b + c is rounded on the device: once, or, as on the host, after the product and after
/// the sum.
enum class rounded { once, twice };

/// a b that is never fused into a sum, and a b + c. On the host, where these functions belong to
/// lib/ir/special.cpp, product and sum are rounded separately, so neither the instruction set nor
/// the surrounding formula changes a bit; the device gives the same bits if it rounds twice too.
DSL_DETAIL_FN float times(float a, float b) {
#if DSL_DETAIL_ON_DEVICE
  return ::__fmul_rn(a, b);
#else
  return a * b;
#endif
}
DSL_DETAIL_FN double times(double a, double b) {
#if DSL_DETAIL_ON_DEVICE
  return ::__dmul_rn(a, b);
#else
  return a * b;
#endif
}

template <rounded OnDevice = rounded::once, class T> DSL_DETAIL_FN T times_plus(T a, T b, T c) {
#if DSL_DETAIL_ON_DEVICE
  if constexpr (OnDevice == rounded::once) return fma(a, b, c);
  else if constexpr (sizeof(T) == 4) return ::__fadd_rn(times(a, b), c);
  else return ::__dadd_rn(times(a, b), c);
#else
  const T product = a * b;
  return product + c;
#endif
}
/// A polynomial of x; the highest power's coefficient is first.
template <rounded OnDevice = rounded::once, class T, class... Coefficient>
DSL_DETAIL_FN T polynomial(T x, T sum, Coefficient... next) {
  ((sum = times_plus<OnDevice>(sum, x, next)), ...);
  return sum;
}

/// log x for x positive, finite and not subnormal, where x = m 2^e with m from 2/3 to 4/3.
/// `exponent` receives e 2^23.
template <rounded OnDevice = rounded::once>
DSL_DETAIL_FN float moderate_log(float x, float& exponent) {
  const std::uint32_t at_exponent = (to_integer(x) - to_integer(0x1.555556p-1f)) & 0xff800000u;
  exponent = static_cast<float>(static_cast<std::int32_t>(at_exponent));
  const float f = __builtin_bit_cast(float, to_integer(x) - at_exponent) - 1;
  const float series =
      polynomial<OnDevice>(f, -0x1.084d6ap-3f, 0x1.1e582cp-3f, -0x1.f3144p-4f, 0x1.1ed3f2p-3f,
                           -0x1.559e08p-3f, 0x1.99d02ep-3f, -0x1.fffeeap-3f, 0x1.55551p-2f, -0.5f);
  return times_plus<OnDevice>(exponent, 0x1.62e43p-24f,
                              times_plus<OnDevice>(times(series, f), f, f));
}

/// The exponent of a positive number, and its significand, from sqrt(1/2) to sqrt(2), minus 1.
struct binary { double exponent, rest; };
DSL_DETAIL_FN binary split_exponent(double x) {
  constexpr std::uint64_t least = to_integer(0x1.6a09e667f3bcdp-1),
                          exponent_of_one = std::uint64_t{1} << 62;
  const std::uint64_t bits = to_integer(x), exponent = (bits + (exponent_of_one - least)) >> 52;
  return {__builtin_bit_cast(double, exponent | to_integer(0x1p52)) - (0x1p52 + 1024),
          __builtin_bit_cast(double, bits + exponent_of_one - (exponent << 52)) - 1};
}

/// 2 (atanh(s) - s) / s^3, in powers of s^2 up to s = (sqrt(2) - 1) / (sqrt(2) + 1); relative error
/// of atanh(s) 4.5e-18. By `lib/ir/special.py logarithm`.
inline constexpr double log_terms[] = {
    0x1.2b584aae78a57p-3, 0x1.39fe606542ddep-3, 0x1.7462b4ab2ef6bp-3, 0x1.c71c62e5800a1p-3,
    0x1.2492492df148dp-2, 0x1.99999999952e2p-2, 0x1.5555555555558p-1,
};

/// -log x for x positive, finite and not subnormal, within 1.1 ULP; the same bits on every device.
/// With f = m - 1 and s = f / (2 + f), log m = f - f^2 / 2 + s (f^2 / 2 + series(s^2)), as in
/// fdlibm's log, with coefficients of our own. The product of the upper part of log 2 and an
/// exponent is exact.
DSL_DETAIL_FN double minus_log(double x) {
  constexpr rounded twice = rounded::twice;
  const auto [exponent, f] = split_exponent(x);
  const double s = f / (2 + f), z = times(s, s), half = times(times(0.5, f), f);
  const double series = polynomial<twice>(z, log_terms[0], log_terms[1], log_terms[2], log_terms[3],
                                          log_terms[4], log_terms[5], log_terms[6]);
  const double lower = times_plus<twice>(s, times_plus<twice>(z, series, half),
                                         times(exponent, 0x1.bcd5e4f1d9ccp-47));
  return times_plus<twice>(exponent, -0x1.62e42fefa398p-1, (half - lower) - f);
}

#if DSL_DETAIL_ON_DEVICE
DSL_DETAIL_NOINLINE inline float rare_log(float x) { return bounded::log(x); }
DSL_DETAIL_FN float log(float x) {
  float exponent;
  const float result = moderate_log(x, exponent);
  return abs(exponent) < 0x1.f6p+29f ? result : rare_log(x);  // 125.5 2^23
}

#else
DSL_DETAIL_FN float log(float x) { return bounded::log(x); }
#endif
DSL_DETAIL_FN double log(double x) { return bounded::log(x); }

}  // namespace dsl::detail::math

// log(x) of float and double.
#pragma once

#include <dsl/ir/arithmetic.hpp>

namespace dsl::detail::math {

/// a b + c, and a b that is never fused into a sum. On the device a b + c is rounded once. On the
/// host, where these functions belong to lib/ir/special.cpp, product and sum are rounded
/// separately, so neither the instruction set nor the surrounding formula changes a bit.
template <class T> DSL_DETAIL_FN T times_plus(T a, T b, T c) {
#if DSL_DETAIL_ON_DEVICE
  return fma(a, b, c);
#else
  const T product = a * b;
  return product + c;
#endif
}
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

/// log x for x positive, finite and not subnormal, where x = m 2^e with m from 2/3 to 4/3.
/// `exponent` receives e 2^23.
DSL_DETAIL_FN float moderate_log(float x, float& exponent) {
  const std::uint32_t at_exponent = (to_integer(x) - to_integer(0x1.555556p-1f)) & 0xff800000u;
  exponent = static_cast<float>(static_cast<std::int32_t>(at_exponent));
  const float f = __builtin_bit_cast(float, to_integer(x) - at_exponent) - 1;
  float series = times_plus(-0x1.084d6ap-3f, f, 0x1.1e582cp-3f);
  series = times_plus(series, f, -0x1.f3144p-4f);
  series = times_plus(series, f, 0x1.1ed3f2p-3f);
  series = times_plus(series, f, -0x1.559e08p-3f);
  series = times_plus(series, f, 0x1.99d02ep-3f);
  series = times_plus(series, f, -0x1.fffeeap-3f);
  series = times_plus(series, f, 0x1.55551p-2f);
  series = times_plus(series, f, -0.5f);
  return times_plus(exponent, 0x1.62e43p-24f, times_plus(times(series, f), f, f));
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

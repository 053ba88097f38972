// x^y.
#pragma once

#include <dsl/ir/arithmetic.hpp>

namespace dsl::detail::math {

#if DSL_DETAIL_ON_DEVICE

// What CUDA's function is needed for, compiled once. `power` is |x|^y where it is neither 0 nor infinite nor subnormal.
DSL_DETAIL_NOINLINE inline float rare_pow(float x, float y, float power, bool is_moderate) {
  if (x > -smallest_normal<float> || x == -infinity<float> || !is_moderate) return bounded::pow(x, y);
  const float whole = ::truncf(y);
  if (whole != y) return quiet_nan<float>;
  return whole != 2 * ::truncf(whole * 0.5f) ? -power : power;
}

/// 2^(y log2 x), in half of the instructions of CUDA's powf, with its accuracy: one branch leads to all that is rare, so that a
/// thread's lanes are computed side by side. log2 x = e + log2 m is a sum of two floats, where log m = 2 artanh((m - 1) / (m +
/// 1)); what lies beyond its first term is less than a hundredth, and one float.
DSL_DETAIL_FN float pow(float x, float y) {
  const std::uint32_t size = to_integer(x) & ~sign_bit<float>;
  // x = m 2^e with m from sqrt(1/2) to sqrt(2)
  const auto exponent = static_cast<std::int32_t>(size - to_integer(0x1.6a09e6p-1f)) & ~0x7fffff;
  const float e = static_cast<float>(exponent) * 0x1p-23f;
  const float m = __builtin_bit_cast(float, size - static_cast<std::uint32_t>(exponent));
  const float f = m - 1, half = fma(m, 0.5f, -0.5f);
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(half + 1));
  // u + u_rest = 2 (m - 1) / (m + 1). Products that are subtracted from must not be fused.
  const float u = ::__fmul_rn(f, r), u_rest = ::__fmul_rn(fma(-half, u, f - u), r);
  const float s = ::__fmul_rn(u, u);
  float series = fma(0x1.58af2cp-11f, s, 0x1.a5c94p-9f);
  series = fma(series, s, 0x1.2777p-6f);
  series = ::__fmul_rn(fma(series, s, 0x1.ec709ep-4f), s);
  constexpr float log2_e = 0x1.715476p+0f, log2_e_rest = 0x1.4ae0cp-26f;
  const float first = fma(u, log2_e, e);
  float rest = fma(u, log2_e, e - first);
  rest = fma(u_rest, fma(series, 3.0f, log2_e), rest);
  rest = fma(u, log2_e_rest, rest);
  rest = fma(u, series, rest);
  const float log2_x = first + rest, log2_x_rest = first - log2_x + rest;
  const float product = ::__fmul_rn(log2_x, y), product_rest = fma(log2_x_rest, y, fma(log2_x, y, -product));
  // Added to 1.5 2^23 a number becomes an integer, in the lowest bits.
  const float shifted = product + 0x1.8p23f, t = product - (shifted - 0x1.8p23f) + product_rest;
  float power = fma(0x1.444024p-13f, t, 0x1.5f0912p-10f);
  power = fma(power, t, 0x1.3b2a1cp-7f);
  power = fma(power, t, 0x1.c6af6cp-5f);
  power = fma(power, t, 0x1.ebfbep-3f);
  power = fma(power, t, 0x1.62e43p-1f);
  power = fma(power, t, 1.0f);
  power = __builtin_bit_cast(float, (to_integer(shifted) << 23) + to_integer(power));
  const bool is_moderate = abs(product) < 126;
  if (to_integer(x) - to_integer(smallest_normal<float>) < 0x7f000000u && is_moderate) return power;
  return rare_pow(x, y, power, is_moderate);
}

#else
DSL_DETAIL_FN float pow(float x, float y) { return own::pow(x, y); }
#endif
DSL_DETAIL_FN double pow(double x, double y) { return bounded::pow(x, y); }

}  // namespace dsl::detail::math

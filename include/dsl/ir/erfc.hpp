// erfc(x) = 1 - erf(x).
#pragma once

#include <dsl/ir/arithmetic.hpp>

namespace dsl::detail::math {

#if DSL_DETAIL_ON_DEVICE

/// 29 instructions instead of CUDA's 50, with smaller errors. (a + k) e^(a^2) erfc(a) is nearly a
/// polynomial in a / (a + k) - 1/2 (after M. Shepherd and J. Laframboise, Chebyshev Approximation
/// of (1 + 2x) exp(x^2) erfc x, 1981), so one reciprocal gives both the variable and the quotient.
/// The coefficients compensate for the rounding of log2 e, and are scaled by 2^-64, so that no
/// power of two is subnormal.
DSL_DETAIL_FN float erfc(float x) {
  constexpr float k = 2.03125f;
  const float a = fminimum(abs(x), 10.5f);  // from 10.06 on the result is 0
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a + k));
  r = fma(r, fma(-a, r, fma(r, -k, 1.0f)), r);  // 1 / (a + k) for the unrounded sum
  const float u = fma(a, r, -0.5f);
  float scaled = fma(-0x1.e2671ep-68f, u, -0x1.e57e06p-68f);
  scaled = fma(scaled, u, 0x1.5e8a6cp-67f);
  scaled = fma(scaled, u, 0x1.e6ce3ep-67f);
  scaled = fma(scaled, u, -0x1.4a04eap-66f);
  scaled = fma(scaled, u, -0x1.68b73p-66f);
  scaled = fma(scaled, u, 0x1.2a7766p-64f);
  scaled = fma(scaled, u, -0x1.645d84p-64f);
  scaled = fma(scaled, u, 0x1.062ebep-64f);
  // 2^64 e^(rest - square) = 2^whole 2^part. Adding 1.5 2^23 to a number leaves the nearest integer
  // in the lowest bits of the sum. Products from which something is subtracted must not be fused.
  constexpr float minus_log2_e = -0x1.715476p+0f, to_integers = 0x1.8p23f + 64;
  const float square = ::__fmul_rn(a, a), rest = fma(-a, a, square);
  const float shifted = fma(square, minus_log2_e, to_integers);
  const float part = fma(rest, -minus_log2_e, fma(square, minus_log2_e, to_integers - shifted));
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(part));
  power = __builtin_bit_cast(float, to_integer(power) + (to_integer(shifted) << 23));
  const float result = ::__fmul_rn(scaled, r) * power;
  return select(x < 0, 2 - result, result);
}

#else
DSL_DETAIL_FN float erfc(float x) { return own::erfc(x); }
#endif
DSL_DETAIL_FN double erfc(double x) { return bounded::erfc(x); }

}  // namespace dsl::detail::math

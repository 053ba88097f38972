// 1 - erf(x).
#pragma once

#include <dsl/ir/arithmetic.hpp>

namespace dsl::detail::math {

#if DSL_DETAIL_ON_DEVICE

/// In 34 instructions instead of CUDA's 50, with smaller errors. (a + 2) e^(a^2) erfc(a) is a polynomial in a / (a + 2) - 1/2,
/// nearly (after M. Shepherd and J. Laframboise, Chebyshev Approximation of (1 + 2x) exp(x^2) erfc x, 1981), so that one
/// reciprocal gives the variable and the quotient.
DSL_DETAIL_FN float erfc(float x) {
  const float a = ::fminf(abs(x), 10.5f);  // from 10.06 on the result is 0
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(abs(x) + 2));  // of a NaN, a NaN
  r = fma(r, fma(-a, r, fma(r, -2.0f, 1.0f)), r);                 // of a + 2 as it is before rounding
  const float u = fma(a, r, -0.5f);
  float scaled = fma(-0x1.800606p-6f, u, -0x1.15eebep-3f);
  scaled = fma(scaled, u, -0x1.7efea6p-4f);
  scaled = fma(scaled, u, 0x1.8ed692p-3f);
  scaled = fma(scaled, u, 0x1.a5f3fp-3f);
  scaled = fma(scaled, u, -0x1.604b9p-2f);
  scaled = fma(scaled, u, -0x1.2a7d84p-2f);
  scaled = fma(scaled, u, 0x1.1e2dcp+0f);
  scaled = fma(scaled, u, -0x1.5fd38cp+0f);
  scaled = fma(scaled, u, 0x1.058672p+0f);
  // e^-square e^rest = 2^whole 2^part. Added to 1.5 2^23 a number becomes an integer, in the lowest bits; a power of two below
  // 2^-126 is reached by the part. Products that are subtracted from must not be fused.
  constexpr float minus_log2_e = -0x1.715476p+0f, minus_log2_e_rest = -0x1.4ae0cp-26f, to_integers = 0x1.8p23f + 127;
  const float square = ::__fmul_rn(a, a), rest = fma(-a, a, square);
  const float shifted = fma(::fminf(square, 87.33f), minus_log2_e, to_integers), whole = shifted - to_integers;
  float part = fma(square, minus_log2_e, -whole);
  part = fma(square, minus_log2_e_rest, part);
  part = fma(rest, -minus_log2_e, part);
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(part));
  power *= __builtin_bit_cast(float, to_integer(shifted) << 23);
  const float result = ::__fmul_rn(scaled, r) * power;
  return select(x < 0, 2 - result, result);
}

#else
DSL_DETAIL_FN float erfc(float x) { return own::erfc(x); }
#endif
DSL_DETAIL_FN double erfc(double x) { return bounded::erfc(x); }

}  // namespace dsl::detail::math

// x^y of float and double.
#pragma once

#include <dsl/ir/arithmetic.hpp>
#include <dsl/ir/power_table.hpp>

namespace dsl::detail::math {

#if DSL_DETAIL_ON_DEVICE

// The cases that need CUDA's function, compiled once. `power` is |x|^y unless that is 0, infinite
// or subnormal.
template <class T> DSL_DETAIL_NOINLINE T rare_pow(T x, T y, T power, bool is_moderate) {
  if (x > -smallest_normal<T> || x == -infinity<T> || !is_moderate) return bounded::pow(x, y);
  const T whole = math::trunc(y);
  if (whole != y) return quiet_nan<T>;
  return whole != 2 * math::trunc(whole * T(0.5)) ? -power : power;
}

/// 2^(y log2 x), with half of the instructions of CUDA's powf and its accuracy. All rare cases are
/// behind one branch, so a thread's lanes are computed side by side. log2 x = e + log2 m is a sum
/// of two floats, where log m = 2 artanh((m - 1) / (m + 1)); everything after the first term of
/// that series is less than a hundredth and fits one float.
DSL_DETAIL_FN float pow(float x, float y) {
  const std::uint32_t size = to_integer(x) & ~sign_bit<float>;
  // x = m 2^e with m from sqrt(1/2) to sqrt(2)
  const auto exponent = static_cast<std::int32_t>(size - to_integer(0x1.6a09e6p-1f)) & ~0x7fffff;
  const float e = static_cast<float>(exponent) * 0x1p-23f;
  const float m = __builtin_bit_cast(float, size - static_cast<std::uint32_t>(exponent));
  const float f = m - 1, half = fma(m, 0.5f, -0.5f);
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(half + 1));
  // u + u_rest = 2 (m - 1) / (m + 1). Products from which something is subtracted must not be
  // fused.
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
  const float product = ::__fmul_rn(log2_x, y),
              product_rest = fma(log2_x_rest, y, fma(log2_x, y, -product));
  // Adding 1.5 2^23 to a number leaves the nearest integer in the lowest bits of the sum.
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

/// e^(y log x), with less than half of the operations of CUDA's pow and smaller errors (after S.
/// Nagy's pow in Arm's Optimized Routines, 2018, whose exponential also uses a table). log x = e
/// log 2 + log c + log(m / c), of which everything above a millionth is exact.
DSL_DETAIL_FN double pow(double x, double y) {
  const std::uint64_t size = to_integer(x) & ~sign_bit<double>;
  // x = m 2^e with m from about sqrt(1/2) to sqrt(2)
  const auto above = static_cast<std::int32_t>((size - 0x3fe6955500000000u) >> 32);
  const double e = above >> 20,
               m = __builtin_bit_cast(double,
                                      size - (static_cast<std::uint64_t>(above & ~0xfffff) << 32));
  const near_logarithm c = logarithm_near(above >> 13 & 127);
  // Products from which something is subtracted must not be fused.
  const double r = fma(m, c.inverse, -1.0), square = ::__dmul_rn(r, r);
  const double first = fma(e, 0x1.62e42fefa38p-1, c.log), second = first + r,
               log_x = fma(-0.5, square, second);
  double rest = fma(e, 0x1.ef35793c7673p-45, c.log_rest);
  rest = fma(-0.5, fma(r, r, -square), rest) + (first - second + r);
  rest += fma(-0.5, square, second - log_x);
  double series = fma(-0x1.00029bb5edcc8p-3, r, 0x1.24952f0b0d3e2p-3);
  series = fma(series, r, -0x1.55555553351c3p-3);
  series = fma(series, r, 0x1.999999973ce87p-3);
  series = fma(series, r, -0x1.0000000000002p-2);
  series = fma(series, r, 0x1.5555555555558p-2);
  rest = fma(series, r * square, rest);
  const double product = ::__dmul_rn(log_x, y),
               product_rest = fma(rest, y, fma(log_x, y, -product));
  // Adding 1.5 2^52 to a number leaves the nearest integer in the lowest bits of the sum.
  const double shifted = fma(product, 0x1.71547652b82fep+0, 0x1.8p52), whole = shifted - 0x1.8p52;
  const double t =
      fma(whole, -0x1.abc9e3b39803fp-56, fma(whole, -0x1.62e42fefa39efp-1, product)) + product_rest;
  double power = fma(0x1.af38a9b0ec855p-26, t, 0x1.289185613a3d6p-22);
  power = fma(power, t, 0x1.71de0dae63bb3p-19);
  power = fma(power, t, 0x1.a019b90d2ae7ap-16);
  power = fma(power, t, 0x1.a01a01a7c41d5p-13);
  power = fma(power, t, 0x1.6c16c1788bd9p-10);
  power = fma(power, t, 0x1.11111111109b3p-7);
  power = fma(power, t, 0x1.5555555553d63p-5);
  power = fma(power, t, 0x1.5555555555556p-3);
  power = fma(power, t, 0.5);
  power = fma(power, t, 1.0);
  power = fma(power, t, 1.0);
  power = __builtin_bit_cast(double, to_integer(power) + (to_integer(shifted) << 52));
  const bool is_moderate = abs(product) < 700;
  if (to_integer(x) - to_integer(smallest_normal<double>) < 0x7fe0000000000000u && is_moderate)
    return power;
  return rare_pow(x, y, power, is_moderate);
}

#else
DSL_DETAIL_FN float pow(float x, float y) { return own::pow(x, y); }
DSL_DETAIL_FN double pow(double x, double y) { return bounded::pow(x, y); }
#endif

}  // namespace dsl::detail::math

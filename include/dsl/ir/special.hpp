// Functions of real numbers that the C library lacks or whose vector versions need a wider range.
#pragma once

#include <dsl/ir/arithmetic.hpp>

namespace dsl::detail::math {

template <class T> inline constexpr T pi = T(3.14159265358979323846);
template <class T> inline constexpr T log_of_2 = T(0.69314718055994530942);

template <class T> inline constexpr T exp_is_finite_to = sizeof(T) == 4 ? T(88) : T(709);
template <class T> inline constexpr T exp_of_64 = T(6235149080811616882909238708.9284697448);

// The host's vector functions are accurate up to 88.5 or 709 (sinh, cosh), up to the square root of
// the largest number (asinh, acosh), and up to 1e38 or 1e307 (log1p). Beyond, sinh and cosh equal
// e^|x| / 2, asinh and acosh equal log(2|x|), and log1p equals log(x). These are computed by the
// same function with a smaller argument, without a second call.
template <std::floating_point T> DSL_DETAIL_FN T sinh(T x) {
#if DSL_DETAIL_ON_DEVICE
  return bounded::sinh(x);
#else
  const T size = abs(x);
  const bool large = size > exp_is_finite_to<T>;
  return copysign(
      bounded::sinh(size - select(large, T(64), T(0))) * select(large, exp_of_64<T>, T(1)), x);
#endif
}
template <std::floating_point T> DSL_DETAIL_FN T cosh(T x) {
#if DSL_DETAIL_ON_DEVICE
  return bounded::cosh(x);
#else
  const T size = abs(x);
  const bool large = size > exp_is_finite_to<T>;
  return bounded::cosh(size - select(large, T(64), T(0))) * select(large, exp_of_64<T>, T(1));
#endif
}

// log(2x) = 2 log(2 sqrt(x)) - log(2)
template <class T> inline constexpr T square_is_finite_to = power_of_two<T>(layout<T>::bias / 2);
template <std::floating_point T> DSL_DETAIL_FN T asinh(T x) {
#if DSL_DETAIL_ON_DEVICE
  return bounded::asinh(x);
#else
  const T size = abs(x);
  const bool large = size > square_is_finite_to<T>;
  const T y = bounded::asinh(select(large, math::sqrt(size), size));
  return copysign(select(large, 2 * y - log_of_2<T>, y), x);
#endif
}
template <std::floating_point T> DSL_DETAIL_FN T acosh(T x) {
#if DSL_DETAIL_ON_DEVICE
  return bounded::acosh(x);
#else
  const bool large = x > square_is_finite_to<T>;
  const T y = bounded::acosh(select(large, math::sqrt(x), x));
  return select(large, 2 * y - log_of_2<T>, y);
#endif
}

template <std::floating_point T> DSL_DETAIL_FN T log1p(T x) {
#if DSL_DETAIL_ON_DEVICE
  return bounded::log1p(x);
#else
  const bool large = x > power_of_two<T>(layout<T>::bias - 4);
  const T y = bounded::log1p(select(large, x * T(0x1p-64), x));
  return select(large, y + 64 * log_of_2<T>, y);
#endif
}

// SLEEF's gamma function loses digits near the poles where gamma(1 - x) is not finite, and for
// floats where the result is subnormal. There the result is gamma of a larger number divided by the
// factors between, which are exact. From -44 (-184) on it is 0.
template <std::floating_point T> DSL_DETAIL_FN T tgamma(T x) {
#if DSL_DETAIL_ON_DEVICE
  return bounded::tgamma(x);
#else
  constexpr bool is_float = sizeof(T) == 4;
  constexpr int moved = is_float ? 12 : 14;
  const bool low = x < (is_float ? -32 : -170);
  T between = 1;
  for (int k = 0; k < moved; ++k) between *= x + static_cast<T>(k);
  return bounded::tgamma(select(low, x + moved, x)) / select(low, between, T(1));
#endif
}
// SLEEF's lgamma becomes infinite too early. For large numbers it is computed as 2 lgamma(x / 2) +
// x log(2), because lgamma(x) is nearly x (log(x) - 1).
template <std::floating_point T> DSL_DETAIL_FN T lgamma(T x) {
#if DSL_DETAIL_ON_DEVICE
  return bounded::lgamma(x);
#else
  const bool large = x > (sizeof(T) == 4 ? T(1e36) : T(1e305));
  const T y = bounded::lgamma(select(large, x / 2, x));
  return select(large, 2 * y + log_of_2<T> * x, y);
#endif
}

template <class T> DSL_DETAIL_FN T rsqrt(T x) {
#if DSL_DETAIL_ON_DEVICE
  if constexpr (std::same_as<T, float>) return ::rsqrtf(x);
  else return ::rsqrt(x);
#else
  return 1 / math::sqrt(x);
#endif
}

template <class T> DSL_DETAIL_FN constexpr T degrees(T x) { return x * T(57.29577951308232087680); }
template <class T> DSL_DETAIL_FN constexpr T radians(T x) { return x * T(0.01745329251994329577); }

/// The step function: 0 for x < 0, `at_zero` for x = 0, 1 for x > 0; NaN for NaN.
template <class T> DSL_DETAIL_FN constexpr T heaviside(T x, T at_zero) {
  return select(x == 0, at_zero, select(x != x, x, convert<T>(x > 0)));
}

/// sin(pi x) / (pi x). It is 1 for 0 and for every x whose result rounds to 1, where numerator and
/// denominator would be subnormal.
template <class T> DSL_DETAIL_FN T sinc(T x) {
  const bool is_one = abs(x) < (sizeof(T) == 4 ? T(0x1p-13) : T(0x1p-28));
  const T away = select(is_one, T(1), x);
  return select(is_one, T(1), math::sinpi(away) / (pi<T> * away));
}

// log(e^a + e^b) = max + log(1 + e^-|a - b|), in which nothing overflows. For two equal infinities
// the difference would be NaN.
template <class T> DSL_DETAIL_FN T logaddexp(T a, T b) {
  const T difference = abs(a - b);
  return select(a == b, a + log_of_2<T>, max(a, b) + math::log1p(math::exp(-difference)));
}
template <class T> DSL_DETAIL_FN T logaddexp2(T a, T b) {
  const T difference = abs(a - b);
  return select(a == b, a + T(1),
                max(a, b) + math::log1p(math::exp2(-difference)) * (1 / log_of_2<T>));
}

/// The fractional part of x, with the sign of x; 0 for an infinity.
template <class T> DSL_DETAIL_FN T modf_fraction(T x) {
  return copysign(select(isinf(x), T(0), x - math::trunc(x)), x);
}

}  // namespace dsl::detail::math

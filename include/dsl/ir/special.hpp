// Functions of real numbers beyond the C library's.
#pragma once

#include <dsl/ir/arithmetic.hpp>

namespace dsl::detail::math {

template <class T> inline constexpr T pi = T(3.14159265358979323846);
template <class T> inline constexpr T log_of_2 = T(0.69314718055994530942);

template <class T> inline constexpr T exp_is_finite_to = sizeof(T) == 4 ? T(88) : T(709);
template <class T> inline constexpr T exp_of_64 = T(6235149080811616882909238708.9284697448);

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

/// The step from 0 to 1 with `at_zero` in between.
template <class T> DSL_DETAIL_FN constexpr T heaviside(T x, T at_zero) {
  return select(x == 0, at_zero, select(x != x, x, convert<T>(x > 0)));
}

/// sin(pi x) / (pi x), and 1 at 0.
template <class T> DSL_DETAIL_FN T sinc(T x) {
  const T away = select(x == 0, T(1), x);
  return select(x == 0, T(1), math::sinpi(away) / (pi<T> * away));
}

// log(e^a + e^b) = max + log(1 + e^-|a - b|), in which nothing overflows. Where both are the same infinity the difference is NaN.
template <class T> DSL_DETAIL_FN T logaddexp(T a, T b) {
  const T apart = abs(a - b);
  return select(a == b, a + log_of_2<T>, max(a, b) + math::log1p(math::exp(-apart)));
}
template <class T> DSL_DETAIL_FN T logaddexp2(T a, T b) {
  const T apart = abs(a - b);
  return select(a == b, a + T(1), max(a, b) + math::log1p(math::exp2(-apart)) * (1 / log_of_2<T>));
}

/// x less `trunc`, with x's sign; 0 of an infinity.
template <class T> DSL_DETAIL_FN T modf_fraction(T x) { return copysign(select(isinf(x), T(0), x - math::trunc(x)), x); }

}  // namespace dsl::detail::math

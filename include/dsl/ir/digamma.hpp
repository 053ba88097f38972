// digamma(x), the derivative of log |gamma(x)|, by the library's own code on every device.
#pragma once

#include <dsl/ir/logarithm.hpp>

namespace dsl::detail::math {

/// The fitted parts of digamma, by `lib/ir/special.py digamma`.
///
/// near(u)     (1 + s) digamma(1 + s) / (s - root), for s = u + 1/2 from 0 to 1
/// root        where digamma(1 + root) = 0: the nearest T, and the rest
/// far(q)      (digamma(y + 1/2) - log y) / q, for q = 1 / (y^2 + moved) and y from 3/2
/// tangent(v)  (1 - 4 v) tan(pi t) / (pi t), for v = t^2 and t from 0 to 1/4
template <class T> struct digamma_fit;
template <> struct digamma_fit<float> {
  static constexpr float root = 0x1.d8b618p-2f, root_rest = 0x1.ab5f2p-27f, moved = 0.5f;
  DSL_DETAIL_FN static float near(float u) {
    return polynomial(u, 0x1.5072eep-12f, -0x1.b9348p-11f, 0x1.137b36p-9f, -0x1.83764cp-8f,
                      0x1.25da0ep-6f, -0x1.01497p-4f, 0x1.433082p-2f, 0x1.6d3498p+0f);
  }
  DSL_DETAIL_FN static float far(float q) {
    return polynomial(q, 0x1.32612ap-9f, 0x1.a06772p-10f, 0x1.c7bd6ep-8f, 0x1.bbbfa6p-7f,
                      0x1.555554p-5f);
  }
  DSL_DETAIL_FN static float tangent(float v) {
    return polynomial(v, -0x1.f757eep-6f, -0x1.120ae6p-4f, -0x1.5f6dep-3f, -0x1.6b9666p-1f, 1.0f);
  }
};
template <> struct digamma_fit<double> {
  static constexpr double root = 0x1.d8b618d5af8fep-2, root_rest = -0x1.1e563779a1f5bp-56,
                          moved = 1;
  DSL_DETAIL_FN static double near(double u) {
    return polynomial(u, -0x1.65c5838fc84b5p-24, 0x1.c000ae495e21bp-23, -0x1.d25cf33cf4758p-22,
                      0x1.249b41e4166f2p-20, -0x1.74f75be924f02p-19, 0x1.d5d1bbfe33e82p-18,
                      -0x1.28be0b89ce5b1p-16, 0x1.78dba253a2662p-15, -0x1.e206eafdeb5afp-14,
                      0x1.379290ea96ecp-12, -0x1.996841b61bfap-11, 0x1.13f9ae1d3e0f1p-9,
                      -0x1.8417ed8f9c4efp-8, 0x1.25d9429f5af59p-6, -0x1.0148eed6c6c16p-4,
                      0x1.433082f058649p-2, 0x1.6d3498ca56891p+0);
  }
  DSL_DETAIL_FN static double far(double q) {
    return polynomial(
        q, 0x1.2ebcf5f5b03eep+10, -0x1.cacb1b73f6ee8p+11, 0x1.42b262995248cp+12,
        -0x1.1803c1c17a61cp+12, 0x1.504b725d97618p+11, -0x1.2987d6beb4c05p+10, 0x1.93ec733ec04a9p+8,
        -0x1.b1f4268c43701p+6, 0x1.7cc6e28b09e63p+4, -0x1.195e9bdfb8226p+2, 0x1.8175dd5139e57p-1,
        -0x1.9161b199c9a02p-4, 0x1.5d7d03ea69834p-5, 0x1.3806b8be362d7p-6, 0x1.b3a57e3225368p-6,
        0x1.bd7c5a960025bp-6, 0x1.fab7ab76440a8p-6, 0x1.199999999b069p-5, 0x1.5555555555553p-5);
  }
  DSL_DETAIL_FN static double tangent(double v) {
    return polynomial(v, -0x1.465cfd987512p-10, -0x1.41730607e8d1dp-9, -0x1.6ce14a1f1b587p-8,
                      -0x1.9c3388e8ceaa1p-7, -0x1.d5a30f60fccc7p-6, -0x1.1282931aa61eap-4,
                      -0x1.5f6c889d0e341p-3, -0x1.6b96676b3e0b2p-1, 1.0);
  }
};

/// digamma(1 + s) for s >= 0. From s = 1 on it is log y + 1 / (24 y^2) - ... for y = s + 1/2.
template <class T> DSL_DETAIL_FN T digamma_from_one(T s) {
  using fit = digamma_fit<T>;
  const bool is_near = s < 1;
  const T y = s + T(0.5), from_root = (s - fit::root) - fit::root_rest;
  const T quotient =
      select(is_near, from_root, T(1)) / select(is_near, 1 + s, times_plus(y, y, fit::moved));
  const T far = times_plus(quotient, fit::far(quotient), math::log(y));
  return select(is_near, quotient * fit::near(s - T(0.5)), far);
}

/// Up to 1 it is digamma(1 + x) - 1 / x, below 0 digamma(1 - x) - pi / tan(pi x). A whole number
/// below 0 and -infinity give NaN; 0 gives an infinity with the opposite sign of the zero.
template <class T> DSL_DETAIL_FN T digamma(T x) {
  using fit = digamma_fit<T>;
  constexpr T square_of_pi = T(9.86960440108935861883);
  // The distances to the next whole number and to the middle between two are exact.
  const T offset = x - math::rint(x), distance = abs(offset);
  const bool is_negative = x<0, is_middle = distance> T(0.25);
  const T t = select(is_middle, T(0.5) - distance, distance), sine = t * fit::tangent(t * t),
          cosine = 1 - 4 * t * t;
  const T over = select(is_middle, square_of_pi * sine, cosine),
          under = select(is_middle, cosine, sine);
  const T tail = select(is_negative, copysign(over, offset), select(x < 1, T(1), T(0))) /
                 select(is_negative, under, x);
  const T value = digamma_from_one(select(x < 1, abs(x), x - 1)) - tail;
  return select(is_negative & (offset == 0), quiet_nan<T>, value);
}

}  // namespace dsl::detail::math

// Functions of complex numbers. No intermediate step overflows or cancels unless the result does.
// Infinities and NaN follow C99's Annex G in the cases that arise from finite arithmetic.
#pragma once

#include <dsl/ir/digamma.hpp>
#include <dsl/ir/erfc.hpp>
#include <dsl/ir/logarithm.hpp>
#include <dsl/ir/power.hpp>
#include <dsl/ir/special.hpp>

namespace dsl::detail::math {

/// The angle, from -pi to pi; 0 or pi for a real number.
template <class T> DSL_DETAIL_FN auto arg(T z) { return math::atan2(imag(z), real(z)); }
template <class T> DSL_DETAIL_FN complex_value<T> polar(T r, T theta) {
  return {r * math::cos(theta), r * math::sin(theta)};
}

/// e^z. If e^x is too large it is computed as e^(x - 64) e^64, multiplied by the second factor
/// last.
template <class T> DSL_DETAIL_FN complex_value<T> exp(complex_value<T> z) {
  const bool large = z.re > exp_is_finite_to<T>, vanishes = z.re == -infinity<T>;
  const T size = math::exp(z.re - select(large, T(64), T(0))),
          scale = select(large, exp_of_64<T>, T(1));
  const T angle = select(vanishes & !isfinite(z.im), copysign(T(0), z.im), z.im);
  const T re = size * math::cos(angle) * scale, im = size * math::sin(angle) * scale;
  return {select((z.re == infinity<T>)&!isfinite(z.im), z.re, re), select(z.im == 0, z.im, im)};
}

// sinh and cosh of a real number from one expm1, each to be multiplied by `scale`.
template <class T> struct hyperbolic { T sinh, cosh, scale; };
template <class T> DSL_DETAIL_FN hyperbolic<T> hyperbolic_of(T x) {
  const T size = abs(x);
  const bool large = size > exp_is_finite_to<T>;
  const T less_one = math::expm1(size - select(large, T(64), T(0))), power = less_one + 1;
  const T sinh = select(large, power, less_one + less_one / power) / 2,
          cosh = select(large, power, power + 1 / power) / 2;
  return {copysign(sinh, x), cosh, select(large, exp_of_64<T>, T(1))};
}

// Special cases of sinh and cosh. A zero operand gives a zero part, even if the other factor is
// infinite. A finite operand determines the sign. An infinite real part gives an infinite part even
// if the direction is unknown.
template <class T> DSL_DETAIL_FN bool has_unknown_direction(complex_value<T> z) {
  const bool infinite = isinf(z.re), finite = isfinite(z.im);
  return infinite & !finite;
}
template <class T> DSL_DETAIL_FN complex_value<T> sinh(complex_value<T> z) {
  const auto [sinh, cosh, scale] = hyperbolic_of(z.re);
  const T re = select(has_unknown_direction(z), infinity<T>, sinh * math::cos(z.im) * scale);
  return {select((z.re == 0) & !isfinite(z.im), z.re, re),
          select(z.im == 0, z.im, cosh * math::sin(z.im) * scale)};
}
template <class T> DSL_DETAIL_FN complex_value<T> cosh(complex_value<T> z) {
  const auto [sinh, cosh, scale] = hyperbolic_of(z.re);
  const T zero = select(z.re != z.re, z.im, copysign(T(1), z.re) * z.im);
  const T re = select(has_unknown_direction(z), infinity<T>, cosh * math::cos(z.im) * scale);
  const T im = select((z.re == 0) & !isfinite(z.im), T(0), sinh * math::sin(z.im) * scale);
  return {re, select(z.im == 0, zero, im)};
}
/// With q = e^(-2|x|) and p = 1 - q: tanh(x + iy) = (±p (1 + q) + 4 i q sin y cos y) / (p^2 + 4 q
/// cos^2 y). All terms of the denominator are positive.
template <class T> DSL_DETAIL_FN complex_value<T> tanh(complex_value<T> z) {
  const T exponent = -2 * abs(z.re), p = -math::expm1(exponent), q = math::exp(exponent);
  const T s = math::sin(z.im), c = math::cos(z.im), below = p * p + 4 * q * c * c;
  const bool far = q == 0;
  const T re = copysign(select(far, T(1), p * (1 + q) / below), z.re), im = 4 * q * s * c / below;
  return {select((z.re == 0) | (z.re != z.re), z.re, re),
          select(z.im == 0, z.im, select(far & !isfinite(z.im), copysign(T(0), z.im), im))};
}

template <class T> DSL_DETAIL_FN complex_value<T> sin(complex_value<T> z) {
  const complex_value<T> turned = sinh(complex_value<T>{z.im, -z.re});
  return {-turned.im, turned.re};
}
template <class T> DSL_DETAIL_FN complex_value<T> cos(complex_value<T> z) {
  return cosh(complex_value<T>{-z.im, z.re});
}
template <class T> DSL_DETAIL_FN complex_value<T> tan(complex_value<T> z) {
  const complex_value<T> turned = tanh(complex_value<T>{-z.im, z.re});
  return {turned.im, -turned.re};
}

/// log|z| + i arg(z). Near |z| = 1, where log|z| has fewer correct digits than |z|, log|z| is
/// computed as log(1 + m) / 2, where m = |z|^2 - 1 is summed from the exact upper halves of the
/// squares.
template <class T> DSL_DETAIL_FN complex_value<T> log(complex_value<T> z) {
  const T x = abs(z.re), y = abs(z.im), large = max(x, y), small = select(x > y, y, x),
          scale = safe_scale(large);
  const T size = math::hypot(large * scale, small * scale);
  const T large_upper = upper_half(large), small_upper = upper_half(small);
  const T lower =
      (large - large_upper) * (large + large_upper) + (small - small_upper) * (small + small_upper);
  const T m = ((large_upper * large_upper - 1) + small_upper * small_upper) + lower;
  const T log_scale =
      select(scale > 1, 54 * log_of_2<T>, select(scale < 1, -4 * log_of_2<T>, T(0)));
  const bool near_one = (size > T(0.5)) & (size < 2) & (scale == 1);
  const T re = select(near_one, math::log1p(m) / 2, math::log(size) - log_scale);
  return {select(isinf(z), infinity<T>, re), math::atan2(z.im, z.re)};
}

/// The square root whose real part is not negative. Its imaginary part has the sign of z's.
template <class T> DSL_DETAIL_FN complex_value<T> sqrt(complex_value<T> z) {
  const T scale = safe_scale(max(abs(z.re), abs(z.im))),
          back = select(scale > 1, T(0x1p-27), select(scale < 1, T(4), T(1)));
  const T re = z.re * scale, im = z.im * scale;
  const T large = math::sqrt((abs(re) + math::hypot(re, im)) / 2),
          small = abs(im) / (large + large);
  const bool right = !(re < 0);
  const T root_re = select(right, large, small) * back,
          root_im = select(right, small, large) * back;
  const bool zero = large == 0, endless = isinf(z.im);
  return {select(endless, infinity<T>, select(zero, T(0), root_re)),
          select(endless | zero, z.im, copysign(root_im, z.im))};
}

/// z^w as in NumPy: 1 if the exponent is 0. Otherwise a power of 0 is 0 if the exponent's real part
/// is positive, else NaN. Integer exponents below 100 use repeated multiplication; all others e^(w
/// log z).
template <class A, class B>
  requires(is_complex<A> || is_complex<B>)
DSL_DETAIL_FN auto pow(A a, B b) {
  using Z = std::conditional_t<is_complex<A>, A, B>;
  using T = real_type<Z>;
  const Z z = convert<Z>(a), w = convert<Z>(b);
  const bool small = abs(w.re) < 100, integer = w.re == math::rint(w.re);
  const bool whole = (w.im == 0) & small & integer;
  const int exponent = static_cast<int>(select(whole, w.re, T(0))), count = abs(exponent);
  Z product{1, 0}, factor = z;
  for (int bit = 0; bit < 7; ++bit) {
    // 1 times an infinite number would be NaN.
    const bool is_first = (count & ((1 << bit) - 1)) == 0;
    product = select((count >> bit & 1) != 0, select(is_first, factor, product * factor), product);
    factor = factor * factor;
  }
  const Z repeated = select(exponent < 0, divide(T(1), product), product);
  const T of_zero = select(w.re > 0, T(0), quiet_nan<T>);
  const Z other = select(whole, repeated, math::exp(w * math::log(z)));
  const bool base_is_zero = equal(z, T(0)), exponent_is_zero = equal(w, T(0));
  return select(base_is_zero & !exponent_is_zero, Z{of_zero, of_zero}, other);
}

}  // namespace dsl::detail::math

// Branch-free selection, and operations on the bits of floating point numbers.
#pragma once

#include <dsl/ir/dtype.hpp>

namespace dsl::detail::math {

// Integers wrap, as NumPy's do: arithmetic is done in the unsigned type.
template <class T>
concept wraps = std::integral<T> && !std::same_as<T, bool>;
template <wraps T>
using wrapping =
    std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;

/// The type of a complex number's parts; for a real type, the type itself.
template <class T> struct real_type_of { using type = T; };
template <class T> struct real_type_of<complex_value<T>> { using type = T; };
template <class T> using real_type = typename real_type_of<T>::type;

/// IEEE 754 layouts. The exponent is stored with `bias` added, above the `digits` bits of the
/// significand.
template <class T> struct layout;
template <> struct layout<float> {
  using bits = std::uint32_t;
  static constexpr int digits = 23, bias = 127;
};
template <> struct layout<double> {
  using bits = std::uint64_t;
  static constexpr int digits = 52, bias = 1023;
};
template <class T> using bits_of = typename layout<T>::bits;
template <class T> inline constexpr bits_of<T> sign_bit = bits_of<T>(1) << (8 * sizeof(T) - 1);
template <class T> inline constexpr bits_of<T> exponent_bits = bits_of<T>(2 * layout<T>::bias + 1)
                                                               << layout<T>::digits;
template <class T> inline constexpr T infinity = __builtin_bit_cast(T, exponent_bits<T>);
template <class T> inline constexpr T quiet_nan =
    __builtin_bit_cast(T, exponent_bits<T> | bits_of<T>(1) << (layout<T>::digits - 1));
template <class T> inline constexpr T smallest_normal =
    __builtin_bit_cast(T, bits_of<T>(1) << layout<T>::digits);

template <class T> DSL_DETAIL_FN constexpr bits_of<T> to_integer(T x) {
  return __builtin_bit_cast(bits_of<T>, x);
}
/// 2^k, for k from 1 - bias to bias.
template <class T> DSL_DETAIL_FN constexpr T power_of_two(int k) {
  return __builtin_bit_cast(T, static_cast<bits_of<T>>(k + layout<T>::bias) << layout<T>::digits);
}

/// x with the lower half of its significand cleared, so that its square is exact.
template <class T> DSL_DETAIL_FN constexpr T upper_half(T x) {
  return __builtin_bit_cast(T,
                            to_integer(x) & ~((bits_of<T>(1) << (layout<T>::digits / 2 + 1)) - 1));
}

// Selects without a branch. GCC would move the computation of `yes` behind a branch, and a loop
// with a call behind a branch does not vectorise. The masks become one blend.
template <class T> DSL_DETAIL_FN constexpr T select(bool condition, T yes, T no) {
#if DSL_DETAIL_ON_DEVICE
  return condition ? yes : no;
#else
  if constexpr (is_complex<T>) {
    return {select(condition, yes.re, no.re), select(condition, yes.im, no.im)};
  } else if constexpr (std::floating_point<T>) {
    return __builtin_bit_cast(T, select(condition, to_integer(yes), to_integer(no)));
  } else if constexpr (std::same_as<T, bool>) {
    return (condition & yes) | (!condition & no);
  } else {
    const auto mask = static_cast<T>(wrapping<T>(0) - wrapping<T>(condition));
    return static_cast<T>((yes & mask) | (no & ~mask));
  }
#endif
}

template <class T> DSL_DETAIL_FN constexpr bool isnan(T a) {
  if constexpr (is_complex<T>) return (a.re != a.re) | (a.im != a.im);
  else return a != a;
}
template <class T> DSL_DETAIL_FN constexpr bool isinf(T a) {
  if constexpr (is_complex<T>) {
    const bool re = isinf(a.re), im = isinf(a.im);
    return re | im;
  } else if constexpr (std::floating_point<T>) {
    return (a == infinity<T>) | (a == -infinity<T>);
  } else {
    return false;
  }
}
template <class T> DSL_DETAIL_FN constexpr bool isfinite(T a) {
  if constexpr (is_complex<T>) {
    const bool re = isfinite(a.re), im = isfinite(a.im);
    return re & im;
  } else if constexpr (std::floating_point<T>) {
    return (infinity<T> > a) & (a > -infinity<T>);
  } else {
    return true;
  }
}
/// a < 0. nvcc warns of this comparison for unsigned types.
template <class T> DSL_DETAIL_FN constexpr bool is_negative(T a) {
  if constexpr (std::unsigned_integral<T>) return false;
  else return a < T(0);
}
template <class T> DSL_DETAIL_FN constexpr bool signbit(T a) {
  if constexpr (std::floating_point<T>) return (to_integer(a) & sign_bit<T>) != 0;
  else return is_negative(a);
}
template <std::floating_point T> DSL_DETAIL_FN constexpr T copysign(T magnitude, T sign) {
  return __builtin_bit_cast(
      T, (to_integer(magnitude) & ~sign_bit<T>) | (to_integer(sign) & sign_bit<T>));
}

/// The bits of the number next to x in the direction of y. Neither may be NaN.
template <std::unsigned_integral U> DSL_DETAIL_FN constexpr U next_bits(U x, U y) {
  using S = std::make_signed_t<U>;
  constexpr U sign = static_cast<U>(U(1) << (8 * sizeof(U) - 1));
  // Integers in the order of the numbers: magnitudes, negated below zero.
  const S x_magnitude = static_cast<S>(x & ~sign), y_magnitude = static_cast<S>(y & ~sign);
  const S from = select((x & sign) != 0, static_cast<S>(-x_magnitude), x_magnitude);
  const S to = select((y & sign) != 0, static_cast<S>(-y_magnitude), y_magnitude);
  const S next = static_cast<S>(from + (to > from) - (to < from));
  const U of_zero = static_cast<U>(select(from == to, y, x) & sign);
  const U bits =
      select(next < 0, static_cast<U>(sign | static_cast<U>(-next)), static_cast<U>(next));
  return static_cast<U>(bits | select(next == 0, of_zero, U(0)));
}

/// The next number of dtype D after x towards y.
template <dtype D, std::floating_point T> DSL_DETAIL_FN constexpr T nextafter(T x, T y) {
  T next;
  if constexpr (D == dtype::float16)
    next = half_to_float(next_bits(float_to_half(x), float_to_half(y)));
  else if constexpr (D == dtype::bfloat16)
    next = bfloat16_to_float(next_bits(float_to_bfloat16(x), float_to_bfloat16(y)));
  else next = __builtin_bit_cast(T, next_bits(to_integer(x), to_integer(y)));
  return select((x != x) | (y != y), x + y, next);
}

template <dtype D> inline constexpr double largest = 0;
template <> inline constexpr double largest<dtype::float16> = 65504;
template <> inline constexpr double largest<dtype::bfloat16> = 0x1.fep127;
template <> inline constexpr double largest<dtype::float32> = 0x1.fffffep127;
template <> inline constexpr double largest<dtype::float64> = 0x1.fffffffffffffp1023;

/// Replaces NaN by 0 and infinities by the dtype's largest finite numbers.
template <dtype D, class T> DSL_DETAIL_FN constexpr T nan_to_num(T a) {
  if constexpr (is_complex<T>) {
    return {nan_to_num<real_of(D)>(a.re), nan_to_num<real_of(D)>(a.im)};
  } else if constexpr (std::floating_point<T>) {
    constexpr T most = static_cast<T>(largest<D>);
    return select(a != a, T(0), select(a > most, most, select(a < -most, -most, a)));
  } else {
    return a;
  }
}

// A subnormal number times 2^54 is normal, and the product is exact.
template <class T> DSL_DETAIL_FN constexpr bool is_subnormal(T x) {
  return (smallest_normal<T> > x) & (x > -smallest_normal<T>);
}
template <class T> DSL_DETAIL_FN constexpr T normalised(T x) {
  return select(is_subnormal(x), x * T(0x1p54), x);
}

/// x = mantissa * 2^exponent with 0.5 <= |mantissa| < 1. For 0, infinities and NaN the mantissa is
/// x itself and the exponent is 0.
template <std::floating_point T> DSL_DETAIL_FN constexpr T frexp_mantissa(T x) {
  const bits_of<T> half = to_integer(T(0.5)), rest = to_integer(normalised(x)) & ~exponent_bits<T>;
  return select((x == 0) | !isfinite(x), x, __builtin_bit_cast(T, rest | half));
}
template <std::floating_point T> DSL_DETAIL_FN constexpr int frexp_exponent(T x) {
  const bits_of<T> stored = (to_integer(normalised(x)) & exponent_bits<T>) >> layout<T>::digits;
  const int exponent =
      static_cast<int>(stored) - (layout<T>::bias - 1) - select(is_subnormal(x), 54, 0);
  return select((x == 0) | !isfinite(x), 0, exponent);
}

// The part of an out-of-range exponent that ldexp applies first. Both 2^k and the remaining power
// are then normal numbers, and a subnormal result is rounded once.
template <class T> DSL_DETAIL_FN constexpr int first_part(int exponent) {
  constexpr int most = layout<T>::bias, least = 1 - layout<T>::bias;
  return select(exponent > most, most, select(exponent < least, least + layout<T>::digits + 1, 0));
}

/// x * 2^exponent, rounded once.
template <std::floating_point T, std::integral N> DSL_DETAIL_FN constexpr T ldexp(T x, N exponent) {
  constexpr int most = layout<T>::bias, least = 1 - layout<T>::bias;
  int k = 0;
  if constexpr (sizeof(N) <= 2) {
    k = static_cast<int>(exponent);
  } else {
    constexpr N far = 5000;  // beyond it every result is 0 or infinite
    const N below = select(exponent > far, far, exponent);
    if constexpr (std::signed_integral<N>)
      k = static_cast<int>(select(below < -far, static_cast<N>(-far), below));
    else k = static_cast<int>(below);
  }
  const int first = first_part<T>(k), second = first_part<T>(k - first), rest = k - first - second;
  const int last = select(rest > most, most, select(rest < least, least, rest));
  return x * power_of_two<T>(first) * power_of_two<T>(second) * power_of_two<T>(last);
}

}  // namespace dsl::detail::math

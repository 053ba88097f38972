// Scalar arithmetic for every value type: wrapping integers, real and complex numbers.
#pragma once

#include <dsl/ir/elementary.hpp>

namespace dsl::detail::math {

/// Converts to an integer, rounding towards zero. A value out of range becomes the nearest end of
/// the range; NaN becomes 0.
template <wraps R, std::floating_point A> DSL_DETAIL_FN constexpr R truncate(A a) {
  // GCC vectorises a conversion to 32 bits, but not to fewer.
  using wide = std::conditional_t<(sizeof(R) < 4), std::int32_t, R>;
  constexpr int bits = 8 * static_cast<int>(sizeof(R)) - std::signed_integral<R>;
  constexpr A end = power_of_two<A>(bits);
  constexpr wide last = static_cast<wide>(~std::uint64_t{0} >> (64 - bits));
  if constexpr (std::signed_integral<R>) {
    const A size = __builtin_bit_cast(A, to_integer(a) & ~sign_bit<A>);
    using signed_bits = std::make_signed_t<bits_of<A>>;
    const wide that_end = static_cast<wide>(
        static_cast<wide>(static_cast<signed_bits>(to_integer(a)) >> (8 * sizeof(A) - 1)) ^ last);
    return static_cast<R>(static_cast<wide>(select(size < end, a, A(0))) |
                          select(size >= end, that_end, wide(0)));
  } else {
    return static_cast<R>(static_cast<wide>(select((a >= 0) & (a < end), a, A(0))) |
                          select(a >= end, last, wide(0)));
  }
}

/// Converts to the value type R. A complex number converts to a complex type, or to bool: whether
/// it differs from zero. No other conversion of a complex number exists.
template <class R, class A> DSL_DETAIL_FN constexpr R convert(A a) {
  if constexpr (std::same_as<R, A>) return a;
  else if constexpr (is_complex<R> && is_complex<A>)
    return {static_cast<real_type<R>>(a.re), static_cast<real_type<R>>(a.im)};
  else if constexpr (is_complex<R>) return {static_cast<real_type<R>>(a), 0};
  else if constexpr (is_complex<A>) return (a.re != 0) | (a.im != 0);
  else if constexpr (std::same_as<R, bool>) return a != A(0);
  else if constexpr (std::same_as<A, bool> && std::floating_point<R>)
    return select(a, R(1), R(0));  // a cast would not vectorise
  else if constexpr (wraps<R> && std::floating_point<A>) return truncate<R>(a);
  else return static_cast<R>(a);
}
/// Converts to the value type of dtype D. The value is rounded once, to the precision that D has in
/// memory.
template <dtype D, class A> DSL_DETAIL_FN constexpr value_t<D> convert_to(A a) {
  if constexpr (is_widened(D)) {
    if constexpr (std::same_as<A, double> || wraps<A>) return memory_t<D>(a);
    else return memory_t<D>(convert<float>(a));
  } else {
    return convert<value_t<D>>(a);
  }
}

DSL_DETAIL_BEGIN_CONTRACTED
template <class A, class B> DSL_DETAIL_FN constexpr auto add(A a, B b) {
  if constexpr (std::same_as<A, bool>) return a || b;
  else if constexpr (wraps<A>) return static_cast<A>(wrapping<A>(a) + wrapping<A>(b));
  else return a + b;
}
template <class A, class B> DSL_DETAIL_FN constexpr auto subtract(A a, B b) {
  if constexpr (wraps<A>) return static_cast<A>(wrapping<A>(a) - wrapping<A>(b));
  else return a - b;
}
template <class A, class B> DSL_DETAIL_FN constexpr auto multiply(A a, B b) {
  if constexpr (std::same_as<A, bool>) return a && b;
  else if constexpr (wraps<A>) return static_cast<A>(wrapping<A>(a) * wrapping<A>(b));
  else return a * b;
}
DSL_DETAIL_END_CONTRACTED
template <class A> DSL_DETAIL_FN constexpr auto negative(A a) {
  if constexpr (wraps<A>) return static_cast<A>(wrapping<A>(0) - wrapping<A>(a));
#if DSL_DETAIL_ON_DEVICE
  // Without the asm nvcc turns (-c) * x into -(c * x), which shares nothing with c * x: erfc of
  // both was computed twice.
  if constexpr (std::floating_point<A>) {
    if (!__builtin_is_constant_evaluated()) {
      A opposite;
      if constexpr (sizeof(A) == 4) asm("neg.f32 %0, %1;" : "=f"(opposite) : "f"(a));
      else asm("neg.f64 %0, %1;" : "=d"(opposite) : "d"(a));
      return opposite;
    }
  }
#endif
  if constexpr (!wraps<A>) return -a;
}

// int64 and uint64 are compared exactly: in float64, their common dtype, adjacent integers would
// compare equal.
template <class A, class B>
concept mixed_signs = wraps<A> && wraps<B> && std::signed_integral<A> != std::signed_integral<B>;

template <class A, class B> DSL_DETAIL_FN constexpr bool equal(A a, B b) {
  if constexpr (is_complex<A> && is_complex<B>) return (a.re == b.re) & (a.im == b.im);
  else if constexpr (is_complex<A>) return (a.re == b) & (a.im == 0);
  else if constexpr (is_complex<B> || (mixed_signs<A, B> && std::signed_integral<B>))
    return equal(b, a);
  else if constexpr (mixed_signs<A, B>) return (a >= 0) & (static_cast<B>(a) == b);
  else return a == b;
}
template <class A, class B> DSL_DETAIL_FN constexpr bool less(A a, B b) {
  if constexpr (!mixed_signs<A, B>) return a < b;
  else if constexpr (std::signed_integral<A>) return (a < 0) | (static_cast<B>(a) < b);
  else return (b > 0) & (a < static_cast<A>(b));
}
template <class A, class B> DSL_DETAIL_FN constexpr bool less_equal(A a, B b) {
  if constexpr (mixed_signs<A, B>) return !less(b, a);
  else return a <= b;
}

// Whether an integer is less (or greater) than a real number. Rounding to double keeps the order,
// so the rounded values decide unless they are equal: then b is a whole number, either
// representable in A or beyond all of A's values.
template <bool Greater, class A, std::floating_point B> DSL_DETAIL_FN constexpr bool
compares_integer(A a, B b) {
  const auto rounded = static_cast<double>(a), other = static_cast<double>(b);
  if (rounded != other) return Greater ? rounded > other : rounded < other;
  if (other >= power_of_two<double>(8 * static_cast<int>(sizeof(A)) - std::signed_integral<A>))
    return !Greater;
  return Greater ? a > static_cast<A>(other) : a < static_cast<A>(other);
}
/// a < b of any two real numbers, integers or booleans, exactly: no conversion to a common dtype
/// rounds one of them.
template <class A, class B> DSL_DETAIL_FN constexpr bool exactly_less(A a, B b) {
  if constexpr (std::floating_point<A> && std::floating_point<B>) return a < b;
  else if constexpr (std::floating_point<B>) return compares_integer<false>(a, b);
  else if constexpr (std::floating_point<A>) return compares_integer<true>(b, a);
  else if constexpr (std::signed_integral<A> == std::signed_integral<B>) return a < b;
  else if constexpr (std::signed_integral<A>) return a < 0 || static_cast<std::uint64_t>(a) < b;
  else return b > 0 && a < static_cast<std::uint64_t>(b);
}

// NaN wins, as in NumPy's minimum and maximum; it loses in fmin and fmax. Floats take one
// instruction on a GPU; the inner choice compiles to one on x86.
#if DSL_DETAIL_ON_DEVICE
#define DSL_DETAIL_OF_FLOATS(call)                       \
  if constexpr (std::same_as<T, float>) {                \
    if (!__builtin_is_constant_evaluated()) return call; \
  }
#else
#define DSL_DETAIL_OF_FLOATS(call)
#endif
template <class T> DSL_DETAIL_FN constexpr T min(T a, T b) {
  DSL_DETAIL_OF_FLOATS(fminimum(a, b))
  return select(a != a, a, a < b ? a : b);
}
template <class T> DSL_DETAIL_FN constexpr T max(T a, T b) {
  DSL_DETAIL_OF_FLOATS(fmaximum(a, b))
  return select(a != a, a, a > b ? a : b);
}
template <class T> DSL_DETAIL_FN constexpr T fmin(T a, T b) {
  DSL_DETAIL_OF_FLOATS(::fminf(a, b))
  return select(b != b, a, a < b ? a : b);
}
template <class T> DSL_DETAIL_FN constexpr T fmax(T a, T b) {
  DSL_DETAIL_OF_FLOATS(::fmaxf(a, b))
  return select(b != b, a, a > b ? a : b);
}
#undef DSL_DETAIL_OF_FLOATS

template <class T> DSL_DETAIL_FN constexpr auto abs(T a) {
  if constexpr (is_complex<T>) return math::hypot(a.re, a.im);
  else if constexpr (std::same_as<T, float>) return __builtin_fabsf(a);
  else if constexpr (std::same_as<T, double>) return __builtin_fabs(a);
  else if constexpr (std::signed_integral<T>) {
#if DSL_DETAIL_ON_DEVICE
    // ptxas 13.0 assumes that abs.s16 gives a positive number, for -32768 too. The asm hides the
    // operation from the compiler, so that it emits no abs.s16.
    if (sizeof(T) == 2 && !__builtin_is_constant_evaluated()) {
      int wide;
      asm("abs.s32 %0, %1;" : "=r"(wide) : "r"(static_cast<int>(a)));
      return static_cast<T>(wide);
    }
#endif
    return select(a < 0, negative(a), a);
  } else return a;
}
template <class T> DSL_DETAIL_FN constexpr auto real(T a) {
  if constexpr (is_complex<T>) return a.re;
  else return a;
}
template <class T> DSL_DETAIL_FN constexpr auto imag(T a) {
  if constexpr (is_complex<T>) return a.im;
  else return T(0);
}
template <class T> DSL_DETAIL_FN constexpr T conj(T a) {
  if constexpr (is_complex<T>) return {a.re, -a.im};
  else return a;
}
/// |a|^2
template <class T> DSL_DETAIL_FN constexpr auto abs2(T a) {
  if constexpr (is_complex<T>) return a.re * a.re + a.im * a.im;
  else return multiply(a, a);
}

// Computed from rint, which GCC vectorises even with trapping arithmetic, unlike floor. A zero
// result has the sign of x. An integer is returned unchanged.
template <class T> DSL_DETAIL_FN T floor(T x) {
  if constexpr (std::integral<T>) return x;
  else return math::rint(x) - convert<T>(math::rint(x) > x);
}
template <class T> DSL_DETAIL_FN T ceil(T x) {
  if constexpr (std::integral<T>) return x;
  else return -floor(-x);
}
template <class T> DSL_DETAIL_FN T trunc(T x) {
  if constexpr (std::integral<T>) return x;
  else return copysign(floor(abs(x)), x);
}
/// Rounds to the nearest integer, halves away from zero. Adds the largest number below one half,
/// because adding 0.5 would round 0.49999999999999994 up.
template <class T> DSL_DETAIL_FN T round(T a) {
  if constexpr (std::integral<T>) return a;
  else return math::trunc(a + copysign(T(0.5) - T(0.25) / (bits_of<T>(1) << layout<T>::digits), a));
}

/// The upper half of a product's bits.
template <std::unsigned_integral U> DSL_DETAIL_FN constexpr U upper_half_of_product(U a, U b) {
  if constexpr (sizeof(U) < 8) {
    using twice =
        std::conditional_t<sizeof(U) == 1, std::uint16_t,
                           std::conditional_t<sizeof(U) == 2, std::uint32_t, std::uint64_t>>;
    return static_cast<U>(static_cast<twice>(a) * static_cast<twice>(b) >> 8 * sizeof(U));
  } else {
#if DSL_DETAIL_ON_DEVICE
    if (!__builtin_is_constant_evaluated()) return ::__umul64hi(a, b);
#endif
    // Composed from 32-bit products, which have vector instructions.
    const U a_low = a & 0xffffffff, a_high = a >> 32, b_low = b & 0xffffffff, b_high = b >> 32;
    const U middle = a_high * b_low + (a_low * b_low >> 32),
            other = a_low * b_high + (middle & 0xffffffff);
    return a_high * b_high + (middle >> 32) + (other >> 32);
  }
}

template <wraps T> DSL_DETAIL_FN constexpr auto magnitude(T a) {
  return static_cast<std::make_unsigned_t<T>>(abs(a));
}

/// The unsigned type in which magnitudes are divided. A GPU has 32-bit registers; the host fits as
/// many 16-bit elements into a vector as possible. `inverts`: whether computing an inverse pays.
/// For 64 bits on a GPU it takes longer than dividing a thread's few elements.
#if DSL_DETAIL_ON_DEVICE
template <class T> using magnitude_type =
    std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
template <class T> inline constexpr bool inverts = sizeof(T) < 8;
#else
template <class T> using magnitude_type = std::make_unsigned_t<T>;
template <class T> inline constexpr bool inverts = true;
#endif

/// A divisor shared by many dividends. Each division multiplies by the inverse in units of 2^-bits,
/// rounded down. For a < 2^bits the quotient is then exact or 1 too small (a d' <= a / d < a d' +
/// 1), and the remainder shows which.
template <wraps T>
struct shared_divisor {
  using U = magnitude_type<T>;
  T value;
  // The divisor's magnitude, 1 if the divisor is 0; its inverse in units of 2^-bits.
  U size, inverse;
  DSL_DETAIL_FN explicit constexpr shared_divisor(T d)
      : value(d),
        size(static_cast<U>(magnitude(d) | static_cast<U>(d == 0))),
        inverse(static_cast<U>(static_cast<U>(~U(0)) / size)) {}
};
template <class T> DSL_DETAIL_FN constexpr T value_of(T divisor) { return divisor; }
template <class T> DSL_DETAIL_FN constexpr T value_of(const shared_divisor<T>& divisor) {
  return divisor.value;
}

/// Integer division as in C++, towards zero. Division by zero gives quotient 0 and remainder 0; a
/// quotient that overflows (the least number by -1) wraps.
template <wraps T> struct division { T quotient, rest; };
template <wraps T> DSL_DETAIL_FN constexpr division<T> divided(T a, T b) {
  const bool negates = std::signed_integral<T> && b == static_cast<T>(-1);
  const T within = static_cast<T>(a / select((b == 0) | negates, T(1), b));
  const T quotient = select(b == 0, T(0), select(negates, negative(a), within));
  return {quotient, select(b == 0, T(0), subtract(a, multiply(quotient, b)))};
}
template <wraps T> DSL_DETAIL_FN constexpr division<T> divided(T a, const shared_divisor<T>& b) {
  using U = magnitude_type<T>;
  const U size = magnitude(a), least = upper_half_of_product(size, b.inverse);
  const U left = static_cast<U>(size - static_cast<U>(least * b.size));
  const bool one_more = left >= b.size;
  const U quotient = static_cast<U>(least + one_more),
          rest = static_cast<U>(left - select(one_more, b.size, U(0)));
  const U signed_quotient =
      select(is_negative(a) != is_negative(b.value), static_cast<U>(U(0) - quotient), quotient);
  return {select(b.value == 0, T(0), static_cast<T>(signed_quotient)),
          static_cast<T>(select(is_negative(a), static_cast<U>(U(0) - rest), rest))};
}

/// The quotient. Integers: see `divided`. Complex divisors are scaled by their larger part (R. L.
/// Smith, Algorithm 116, 1962); division by complex zero divides both parts by 0. As in NumPy.
template <class A, class B> DSL_DETAIL_FN constexpr auto divide(A a, B b) {
  if constexpr (wraps<A>) {
    return divided(a, b).quotient;
  } else if constexpr (is_complex<B>) {
    const bool by_real = abs(b.re) >= abs(b.im), by_zero = (b.re == 0) & (b.im == 0);
    const auto large = select(by_real, b.re, b.im), small = select(by_real, b.im, b.re);
    const auto ratio = small / large,
               scale = 1 / select(by_zero, abs(large), large + small * ratio);
    const auto re = real(a), im = imag(a);
    const auto first = select(by_real, re, im), second = select(by_real, im, re);
    const auto cross = select(by_real, im - re * ratio, im * ratio - re);
    return B{select(by_zero, re, first + second * ratio) * scale,
             select(by_zero, im, cross) * scale};
  } else {
    return a / b;
  }
}

/// 1 / a. Complex numbers follow NumPy: the reciprocal of 0 is NaN.
template <class T> DSL_DETAIL_FN constexpr T reciprocal(T a) {
  if constexpr (is_complex<T>) {
    using part = real_type<T>;
    const bool by_real = abs(a.re) >= abs(a.im);
    const part large = select(by_real, a.re, a.im), small = select(by_real, a.im, a.re);
    const part ratio = small / large, below = large + small * ratio;
    return {select(by_real, part(1), ratio) / below, -select(by_real, ratio, part(1)) / below};
  } else {
    return divide(T(1), a);
  }
}

/// The remainder of the division towards zero. It has the dividend's sign.
template <wraps T, class B> DSL_DETAIL_FN constexpr T fmod(T a, B b) { return divided(a, b).rest; }

/// Whether the quotient rounded down is 1 less than the quotient rounded towards zero.
template <class T> DSL_DETAIL_FN constexpr bool is_less_rounded_down(T rest, T b) {
  return (rest != 0) & (is_negative(rest) != is_negative(b));
}

/// The quotient rounded down. For real numbers it is (a - remainder) / b rounded to the nearest
/// integer, as in Python, so that floor_divide(a, b) * b + remainder(a, b) equals a:
/// floor_divide(0.7, 0.1) is 6.
template <class T, class B> DSL_DETAIL_FN constexpr T floor_divide(T a, B b) {
  if constexpr (wraps<T>) {
    const auto of = divided(a, b);
    return subtract(of.quotient, static_cast<T>(is_less_rounded_down(of.rest, value_of(b))));
  } else {
    const T rest = fmod(a, b);
    const T quotient = (a - rest) / b - convert<T>(is_less_rounded_down(rest, b)),
            whole = math::floor(quotient);
    const T nearest = whole + convert<T>(quotient - whole > T(0.5));
    return select(b == 0, a / b, select(quotient == 0, copysign(T(0), a / b), nearest));
  }
}

/// The remainder of floor_divide. It has the divisor's sign.
template <class T, class B> DSL_DETAIL_FN constexpr T remainder(T a, B b) {
  const T rest = fmod(a, b), divisor = value_of(b);
  const T moved = select(is_less_rounded_down(rest, divisor), add(rest, divisor), rest);
  if constexpr (wraps<T>) return moved;
  else return select(rest == 0, copysign(rest, divisor), moved);
}

/// Integer power by repeated squaring; it wraps. A negative exponent gives the power truncated to
/// an integer.
template <wraps T> DSL_DETAIL_FN constexpr T pow(T base, T exponent) {
  if (is_negative(exponent))
    return base == 1                    ? T(1)
           : base == static_cast<T>(-1) ? (exponent & 1 ? static_cast<T>(-1) : T(1))
                                        : T(0);
  T result = 1;
  for (; exponent != 0; exponent = static_cast<T>(exponent >> 1)) {
    if (exponent & 1) result = multiply(result, base);
    base = multiply(base, base);
  }
  return result;
}

/// Euclid's algorithm on magnitudes. gcd(a, 0) is |a|.
template <std::unsigned_integral U> DSL_DETAIL_FN constexpr U gcd_of_magnitudes(U x, U y) {
  while (y != 0) {
    const U rest = static_cast<U>(x % y);
    x = y;
    y = rest;
  }
  return x;
}
template <wraps T> DSL_DETAIL_FN constexpr T gcd(T a, T b) {
  return static_cast<T>(gcd_of_magnitudes(magnitude(a), magnitude(b)));
}
/// The least common multiple of the magnitudes; 0 if an operand is 0. It wraps, as in NumPy, so it
/// may be negative.
template <wraps T> DSL_DETAIL_FN constexpr T lcm(T a, T b) {
  const auto x = magnitude(a), y = magnitude(b);
  return static_cast<T>(multiply(divide(x, gcd_of_magnitudes(x, y)), y));
}

// A shift by at least the number of bits, or by a negative number, shifts out every bit.
template <wraps T> DSL_DETAIL_FN constexpr bool shifts_within(T by) {
  return static_cast<std::make_unsigned_t<T>>(by) < 8 * sizeof(T);
}
template <wraps T> DSL_DETAIL_FN constexpr T left_shift(T a, T by) {
  const bool within = shifts_within(by);
  return select(within, static_cast<T>(wrapping<T>(a) << select(within, by, T(0))), T(0));
}
template <wraps T> DSL_DETAIL_FN constexpr T right_shift(T a, T by) {
  const bool within = shifts_within(by);
  const T out = select(is_negative(a), static_cast<T>(~T(0)), T(0));
  return select(within, static_cast<T>(a >> select(within, by, T(0))), out);
}
template <std::integral T> DSL_DETAIL_FN constexpr T bitwise_not(T a) {
  if constexpr (std::same_as<T, bool>) return !a;
  else return static_cast<T>(~a);
}

// A power of 4 whose product with the number neither overflows nor is subnormal.
template <class T> DSL_DETAIL_FN T safe_scale(T largest_part) {
  const bool huge = largest_part > power_of_two<T>(layout<T>::bias - 2);
  const bool tiny = largest_part < power_of_two<T>(1 - layout<T>::bias + layout<T>::digits + 2);
  return select(huge, T(0.0625), select(tiny, T(0x1p54), T(1)));
}

/// -1, 0 or 1; NaN for NaN. For a complex number: the number of magnitude 1 in the same direction;
/// 0 for 0.
template <class T> DSL_DETAIL_FN constexpr T sign(T a) {
  if constexpr (is_complex<T>) {
    using part = real_type<T>;
    const part scale = safe_scale(max(abs(a.re), abs(a.im)));
    const T scaled{a.re * scale, a.im * scale};
    const part size = abs(scaled);
    const bool one_infinite = isinf(a.re) ^ isinf(a.im);
    const T ends{select(isinf(a.re), copysign(part(1), a.re), part(0)),
                 select(isinf(a.im), copysign(part(1), a.im), part(0))};
    const T direction = select(one_infinite, ends, scaled) / select(one_infinite, part(1), size);
    return select(size == 0, T{}, direction);
  } else if constexpr (std::unsigned_integral<T>) {
    return a != 0;
  } else if constexpr (std::integral<T>) {
    return static_cast<T>((a > 0) - (a < 0));
  } else {
    return select(a != a, a, convert<T>(a > 0) - convert<T>(a < 0));
  }
}

}  // namespace dsl::detail::math

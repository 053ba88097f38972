// Scalar code: what a row of the op table may call. Written once for the device, the host loop and constant folding.
#pragma once

#include <cmath>
#include <concepts>
#include <type_traits>

#include <dsl/ir/dtype.hpp>

namespace dsl::detail {

// The host's functions are the C library's, under names of their own so that they can carry the simd attribute: in a vectorised
// loop GCC calls _ZGVdN8v_expf and its like instead, which SLEEF exports at 1 ULP.
#define DSL_DETAIL_REAL_FUNCTIONS(unary, binary) \
  unary(exp) unary(log) unary(sin) unary(cos) unary(tan) unary(sqrt) binary(pow) binary(atan2) binary(hypot)
#define DSL_DETAIL_UNARY(name)                                     \
  DSL_DETAIL_SIMD float dsl_detail_##name##f(float) __asm__(#name "f"); \
  DSL_DETAIL_SIMD double dsl_detail_##name(double) __asm__(#name);
#define DSL_DETAIL_BINARY(name)                                           \
  DSL_DETAIL_SIMD float dsl_detail_##name##f(float, float) __asm__(#name "f"); \
  DSL_DETAIL_SIMD double dsl_detail_##name(double, double) __asm__(#name);
extern "C" {
DSL_DETAIL_REAL_FUNCTIONS(DSL_DETAIL_UNARY, DSL_DETAIL_BINARY)
}
#undef DSL_DETAIL_UNARY
#undef DSL_DETAIL_BINARY

namespace math {

#if DSL_DETAIL_ON_DEVICE
#define DSL_DETAIL_CALL(name) ::name
#else
#define DSL_DETAIL_CALL(name) dsl_detail_##name
#endif
#define DSL_DETAIL_UNARY(name)                                                         \
  DSL_DETAIL_FN float name(float x) { return DSL_DETAIL_CALL(name##f)(x); }            \
  DSL_DETAIL_FN double name(double x) { return DSL_DETAIL_CALL(name)(x); }
#define DSL_DETAIL_BINARY(name)                                                              \
  DSL_DETAIL_FN float name(float x, float y) { return DSL_DETAIL_CALL(name##f)(x, y); }      \
  DSL_DETAIL_FN double name(double x, double y) { return DSL_DETAIL_CALL(name)(x, y); }
DSL_DETAIL_REAL_FUNCTIONS(DSL_DETAIL_UNARY, DSL_DETAIL_BINARY)
#undef DSL_DETAIL_REAL_FUNCTIONS
#undef DSL_DETAIL_UNARY
#undef DSL_DETAIL_BINARY
#undef DSL_DETAIL_CALL

// Integers wrap, as NumPy's do: the arithmetic is done in the unsigned type.
template <std::integral T>
  requires(!std::same_as<T, bool>)
using wrapping = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;

template <class T>
concept wraps = std::integral<T> && !std::same_as<T, bool>;

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
template <class A> DSL_DETAIL_FN constexpr auto negative(A a) {
  if constexpr (wraps<A>) return static_cast<A>(wrapping<A>(0) - wrapping<A>(a));
  else return -a;
}

// A choice without a branch. GCC would move the computation of `yes` behind a branch, and a loop with a call behind a branch does
// not vectorise; from the masks it makes one blend.
template <class T> DSL_DETAIL_FN constexpr T select(bool condition, T yes, T no) {
#if DSL_DETAIL_ON_DEVICE
  return condition ? yes : no;
#else
  if constexpr (is_complex<T>) {
    return {select(condition, yes.re, no.re), select(condition, yes.im, no.im)};
  } else if constexpr (std::floating_point<T>) {
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return __builtin_bit_cast(T, select(condition, __builtin_bit_cast(bits, yes), __builtin_bit_cast(bits, no)));
  } else if constexpr (std::same_as<T, bool>) {
    return (condition & yes) | (!condition & no);
  } else {
    const auto mask = static_cast<T>(wrapping<T>(0) - wrapping<T>(condition));
    return static_cast<T>((yes & mask) | (no & ~mask));
  }
#endif
}

/// To the value type R. A complex number becomes a bool by whether it is not zero, and nothing else.
template <class R, class A> DSL_DETAIL_FN constexpr R convert(A a) {
  if constexpr (std::same_as<R, A>) return a;
  else if constexpr (is_complex<R> && is_complex<A>) return {static_cast<typename R::real_type>(a.re), static_cast<typename R::real_type>(a.im)};
  else if constexpr (is_complex<R>) return {static_cast<typename R::real_type>(a), 0};
  else if constexpr (is_complex<A>) return (a.re != 0) | (a.im != 0);
  else if constexpr (std::same_as<R, bool>) return a != A(0);
  else return static_cast<R>(a);
}

template <class A, class B> DSL_DETAIL_FN constexpr bool equal(A a, B b) {
  if constexpr (is_complex<A> && is_complex<B>) return (a.re == b.re) & (a.im == b.im);
  else if constexpr (is_complex<A>) return (a.re == b) & (a.im == 0);
  else if constexpr (is_complex<B>) return equal(b, a);
  else return a == b;
}

// NaN wins, as in NumPy's minimum and maximum.
template <class T> DSL_DETAIL_FN constexpr T min(T a, T b) { return select((a < b) | (a != a), a, b); }
template <class T> DSL_DETAIL_FN constexpr T max(T a, T b) { return select((a > b) | (a != a), a, b); }

template <class T> DSL_DETAIL_FN constexpr auto abs(T a) {
  if constexpr (is_complex<T>) return math::hypot(a.re, a.im);
  else if constexpr (std::same_as<T, float>) return __builtin_fabsf(a);
  else if constexpr (std::same_as<T, double>) return __builtin_fabs(a);
  else if constexpr (std::signed_integral<T>) return select(a < 0, negative(a), a);
  else return a;
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

/// Integers divide as in C++, towards zero; by zero gives 0, and the quotient that does not fit wraps.
/// A complex divisor is scaled by its larger part (R. L. Smith, Algorithm 116, 1962), as in NumPy.
template <class A, class B> DSL_DETAIL_FN constexpr auto divide(A a, B b) {
  if constexpr (wraps<A>) {
    const bool negates = std::signed_integral<A> && b == static_cast<A>(-1);
    const A quotient = static_cast<A>(a / select((b == 0) | negates, A(1), b));
    return select(b == 0, A(0), select(negates, negative(a), quotient));
  } else if constexpr (is_complex<B>) {
    const bool by_real = abs(b.re) >= abs(b.im);
    const auto large = select(by_real, b.re, b.im), small = select(by_real, b.im, b.re);
    const auto ratio = small / large, scale = 1 / (large + small * ratio);
    const auto re = real(a), im = imag(a);
    const auto first = select(by_real, re, im), second = select(by_real, im, re);
    const auto cross = select(by_real, im - re * ratio, im * ratio - re);
    return B{(first + second * ratio) * scale, cross * scale};
  } else {
    return a / b;
  }
}

/// The remainder of `divide`: the dividend's sign, and the dividend itself where the divisor is 0.
template <class T> DSL_DETAIL_FN constexpr T remainder(T a, T b) { return subtract(a, multiply(divide(a, b), b)); }

/// Integers by repeated squaring, wrapping; a negative exponent gives the power truncated to an integer.
template <std::integral T> DSL_DETAIL_FN constexpr T pow(T base, T exponent) {
  if constexpr (std::same_as<T, bool>) {
    return base | !exponent;
  } else {
    if (exponent < 0) return base == 1 ? T(1) : base == static_cast<T>(-1) ? (exponent & 1 ? static_cast<T>(-1) : T(1)) : T(0);
    T result = 1;
    for (; exponent != 0; exponent = static_cast<T>(exponent >> 1)) {
      if (exponent & 1) result = multiply(result, base);
      base = multiply(base, base);
    }
    return result;
  }
}

}  // namespace math
}  // namespace dsl::detail

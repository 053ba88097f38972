// dsl::complex: the complex numbers that functors compute with, on the host and on the device.
#pragma once

#include <dsl/ir/op.hpp>

namespace dsl {

/// A complex number of float or double, with the layout of std::complex. Functors receive and
/// return it for complex64 and complex128. nvcc silently compiles std::complex arithmetic to
/// nothing in device code; the arithmetic of this class is the library's own and the same on all
/// devices: plain products, a real operand that stays real, and the functions that formulas have.
/// It converts implicitly from any std::complex, and explicitly to one. A C++ scalar or
/// std::complex combined with it takes its precision. It may be an array's element type.
template <std::floating_point T>
class complex {
  using value = detail::complex_value<T>;

 public:
  using value_type = T;

  DSL_DETAIL_FN constexpr complex(T re = 0, T im = 0) : re_(re), im_(im) {}
  template <class U>
  DSL_DETAIL_FN constexpr complex(const std::complex<U>& z)
      : re_(static_cast<T>(z.real())), im_(static_cast<T>(z.imag())) {}
  template <class U>
  DSL_DETAIL_FN constexpr explicit(sizeof(U) > sizeof(T)) complex(complex<U> z)
      : re_(static_cast<T>(z.real())), im_(static_cast<T>(z.imag())) {}
  template <class U>
  DSL_DETAIL_FN constexpr explicit operator std::complex<U>() const {
    return std::complex<U>(static_cast<U>(re_), static_cast<U>(im_));
  }

  DSL_DETAIL_FN constexpr T real() const { return re_; }
  DSL_DETAIL_FN constexpr T imag() const { return im_; }
  DSL_DETAIL_FN constexpr void real(T re) { re_ = re; }
  DSL_DETAIL_FN constexpr void imag(T im) { im_ = im; }

  DSL_DETAIL_FN friend constexpr complex operator+(complex a) { return a; }
  DSL_DETAIL_FN friend constexpr complex operator-(complex a) { return {-a.re_, -a.im_}; }
  // clang-format off
#define DSL_DETAIL_ARITHMETIC(token, name)                                                                                            \
  DSL_DETAIL_FN friend constexpr complex operator token(complex a, complex b) { return detail::math::name(a.as_value(), b.as_value()); } \
  DSL_DETAIL_FN friend constexpr complex operator token(complex a, T b) { return detail::math::name(a.as_value(), b); }                  \
  DSL_DETAIL_FN friend constexpr complex operator token(T a, complex b) { return detail::math::name(a, b.as_value()); }                  \
  DSL_DETAIL_FN constexpr complex& operator token##=(complex b) { return *this = *this token b; }                                       \
  DSL_DETAIL_FN constexpr complex& operator token##=(T b) { return *this = *this token b; }
  // clang-format on
  DSL_DETAIL_ARITHMETIC(+, add)
  DSL_DETAIL_ARITHMETIC(-, subtract)
  DSL_DETAIL_ARITHMETIC(*, multiply)
  DSL_DETAIL_ARITHMETIC(/, divide)
#undef DSL_DETAIL_ARITHMETIC
  DSL_DETAIL_FN friend constexpr bool operator==(complex a, complex b) {
    return detail::math::equal(a.as_value(), b.as_value());
  }

  // Conversion from and to the evaluator's type.
  DSL_DETAIL_FN constexpr complex(value z) : re_(z.re), im_(z.im) {}
  DSL_DETAIL_FN constexpr value as_value() const { return {re_, im_}; }

 private:
  T re_, im_;
};

namespace detail {

// Applies a row of the op table to a complex number and further operands.
template <op Code, class T, class... Z>
DSL_DETAIL_FN constexpr auto apply_to_numbers(Z... z) {
  constexpr weak_dtype type{dtype_v<complex<T>>};
  constexpr dtype D = resolve(Code, type, type).result.type;
  const auto result = scalar_code<Code>::template apply<value_t<D>, D>(z...);
  if constexpr (kind_of(D) == kind::complex) return complex<T>(result);
  else return result;
}

}  // namespace detail

// The functions of formulas that accept complex numbers.
#define DSL_FUNCTION(name, numpy, arity, operands, result, domain, ...) \
  DSL_FUNCTION_##arity##_##domain(name)
#define DSL_FUNCTION_1_any(name)                                \
  template <class T>                                            \
  DSL_DETAIL_FN constexpr auto name(complex<T> z) {             \
    return detail::apply_to_numbers<op::name, T>(z.as_value()); \
  }
#define DSL_FUNCTION_1_numeric DSL_FUNCTION_1_any
#define DSL_FUNCTION_1_ordered(name)
#define DSL_FUNCTION_2_any(name)
#define DSL_FUNCTION_2_ordered(name)
#define DSL_FUNCTION_2_integer(name)
#define DSL_FUNCTION_3_any(name)
#define DSL_FUNCTION_3_ordered(name)
#include <dsl/ir/ops.inc>
#undef DSL_FUNCTION_1_any
#undef DSL_FUNCTION_1_numeric
#undef DSL_FUNCTION_1_ordered
#undef DSL_FUNCTION_2_any
#undef DSL_FUNCTION_2_ordered
#undef DSL_FUNCTION_2_integer
#undef DSL_FUNCTION_3_any
#undef DSL_FUNCTION_3_ordered
template <class T>
DSL_DETAIL_FN constexpr complex<T> pow(complex<T> z, std::type_identity_t<complex<T>> w) {
  return detail::apply_to_numbers<op::pow, T>(z.as_value(), w.as_value());
}
template <class T>
DSL_DETAIL_FN constexpr complex<T> pow(std::type_identity_t<T> x, complex<T> w) {
  return detail::apply_to_numbers<op::pow, T>(x, w.as_value());
}
/// r (cos theta + i sin theta).
template <std::floating_point T>
DSL_DETAIL_FN constexpr complex<T> polar(T r, std::type_identity_t<T> theta = 0) {
  return detail::math::polar(r, theta);
}
/// z|^2, as std::norm computes it, for one number. dsl::norm of an array is a reduction.
template <class T>
DSL_DETAIL_FN constexpr T norm(complex<T> z) {
  return abs2(z);
}

namespace detail {

/// The type with which a functor is called for an element of dtype D: the element's type in memory,
/// or dsl::complex for complex numbers.
template <dtype D> struct argument_of { using type = element_t<D>; };
template <> struct argument_of<dtype::complex64> { using type = complex<float>; };
template <> struct argument_of<dtype::complex128> { using type = complex<double>; };
template <dtype D> using argument_t = typename argument_of<D>::type;

}  // namespace detail
}  // namespace dsl

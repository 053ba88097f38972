// The evaluator's complex number: the layout of std::complex, with arithmetic that inlines and runs
// on the device.
#pragma once

#include <dsl/ir/config.hpp>

namespace dsl::detail {

/// Multiplication and division use the plain formulas, as NumPy and Numba do, without the recovery
/// of infinities of C99's Annex G. A real operand stays real: t * z is (t re, t im), as in C++.
template <class T>
struct alignas(2 * sizeof(T)) complex_value {
  using real_type = T;
  T re, im;
  friend constexpr bool operator==(const complex_value&, const complex_value&) = default;
};

template <class T> inline constexpr bool is_complex = false;
template <class T> inline constexpr bool is_complex<complex_value<T>> = true;

DSL_DETAIL_BEGIN_CONTRACTED
#define DSL_DETAIL_COMPLEX template <class T> DSL_DETAIL_FN constexpr complex_value<T>
DSL_DETAIL_COMPLEX operator-(complex_value<T> a) { return {-a.re, -a.im}; }
DSL_DETAIL_COMPLEX operator+(complex_value<T> a, complex_value<T> b) {
  return {a.re + b.re, a.im + b.im};
}
DSL_DETAIL_COMPLEX operator+(complex_value<T> a, T b) { return {a.re + b, a.im}; }
DSL_DETAIL_COMPLEX operator+(T a, complex_value<T> b) { return {a + b.re, b.im}; }
DSL_DETAIL_COMPLEX operator-(complex_value<T> a, complex_value<T> b) {
  return {a.re - b.re, a.im - b.im};
}
DSL_DETAIL_COMPLEX operator-(complex_value<T> a, T b) { return {a.re - b, a.im}; }
DSL_DETAIL_COMPLEX operator-(T a, complex_value<T> b) { return {a - b.re, -b.im}; }
DSL_DETAIL_COMPLEX operator*(complex_value<T> a, complex_value<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
DSL_DETAIL_COMPLEX operator*(complex_value<T> a, T b) { return {a.re * b, a.im * b}; }
DSL_DETAIL_COMPLEX operator*(T a, complex_value<T> b) { return {a * b.re, a * b.im}; }
DSL_DETAIL_COMPLEX operator/(complex_value<T> a, T b) { return {a.re / b, a.im / b}; }
#undef DSL_DETAIL_COMPLEX
DSL_DETAIL_END_CONTRACTED

}  // namespace dsl::detail

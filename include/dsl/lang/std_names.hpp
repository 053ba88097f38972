// Error messages for std::exp(x) and the like, where x is an operand.
#pragma once

#include <dsl/lang/operands.hpp>

namespace dsl::detail {

template <class... X>
constexpr refused refuse_std() {
  static_assert(sizeof...(X) == 0,
                "functions of std:: take C++ numbers: of arrays, and in formulas, write "
                "dsl::exp(x) for std::exp(x)");
  return {};
}
template <class... X>
constexpr refused refuse_norm() {
  static_assert(sizeof...(X) == 0,
                "functions of std:: take C++ numbers: for std::norm(z) write dsl::abs2(z)");
  return {};
}
template <class... X>
constexpr refused refuse_clamp() {
  static_assert(sizeof...(X) == 0,
                "functions of std:: take C++ numbers: for std::clamp(x, low, high) write "
                "dsl::clip(x, low, high)");
  return {};
}

}  // namespace dsl::detail

// By the standard, a program that adds functions to namespace std has undefined behaviour. These
// overloads only make calls that do not compile anyway give the reason, in one line instead of
// forty lines of candidates. No call that a function of the standard library accepts chooses them.
#define DSL_STD(name, refuse)                    \
  template <class... X>                          \
    requires dsl::detail::call_of_operands<X...> \
  constexpr dsl::refused name(const X&...) {     \
    return dsl::detail::refuse<X...>();          \
  }
// For two operands of one type the standard's templates match as well; only the constraint makes
// these preferred.
#define DSL_STD_OF_SAME(name)                       \
  DSL_STD(name, refuse_std)                         \
  template <class X>                                \
    requires dsl::detail::call_of_operands<X>       \
  constexpr dsl::refused name(const X&, const X&) { \
    return dsl::detail::refuse_std<X>();            \
  }
namespace std {
DSL_STD(abs, refuse_std)
DSL_STD(fabs, refuse_std)
DSL_STD(fmod, refuse_std)
DSL_STD(remainder, refuse_std)
DSL_STD(copysign, refuse_std)
DSL_STD(nextafter, refuse_std)
DSL_STD(floor, refuse_std)
DSL_STD(ceil, refuse_std)
DSL_STD(trunc, refuse_std)
DSL_STD(rint, refuse_std)
DSL_STD(round, refuse_std)
DSL_STD(fmin, refuse_std)
DSL_STD(fmax, refuse_std)
DSL_STD(fma, refuse_std)
DSL_STD(isnan, refuse_std)
DSL_STD(isinf, refuse_std)
DSL_STD(isfinite, refuse_std)
DSL_STD(signbit, refuse_std)
DSL_STD(exp, refuse_std)
DSL_STD(exp2, refuse_std)
DSL_STD(expm1, refuse_std)
DSL_STD(log, refuse_std)
DSL_STD(log2, refuse_std)
DSL_STD(log10, refuse_std)
DSL_STD(log1p, refuse_std)
DSL_STD(pow, refuse_std)
DSL_STD(sqrt, refuse_std)
DSL_STD(cbrt, refuse_std)
DSL_STD(hypot, refuse_std)
DSL_STD(sin, refuse_std)
DSL_STD(cos, refuse_std)
DSL_STD(tan, refuse_std)
DSL_STD(asin, refuse_std)
DSL_STD(acos, refuse_std)
DSL_STD(atan, refuse_std)
DSL_STD(atan2, refuse_std)
DSL_STD(sinh, refuse_std)
DSL_STD(cosh, refuse_std)
DSL_STD(tanh, refuse_std)
DSL_STD(asinh, refuse_std)
DSL_STD(acosh, refuse_std)
DSL_STD(atanh, refuse_std)
DSL_STD(erf, refuse_std)
DSL_STD(erfc, refuse_std)
DSL_STD(tgamma, refuse_std)
DSL_STD(lgamma, refuse_std)
DSL_STD(ldexp, refuse_std)
DSL_STD(gcd, refuse_std)
DSL_STD(lcm, refuse_std)
DSL_STD(real, refuse_std)
DSL_STD(imag, refuse_std)
DSL_STD(conj, refuse_std)
DSL_STD(arg, refuse_std)
DSL_STD(polar, refuse_std)
DSL_STD(norm, refuse_norm)
DSL_STD(clamp, refuse_clamp)
DSL_STD_OF_SAME(min)
DSL_STD_OF_SAME(max)
}  // namespace std
#undef DSL_STD
#undef DSL_STD_OF_SAME

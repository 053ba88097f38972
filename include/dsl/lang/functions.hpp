// Operators and functions on arrays, expressions and symbols: one for each row of the op table
// (ir/ops.inc).
#pragma once

#include <dsl/lang/callable.hpp>
#include <dsl/lang/leaves.hpp>
#include <dsl/lang/other_headers.hpp>
#include <dsl/lang/std_names.hpp>

namespace dsl {

#define DSL_OPERATOR(name, token, numpy, arity, ...) DSL_OPERATOR_##arity(name, token)
#define DSL_OPERATOR_1(name, token)             \
  template <class A>                            \
    requires detail::operator_call<op::name, A> \
  constexpr auto operator token(const A& a) {   \
    return detail::apply_function<op::name>(a); \
  }
#define DSL_OPERATOR_2(name, token)                       \
  template <class A, class B>                             \
    requires detail::operator_call<op::name, A, B>        \
  constexpr auto operator token(const A& a, const B& b) { \
    return detail::apply_function<op::name>(a, b);        \
  }
namespace detail {

template <class S>
constexpr auto hold_operand() {
  static_assert(!is_symbol<S>, "a C++ variable holds no symbol: begin with one, auto sum = 0 * v");
  static_assert(
      is_symbol<S>,
      "an expression is not a value yet: x.value() evaluates it, copies it to the host and waits");
}

template <class Never>
refused refuse_call() {
  static_assert(!std::is_void_v<Never>,
                "functions of dsl take arrays, views, scalars and expressions, and C++ numbers "
                "beside them: of a std::vector take "
                "dsl::to_device(v), of numbers alone the function of std::");
  return {};
}

}  // namespace detail

// One template for each name. The error for a wrong number of operands is in apply_function.
#define DSL_FUNCTION(name, ...)                                                        \
  template <class... X>                                                                \
    requires detail::operands<X...>                                                    \
  constexpr auto name(const X&... x) {                                                 \
    return detail::apply_function<op::name>(x...);                                     \
  }                                                                                    \
  template <class Never = void>                                                        \
  refused name(detail::no_operand, detail::no_operand = {}, detail::no_operand = {}) { \
    return detail::refuse_call<Never>();                                               \
  }
#define DSL_PAIR(name, numpy, first, second)             \
  template <class A>                                     \
    requires detail::operands<A>                         \
  constexpr auto name(const A& a) {                      \
    return detail::apply_pair<op::first, op::second>(a); \
  }
#include <dsl/ir/ops.inc>
#undef DSL_OPERATOR_1
#undef DSL_OPERATOR_2

// a += x and the like for arrays, scalars in device memory, views and elements: in place, one
// kernel. A symbol is replaced by the result, whose dtype may differ.
// clang-format off
#define DSL_COMPOUND(token)                                                              \
  template <class A, class B>                                                            \
    requires(detail::is_array<A> || detail::is_scalar<A>)                                \
  A& operator token##=(A& a, const B& b) {                                               \
    return a = a token b;                                                                \
  }                                                                                      \
  template <element T, int R, class B>                                                   \
  const view<T, R>& operator token##=(const view<T, R>& a, const B& b) {                 \
    return a = a token b;                                                                \
  }                                                                                      \
  template <element T, detail::any_operand B>                                            \
  const element_reference<T>& operator token##=(const element_reference<T>& a, const B& b) { \
    return a = a.view() token b;                                                         \
  }                                                                                      \
  template <class S, class B>                                                            \
    requires is_symbol<S>                                                                \
  constexpr auto& operator token##=(S& s, const B& b) {                                   \
    return s = s token b;                                      \
  }                                                                                      \
  template <element T, detail::lazy_operand X>                                           \
  constexpr auto& operator token##=(T& a, const X&) {                                    \
    detail::hold_operand<X>();                                                           \
    return a;                                                                            \
  }
// clang-format on
DSL_COMPOUND(+)
DSL_COMPOUND(-)
DSL_COMPOUND(*)
DSL_COMPOUND(/)
DSL_COMPOUND(%)
DSL_COMPOUND(<<)
DSL_COMPOUND(>>)
DSL_COMPOUND(&)
DSL_COMPOUND(|)
DSL_COMPOUND(^)
#undef DSL_COMPOUND

/// A C++ scalar as an operand of a formula: sqrt(dsl::constant(2.0)) * x. Its dtype is weak, like
/// that of a C++ scalar next to another operand. It is needed because std::sqrt(2.0) in a traced
/// lambda is a constant expression only for GCC; nvcc refuses it.
template <element T>
constexpr auto constant(T x) {
  return detail::make_expression<detail::identity_function>(x);
}

namespace detail {

template <dtype D, class A>
constexpr bool require_cast() {
  if constexpr (std::same_as<A, refused> || !require_operand<A>()) return false;
  else if constexpr (is_symbol<A>) return require_real_value<D, A::type.type>();
  else if constexpr (is_symbol<trace_t<operand_t<A>>>)
    return require_real_value<D, trace_t<operand_t<A>>::type.type>();
  else return true;
}

}  // namespace detail

/// The value converted to another dtype. To floating point: rounded. From floating point to an
/// integer: truncated; NaN becomes 0, and a value out of range the nearest limit. Integer to
/// integer: wraps. Complex to real is a compile-time error: take real(x), imag(x) or abs(x).
template <element T, class A>
  requires detail::operands<A>
constexpr auto cast(const A& a) {
  if constexpr (!detail::require_cast<dtype_v<T>, A>()) {
    return refused{};
  } else if constexpr (is_symbol<A>) {
    detail::tracer none{a.owner};
    return detail::cast_function<dtype_v<T>>::trace(none, a);
  } else {
    return detail::make_expression<detail::cast_function<dtype_v<T>>>(a);
  }
}

}  // namespace dsl

// Operators and functions on arrays, expressions and symbols: one for each row of the op table (ir/ops.inc).
#pragma once

#include <dsl/lang/expression.hpp>

namespace dsl {

#define DSL_OPERATOR(name, token, numpy, arity, ...) DSL_OPERATOR_##arity(name, token)
#define DSL_OPERATOR_1(name, token)                 \
  template <class A>                                \
    requires detail::operands<A>                    \
  constexpr auto operator token(const A& a) {       \
    return detail::apply_function<op::name>(a);     \
  }
#define DSL_OPERATOR_2(name, token)                         \
  template <class A, class B>                               \
    requires detail::operands<A, B>                         \
  constexpr auto operator token(const A& a, const B& b) {   \
    return detail::apply_function<op::name>(a, b);          \
  }
#define DSL_FUNCTION(name, numpy, arity, ...) DSL_FUNCTION_##arity(name)
#define DSL_FUNCTION_1(name)                        \
  template <class A>                                \
    requires detail::operands<A>                    \
  constexpr auto name(const A& a) {                 \
    return detail::apply_function<op::name>(a);     \
  }
#define DSL_FUNCTION_2(name)                        \
  template <class A, class B>                       \
    requires detail::operands<A, B>                 \
  constexpr auto name(const A& a, const B& b) {     \
    return detail::apply_function<op::name>(a, b);  \
  }
#define DSL_FUNCTION_3(name)                                    \
  template <class A, class B, class C>                          \
    requires detail::operands<A, B, C>                          \
  constexpr auto name(const A& a, const B& b, const C& c) {     \
    return detail::apply_function<op::name>(a, b, c);           \
  }
#define DSL_PAIR(name, numpy, first, second)                             \
  template <class A>                                                     \
    requires detail::operands<A>                                         \
  constexpr auto name(const A& a) {                                      \
    return detail::apply_pair<op::first, op::second>(a);                 \
  }
#include <dsl/ir/ops.inc>
#undef DSL_OPERATOR_1
#undef DSL_OPERATOR_2
#undef DSL_FUNCTION_1
#undef DSL_FUNCTION_2
#undef DSL_FUNCTION_3

// a += x and the like, for arrays and views: in place, one kernel.
#define DSL_COMPOUND(token)                                                              \
  template <class A, class B>                                                            \
    requires(detail::is_array<A> && detail::operands<A, B>)                              \
  A& operator token##=(A& a, const B& b) {                                               \
    return a = a token b;                                                                \
  }                                                                                      \
  template <element T, int R, class B>                                                   \
    requires detail::operands<view<T, R>, B>                                             \
  const view<T, R>& operator token##=(const view<T, R>& a, const B& b) {                 \
    return a = a token b;                                                                \
  }
DSL_COMPOUND(+) DSL_COMPOUND(-) DSL_COMPOUND(*) DSL_COMPOUND(/) DSL_COMPOUND(%)
DSL_COMPOUND(<<) DSL_COMPOUND(>>) DSL_COMPOUND(&) DSL_COMPOUND(|) DSL_COMPOUND(^)
#undef DSL_COMPOUND

/// The value as another dtype. To a floating point dtype it is rounded; from one to an integer it is truncated, NaN becomes 0 and what
/// is out of range the nearest end of it; integers wrap. Complex to real is an error: take real(x), imag(x) or abs(x).
template <element T, class A>
  requires detail::operands<A>
constexpr auto cast(const A& a) {
  if constexpr (is_symbol<A>) {
    detail::tracer none{a.owner};
    return detail::cast_function<dtype_v<T>>::trace(none, a);
  } else {
    return detail::make_expression<detail::cast_function<dtype_v<T>>>(a);
  }
}

}  // namespace dsl

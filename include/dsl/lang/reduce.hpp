// Reductions: outputs of a formula, or expressions of rank 0.
#pragma once

#include <dsl/lang/expression.hpp>

namespace dsl {

/// An axis; a negative one counts from the end.
struct axis {
  int number;
  constexpr explicit axis(int k) : number(k) {}
};

namespace detail {

/// NumPy's accumulator for sums: integers and booleans widen to 64 bits, half-precision sums in float.
constexpr dtype sum_dtype(dtype type) {
  if (kind_of(type) == kind::boolean) return dtype::int64;
  if (kind_of(type) == kind::integer) return info(type).is_signed ? dtype::int64 : dtype::uint64;
  return type;
}

template <op Reduction>
struct reduction_function {
  template <class Operand> static constexpr int rank = 0;
  template <class...> using calls = std::tuple<>;
  template <class S> static constexpr auto trace(tracer&, S s) { return reduce(s); }
  template <class S> static constexpr auto reduce(S s) {
    constexpr dtype total = sum_dtype(S::type.type);
    return reduced<Reduction, total>{convert_symbol<total, false>(s)};
  }
};

}  // namespace detail

/// The sum of all elements, 0 where there are none; of dtype int64 or uint64 for integers and booleans, else the operand's. Lazy:
/// assign it to a scalar<T>, or return it from a formula beside arrays. The order of summation is fixed, so that the result is the
/// same from run to run.
template <class A>
  requires detail::operands<A>
constexpr auto sum(const A& a) {
  if constexpr (is_symbol<A>) return detail::reduction_function<op::add>::reduce(a);
  else return detail::make_expression<detail::reduction_function<op::add>>(a);
}

}  // namespace dsl

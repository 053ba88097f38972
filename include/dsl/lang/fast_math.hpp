// Speed for accuracy, where it is asked for.
#pragma once

#include <dsl/ir/fast.hpp>
#include <dsl/lang/leaves.hpp>

namespace dsl {

namespace detail {

/// The operand's value or values, computed fast.
struct fast_math_function {
  template <class Operand> static constexpr int rank = Operand::rank;
  template <class...> using calls = tuple<>;
  template <class R> static constexpr auto trace(tracer&, const R& result) { return of(result); }
  template <class R> static constexpr auto of(const R& result) {
    if constexpr (is_tuple<R>)
      return unpack([](const auto&... r) { return tuple{of(r)...}; }, result);
    else if constexpr (requires { make_fast(result); }) return make_fast(result);
    else return result;  // a constant
  }
};

// The kernel keeps its name.
template <class E, class... Rest>
auto kernel_name(const expression<fast_math_function, E>& e, const Rest&... rest) {
  return kernel_name(get<0>(e.operands), rest...);
}

}  // namespace detail

/// The same formula with / exp exp10 log log2 log10 sin cos tan pow sqrt reciprocal of float32 (and
/// of the 16-bit dtypes) as the GPU's float intrinsics: __expf, __fdividef and so on, whose error
/// bounds are in the CUDA C++ Programming Guide; sin and cos of large arguments lose all digits. On
/// the host and in the simulator nothing changes, nor does anything in float64 and complex dtypes.
/// Applies to everything that the operand is computed from: an expression, the call of a vectorized
/// function (with all its outputs), or a symbol inside one; but not to the inside and the arguments
/// of functors that are called for each element.
template <class A>
  requires detail::operands<A>
constexpr auto fast_math(const A& a) {
  if constexpr (is_symbol<A>) return detail::make_fast(a);
  else return detail::make_expression<detail::fast_math_function>(a);
}

}  // namespace dsl

// fast_math: faster, less accurate float functions.
#pragma once

#include <dsl/ir/fast.hpp>
#include <dsl/lang/leaves.hpp>

namespace dsl {

namespace detail {

/// Function object of fast_math: the operand's value, or each value of a tuple, computed with the
/// GPU's intrinsics.
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

// fast_math(f(x)) has the kernel name of f(x).
template <class E, class... Rest>
auto kernel_name(const expression<fast_math_function, E>& e, const Rest&... rest) {
  return kernel_name(get<0>(e.operands), rest...);
}

}  // namespace detail

/// The same formula with the operations / exp exp2 exp10 log log2 log10 sin cos tan pow sqrt
/// reciprocal of float32 and the 16-bit dtypes computed by the GPU's intrinsics (__expf,
/// __fdividef, ...). Their error bounds are in the CUDA C++ Programming Guide; sin and cos of large
/// arguments lose all digits; for exp2, log2, sqrt and reciprocal a subnormal argument is 0, and so
/// is a subnormal result. Has no effect on the host, in the simulator, or on float64 and complex
/// dtypes.
///
/// `a` is an expression, a call of a vectorized function (all its outputs), or a symbol inside one.
/// fast_math applies to everything that `a` is computed from, except the bodies and arguments of
/// functors that are called for each element.
template <class A>
  requires detail::operands<A>
constexpr auto fast_math(const A& a) {
  if constexpr (is_symbol<A>) return detail::make_fast(a);
  else return detail::make_expression<detail::fast_math_function>(a);
}

}  // namespace dsl

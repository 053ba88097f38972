// Operations on floats that a GPU does in few instructions where operands are neither very large nor very small.
//
// The accurate ones test each operand and branch, so that one waits for the other. These give the same bits, or say that they are
// in doubt: then the element is to be computed again, accurately.
#pragma once

#include <dsl/ir/arithmetic.hpp>
#include <dsl/ir/op.hpp>
#include <dsl/ir/special.hpp>

namespace dsl::detail {

constexpr bool has_quick_form(op code, dtype type) {
  return type == dtype::float32 && (code == op::divide || code == op::reciprocal || code == op::sqrt || code == op::rsqrt);
}

/// The least and the greatest magnitude that quick forms have been given. Where these lie between 2^-60 and 2^60 no quotient or
/// root, nor what its rounding is found by, comes close to the ends of the range. A NaN gives a NaN, quickly or not.
struct quick_range {
  float least = 1, greatest = 1;
  bool strange = false;  // the same of an operand that all elements share, for which that takes no instruction an element
  DSL_DETAIL_FN bool in_doubt() const { return !(least >= 0x1p-60f) || !(greatest <= 0x1p60f); }
  DSL_DETAIL_FN void take(float x) {
    at_least(x);
    greatest = __builtin_fmaxf(greatest, __builtin_fabsf(x));
  }
  DSL_DETAIL_FN void at_least(float x) { least = __builtin_fminf(least, __builtin_fabsf(x)); }
  DSL_DETAIL_FN void take_shared(float x) {
    strange = strange || !(__builtin_fabsf(x) >= 0x1p-60f && __builtin_fabsf(x) <= 0x1p60f);
  }
};

namespace math::quick {

#if DSL_DETAIL_ON_DEVICE
DSL_DETAIL_FN float reciprocal(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return __fmaf_rn(r, __fmaf_rn(-x, r, 1.0f), r);
}
DSL_DETAIL_FN float rsqrt(float x) {
  float r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
DSL_DETAIL_FN float divide(float a, float b) {
  const float r = reciprocal(b);
  const float q = __fmul_rn(a, r);
  return __fmaf_rn(r, __fmaf_rn(-b, q, a), q);
}
DSL_DETAIL_FN float sqrt(float x) {
  const float r = rsqrt(x);
  const float s = __fmul_rn(x, r);
  return __fmaf_rn(__fmaf_rn(-s, s, x), __fmul_rn(0.5f, r), s);
}
#else
DSL_DETAIL_FN float reciprocal(float x) { return 1 / x; }
DSL_DETAIL_FN float rsqrt(float x) { return math::rsqrt(x); }
DSL_DETAIL_FN float divide(float a, float b) { return a / b; }
DSL_DETAIL_FN float sqrt(float x) { return math::sqrt(x); }
#endif

}  // namespace math::quick

/// An operation in its quick form. `Shared`: its first operand is the same for all elements.
template <op Code, bool Shared>
DSL_DETAIL_FN float quickly(quick_range& range, float a, float b) {
  static_assert(Code == op::divide);
  if constexpr (Shared) range.take_shared(a);
  else range.take(a);
  range.take(b);
  return math::quick::divide(a, b);
}
template <op Code, bool Shared>
DSL_DETAIL_FN float quickly(quick_range& range, float x) {
  if constexpr (Code == op::rsqrt) {
    range.at_least(x);
    return math::quick::rsqrt(x);
  } else {
    range.take(x);
    if constexpr (Code == op::sqrt) return math::quick::sqrt(x);
    else return math::quick::reciprocal(x);
  }
}

}  // namespace dsl::detail

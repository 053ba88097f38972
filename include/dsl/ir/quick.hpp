// Operations on floats in few GPU instructions, for operands that are neither very large nor very
// small.
//
// The accurate forms test each operand and branch, so lanes wait for each other. The quick forms
// give the same bits or report that they are in doubt; the element must then be computed again,
// accurately.
#pragma once

#include <dsl/ir/logarithm.hpp>
#include <dsl/ir/op.hpp>
#include <dsl/ir/special.hpp>

namespace dsl::detail {

constexpr bool has_quick_form(op code, dtype type) {
  return type == dtype::float32 && (code == op::divide || code == op::reciprocal ||
                                    code == op::sqrt || code == op::rsqrt || code == op::log);
}

/// The range of the operands and results that quick forms have met. If the least magnitude is at
/// least 2^-100, no intermediate value of a rounding step is subnormal. Operands that are too
/// large, 0 or NaN make a result 0 or NaN. `DividesOne`: the numerator that all elements share is
/// 1, so quotients are reciprocals.
template <bool DividesOne>
struct quick_range {
  static constexpr bool divides_one = DividesOne;
  // The least magnitude so far, or NaN.
  float least = 1;
  // For reciprocals, the sum of the squares of 1 - x r before the last iteration; small if all are
  // right.
  float missed = 0;
  DSL_DETAIL_FN bool in_doubt() const { return !(least >= 0x1p-100f) || !(missed < 0.5f); }
  DSL_DETAIL_FN void take(float x) { least = math::fminimum(least, __builtin_fabsf(x)); }
  /// Results for negative operands and infinity are discarded: these operands put the range in
  /// doubt.
  DSL_DETAIL_FN void take_positive(float x) {
    least = math::fminimum(least, x);
    missed = math::fma(x, 0.0f, missed);
  }
  DSL_DETAIL_FN void take_shared(float) {}
};

/// The range of a formula that is evaluated once, where operands that all elements share have not
/// been tested.
struct lane_range : quick_range<false> {
  DSL_DETAIL_FN void take_shared(float x) { take(x); }
};

/// The range of the operands that all elements share, which are tested once.
struct shared_range {
  static constexpr bool divides_one = false;
  bool in_doubt = false, all_one = true;
  float missed = 0;
  DSL_DETAIL_FN void take(float) {}
  DSL_DETAIL_FN void take_positive(float) {}
  DSL_DETAIL_FN void take_shared(float x) {
    in_doubt = in_doubt || !(__builtin_fabsf(x) >= 0x1p-100f);
    all_one = all_one && x == 1;
  }
};

namespace math::quick {

#if DSL_DETAIL_ON_DEVICE
/// 1 / x. `missed` grows by the square of 1 - x r, where r is the hardware's approximation: by at
/// most 2^-44 if |x| lies between 2^-126 and 2^126, otherwise to 1 or NaN, because 1 / x or x is 0,
/// subnormal or infinite.
DSL_DETAIL_FN float reciprocal(float x, float& missed) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  const float rest = __fmaf_rn(-x, r, 1.0f);
  missed = __fmaf_rn(rest, rest, missed);
  return __fmaf_rn(r, rest, r);
}
DSL_DETAIL_FN float rsqrt(float x) {
  float r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
DSL_DETAIL_FN float divide(float a, float b) {
  float missed = 0;
  const float r = reciprocal(b, missed);
  const float q = __fmul_rn(a, r);
  return __fmaf_rn(r, __fmaf_rn(-b, q, a), q);
}
DSL_DETAIL_FN float sqrt(float x) {
  const float r = rsqrt(x);
  const float s = __fmul_rn(x, r);
  return __fmaf_rn(__fmaf_rn(-s, s, x), __fmul_rn(0.5f, r), s);
}
DSL_DETAIL_FN float log(float x) {
  float exponent;
  return moderate_log(x, exponent);
}
#else
DSL_DETAIL_FN float reciprocal(float x, float&) { return 1 / x; }
DSL_DETAIL_FN float rsqrt(float x) { return math::rsqrt(x); }
DSL_DETAIL_FN float divide(float a, float b) { return a / b; }
DSL_DETAIL_FN float sqrt(float x) { return math::sqrt(x); }
DSL_DETAIL_FN float log(float x) { return math::log(x); }
#endif

}  // namespace math::quick

/// An operation in its quick form. `Shared`: its first operand is the same for all elements.
template <op Code, bool Shared, class Range>
DSL_DETAIL_FN float quickly(Range& range, float a, float b) {
  static_assert(Code == op::divide);
  if constexpr (Shared) range.take_shared(a);
  else range.take(a);
  if constexpr (Shared && Range::divides_one) return math::quick::reciprocal(b, range.missed);
  const float quotient = math::quick::divide(a, b);
  range.take(quotient);
  return quotient;
}
template <op Code, bool Shared, class Range>
DSL_DETAIL_FN float quickly(Range& range, float x) {
  if constexpr (Code == op::reciprocal) {
    return math::quick::reciprocal(x, range.missed);
  } else if constexpr (Code == op::rsqrt) {
    range.take(x);
    return math::quick::rsqrt(x);
  } else if constexpr (Code == op::log) {
    range.take_positive(x);
    return math::quick::log(x);
  } else {
    const float root = math::quick::sqrt(x);
    range.take(0x1p-49f * root);  // at least 2^-100 if x is
    return root;
  }
}

}  // namespace dsl::detail

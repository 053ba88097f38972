// The mathematical functions of the C library and of CUDA, with overloads for float and double.
// <cmath> would take 0.15 s to compile and is not needed: this file declares the host's functions,
// and nvcc knows the device's.
#pragma once

#include <dsl/ir/bits.hpp>

namespace dsl::detail {

// The host's functions are the C library's, under names of their own so that they can carry the
// simd attribute. In a vectorised loop GCC then calls _ZGVdN8v_expf and the like, which SLEEF
// exports with an error of at most 1 ULP.
#define DSL_DETAIL_DECLARE_1(name)                                      \
  DSL_DETAIL_SIMD float dsl_detail_##name##f(float) __asm__(#name "f"); \
  DSL_DETAIL_SIMD double dsl_detail_##name(double) __asm__(#name);
#define DSL_DETAIL_DECLARE_2(name)                                             \
  DSL_DETAIL_SIMD float dsl_detail_##name##f(float, float) __asm__(#name "f"); \
  DSL_DETAIL_SIMD double dsl_detail_##name(double, double) __asm__(#name);
extern "C" {
#define DSL_LIBRARY(name, numpy, arity, ...) DSL_DETAIL_DECLARE_##arity(name)
#define DSL_BOUNDED(name, numpy, arity, ...) DSL_DETAIL_DECLARE_##arity(name)
#define DSL_OWN(name, ...)                           \
  DSL_DETAIL_SIMD float dsl_detail_##name##f(float); \
  DSL_DETAIL_SIMD double dsl_detail_##name(double);
#include <dsl/ir/ops.inc>
DSL_DETAIL_SIMD double dsl_detail_fmod(double, double) __asm__("fmod");
// Defined in lib/ir/special.cpp. Their vector variants are faster than SLEEF's; their scalar
// variants are slower than the C library's.
DSL_DETAIL_SIMD float dsl_detail_own_erfcf(float);
DSL_DETAIL_SIMD float dsl_detail_own_powf(float, float);
}
#undef DSL_DETAIL_DECLARE_1
#undef DSL_DETAIL_DECLARE_2

namespace math {

#if DSL_DETAIL_ON_DEVICE
#define DSL_DETAIL_CALL(name, device) ::device
#define DSL_DETAIL_BUILTIN(name) ::name
#else
#define DSL_DETAIL_CALL(name, device) dsl_detail_##name
#define DSL_DETAIL_BUILTIN(name) __builtin_##name
#endif
#define DSL_DETAIL_DEFINE_1(name, device)                                              \
  DSL_DETAIL_FN float name(float x) { return DSL_DETAIL_CALL(name##f, device##f)(x); } \
  DSL_DETAIL_FN double name(double x) { return DSL_DETAIL_CALL(name, device)(x); }
#define DSL_DETAIL_DEFINE_2(name, device)                                                          \
  DSL_DETAIL_FN float name(float x, float y) { return DSL_DETAIL_CALL(name##f, device##f)(x, y); } \
  DSL_DETAIL_FN double name(double x, double y) { return DSL_DETAIL_CALL(name, device)(x, y); }
#define DSL_LIBRARY(name, numpy, arity, ...) DSL_DETAIL_DEFINE_##arity(name, name)
#define DSL_BOUNDED(name, numpy, arity, ...) \
  namespace bounded {                        \
  DSL_DETAIL_DEFINE_##arity(name, name)      \
  }
#define DSL_OWN(name, numpy, arity, operands, result, domain, flops, complex_flops, device) \
  DSL_DETAIL_DEFINE_##arity(name, device)
#include <dsl/ir/ops.inc>
#undef DSL_DETAIL_DEFINE_1
#undef DSL_DETAIL_DEFINE_2

#if !DSL_DETAIL_ON_DEVICE
namespace own {
#if DSL_DETAIL_CALLS_VECTORS
DSL_DETAIL_FN float erfc(float x) { return dsl_detail_own_erfcf(x); }
DSL_DETAIL_FN float pow(float x, float y) { return dsl_detail_own_powf(x, y); }
#else
using bounded::erfc, bounded::pow;
#endif
}  // namespace own
#endif

// These compile to single instructions.
DSL_DETAIL_FN float rint(float x) { return DSL_DETAIL_BUILTIN(rintf)(x); }
DSL_DETAIL_FN double rint(double x) { return DSL_DETAIL_BUILTIN(rint)(x); }
DSL_DETAIL_FN float fma(float x, float y, float z) { return DSL_DETAIL_BUILTIN(fmaf)(x, y, z); }
DSL_DETAIL_FN double fma(double x, double y, double z) { return DSL_DETAIL_BUILTIN(fma)(x, y, z); }
/// C23's fminimum and fmaximum: the smaller or larger operand, or NaN if either is NaN.
DSL_DETAIL_FN float fminimum(float x, float y) {
#if DSL_DETAIL_ON_DEVICE
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(x), "f"(y));
  return least;
#else
  return x != x || x < y ? x : y;
#endif
}
DSL_DETAIL_FN float fmaximum(float x, float y) {
#if DSL_DETAIL_ON_DEVICE
  float most;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(x), "f"(y));
  return most;
#else
  return x != x || x > y ? x : y;
#endif
}

// SLEEF's fmod gives NaN if the quotient overflows. A quotient of floats computed in double cannot
// overflow, so only the float version calls the vector function.
#if DSL_DETAIL_ON_DEVICE
DSL_DETAIL_FN float fmod(float x, float y) { return ::fmodf(x, y); }
#else
DSL_DETAIL_FN float fmod(float x, float y) { return static_cast<float>(dsl_detail_fmod(x, y)); }
#endif
DSL_DETAIL_FN double fmod(double x, double y) { return DSL_DETAIL_BUILTIN(fmod)(x, y); }

#undef DSL_DETAIL_CALL
#undef DSL_DETAIL_BUILTIN

/// Float functions at the speed of the device's special function unit, with its error bounds (CUDA
/// C++ Programming Guide, "Intrinsic Functions"). For exp2, log2, reciprocal and sqrt a subnormal
/// number is 0. On the host these are the ordinary functions.
namespace fast {
#if DSL_DETAIL_ON_DEVICE
#define DSL_DETAIL_FAST(intrinsic, ordinary) return intrinsic
#else
#define DSL_DETAIL_FAST(intrinsic, ordinary) return ordinary
#endif
DSL_DETAIL_FN float divide(float x, float y) { DSL_DETAIL_FAST(__fdividef(x, y), x / y); }
DSL_DETAIL_FN float exp(float x) { DSL_DETAIL_FAST(__expf(x), math::exp(x)); }
DSL_DETAIL_FN float exp10(float x) { DSL_DETAIL_FAST(__exp10f(x), math::exp10(x)); }
DSL_DETAIL_FN float log(float x) { DSL_DETAIL_FAST(__logf(x), bounded::log(x)); }
DSL_DETAIL_FN float log10(float x) { DSL_DETAIL_FAST(__log10f(x), math::log10(x)); }
DSL_DETAIL_FN float sin(float x) { DSL_DETAIL_FAST(__sinf(x), math::sin(x)); }
DSL_DETAIL_FN float cos(float x) { DSL_DETAIL_FAST(__cosf(x), math::cos(x)); }
DSL_DETAIL_FN float tan(float x) { DSL_DETAIL_FAST(__tanf(x), math::tan(x)); }
DSL_DETAIL_FN float pow(float x, float y) { DSL_DETAIL_FAST(__powf(x, y), own::pow(x, y)); }
#undef DSL_DETAIL_FAST
#if DSL_DETAIL_ON_DEVICE
#define DSL_DETAIL_UNIT(name, instruction, ordinary)                    \
  DSL_DETAIL_FN float name(float x) {                                   \
    float result;                                                       \
    asm(instruction ".approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x)); \
    return result;                                                      \
  }
#else
#define DSL_DETAIL_UNIT(name, instruction, ordinary) \
  DSL_DETAIL_FN float name(float x) { return ordinary; }
#endif
DSL_DETAIL_UNIT(exp2, "ex2", math::exp2(x))
DSL_DETAIL_UNIT(log2, "lg2", math::log2(x))
DSL_DETAIL_UNIT(reciprocal, "rcp", 1.0f / x)
DSL_DETAIL_UNIT(sqrt, "sqrt", math::sqrt(x))
#undef DSL_DETAIL_UNIT
}  // namespace fast

}  // namespace math
}  // namespace dsl::detail

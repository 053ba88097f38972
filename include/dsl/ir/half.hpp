// The two 16-bit floating point dtypes, as they lie in memory. Arithmetic on them is done in float.
//
// On the GPU a conversion is one instruction, in PTX: <cuda_fp16.h> would take longer to compile than all of dsl's headers. Its
// NaN is 0x7fff; all else is the same to the bit.
#pragma once

#include <cstdint>

#include <dsl/ir/config.hpp>

namespace dsl {

namespace detail {

// Branches are written as selects, so that the host loop vectorises.
DSL_DETAIL_FN constexpr std::uint32_t select(bool condition, std::uint32_t yes, std::uint32_t no) {
  const std::uint32_t mask = -static_cast<std::uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

DSL_DETAIL_FN constexpr float half_to_float(std::uint16_t half) {
#if DSL_DETAIL_ON_DEVICE
  if (!__builtin_is_constant_evaluated()) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
  }
#endif
  const std::uint32_t magnitude = half & 0x7fffu;
  // Moving the exponent by 127 - 15 is a multiplication by 2^112, exact for subnormal numbers too.
  const float scaled = __builtin_bit_cast(float, magnitude << 13) * 0x1p112f;
  const std::uint32_t finite = __builtin_bit_cast(std::uint32_t, scaled);
  const std::uint32_t bits = select(magnitude >= 0x7c00u, finite | 0x7f800000u, finite);
  return __builtin_bit_cast(float, bits | (half & 0x8000u) << 16);
}

/// Rounds to nearest, ties to even, as IEEE 754 asks.
DSL_DETAIL_FN constexpr std::uint16_t float_to_half(float value) {
#if DSL_DETAIL_ON_DEVICE
  if (!__builtin_is_constant_evaluated()) {
    std::uint16_t half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
  }
#endif
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, value), magnitude = bits & 0x7fffffffu;
  const std::uint32_t normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  // Adding 0.5 leaves a subnormal half's bits, rounded, at the end of the sum's significand.
  const float shifted = __builtin_bit_cast(float, select(magnitude < 0x38800000u, magnitude, 0u)) + 0.5f;
  const std::uint32_t subnormal = __builtin_bit_cast(std::uint32_t, shifted) - 0x3f000000u;
  std::uint32_t half = select(magnitude < 0x38800000u, subnormal, normal);
  half = select(magnitude >= 0x47800000u, 0x7c00u, half);
  half = select(magnitude > 0x7f800000u, 0x7e00u, half);
  return static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000u));
}

DSL_DETAIL_FN constexpr float bfloat16_to_float(std::uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
}

/// Rounds to nearest, ties to even.
DSL_DETAIL_FN constexpr std::uint16_t float_to_bfloat16(float value) {
#if DSL_DETAIL_ON_DEVICE
  if (!__builtin_is_constant_evaluated()) {
    std::uint16_t rounded;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
    return rounded;
  }
#endif
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return static_cast<std::uint16_t>(select((bits & 0x7fffffffu) > 0x7f800000u, bits >> 16 | 0x40u, rounded));
}

}  // namespace detail

/// IEEE 754 binary16: 11 significant bits, largest finite value 65504.
struct half {
  std::uint16_t bits = 0;
  constexpr half() = default;
  DSL_FN constexpr half(float value) : bits(detail::float_to_half(value)) {}
  DSL_FN constexpr operator float() const { return detail::half_to_float(bits); }
};

/// The upper 16 bits of a binary32: 8 significant bits, float's range.
struct bfloat16 {
  std::uint16_t bits = 0;
  constexpr bfloat16() = default;
  DSL_FN constexpr bfloat16(float value) : bits(detail::float_to_bfloat16(value)) {}
  DSL_FN constexpr operator float() const { return detail::bfloat16_to_float(bits); }
};

}  // namespace dsl

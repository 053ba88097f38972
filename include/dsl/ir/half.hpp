// The two 16-bit floating point dtypes as they are stored in memory. Arithmetic on them is done in
// float.
//
// On the GPU a conversion is one PTX instruction; including <cuda_fp16.h> would take longer than
// compiling all of dsl's headers. The GPU's NaN is 0x7fff; all other results agree with the host's
// to the bit.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <dsl/ir/config.hpp>

namespace dsl {

namespace detail {

// Selects by a mask, so that the host's loop vectorises.
DSL_DETAIL_FN constexpr std::uint32_t only_if(bool condition, std::uint32_t bits) {
  return -static_cast<std::uint32_t>(condition) & bits;
}

/// NaN becomes quiet, as in a processor's own conversion.
DSL_DETAIL_FN constexpr float half_to_float(std::uint16_t half) {
#if DSL_DETAIL_ON_DEVICE
  if (!__builtin_is_constant_evaluated()) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
  }
#endif
  const std::uint32_t magnitude = half & 0x7fffu;
  // Adding 127 - 15 to the exponent is a multiplication by 2^112, which is exact for subnormal
  // numbers too.
  const float scaled = __builtin_bit_cast(float, magnitude << 13) * 0x1p112f;
  const std::uint32_t finite = __builtin_bit_cast(std::uint32_t, scaled);
  const std::uint32_t special =
      only_if(magnitude >= 0x7c00u, 0x7f800000u) | only_if(magnitude > 0x7c00u, 0x00400000u);
  return __builtin_bit_cast(float, finite | special | (half & 0x8000u) << 16);
}

/// Rounds to nearest, ties to even, as IEEE 754 requires. NaN becomes 0x7e00 with its sign.
DSL_DETAIL_FN constexpr std::uint16_t float_to_half(float value) {
#if DSL_DETAIL_ON_DEVICE
  if (!__builtin_is_constant_evaluated()) {
    std::uint16_t half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
  }
#endif
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, value);
  const auto magnitude = static_cast<std::int32_t>(bits & 0x7fffffffu);
  // Clamped to [2^-14, 2^16]. g++ recognises minimum and maximum only when the bounds are literals;
  // otherwise it branches.
  const std::int32_t most = magnitude < 0x47800000 ? magnitude : 0x47800000,
                     normal = most > 0x38800000 ? most : 0x38800000;
  // `exponent` is a power of two, 2^13 times that of the number or of the smallest normal half.
  // Adding it to the number leaves the half's bits, rounded, at the end of the sum's significand.
  const std::uint32_t exponent = static_cast<std::uint32_t>(normal) & 0x7f800000u;
  const float sum =
      __builtin_bit_cast(float, exponent + (13u << 23)) + __builtin_bit_cast(float, most);
  const std::uint32_t half =
      __builtin_bit_cast(std::uint32_t, sum) + ((exponent - (113u << 23)) >> 13);
  return static_cast<std::uint16_t>(half | only_if(magnitude > 0x7f800000, 0x200u) |
                                    (bits >> 16 & 0x8000u));
}

DSL_DETAIL_FN constexpr float bfloat16_to_float(std::uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
}

/// Rounds to nearest, ties to even. NaN keeps its upper bits and becomes quiet.
DSL_DETAIL_FN constexpr std::uint16_t float_to_bfloat16(float value) {
#if DSL_DETAIL_ON_DEVICE
  if (!__builtin_is_constant_evaluated()) {
    std::uint16_t rounded;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
    return rounded;
  }
#endif
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t nan =
      only_if(static_cast<std::int32_t>(bits & 0x7fffffffu) > 0x7f800000, ~0u);
  return static_cast<std::uint16_t>(
      ((bits | (nan & 0x400000u)) + ((0x7fffu + (bits >> 16 & 1u)) & ~nan)) >> 16);
}

/// Converts to a float that is odd unless the conversion is exact. Rounding it once more, to at
/// most 22 digits, gives the same result as rounding x directly.
DSL_DETAIL_FN constexpr float to_odd_float(double x) {
  const auto nearest = static_cast<float>(x);
  const double back = nearest;
  const std::uint32_t towards_zero = __builtin_bit_cast(std::uint32_t, nearest) -
                                     (__builtin_fabs(back) > __builtin_fabs(x) ? 1u : 0u);
  return __builtin_bit_cast(float, towards_zero | (back != x ? 1u : 0u));
}
template <std::integral T> DSL_DETAIL_FN constexpr float to_odd_float(T x) {
  if constexpr (sizeof(T) <= 2) {
    return static_cast<float>(x);
  } else {
    constexpr bool is_long = sizeof(T) == 8;
    // The largest integer up to which all integers are exact; the low digits.
    constexpr T exact = T(1) << (is_long ? 53 : 24), low = is_long ? 0xffff : 0xff;
    using between = std::conditional_t<is_long, double, float>;  // represents every such number
    bool is_large = x > exact;
    if constexpr (std::signed_integral<T>) is_large |= x < -exact;
    const T cut = static_cast<T>(x & low & (T(0) - static_cast<T>(is_large)));
    const auto number = static_cast<between>(
        static_cast<T>((x ^ cut) | static_cast<T>(static_cast<T>(cut != 0) * (low + 1))));
    if constexpr (is_long) return to_odd_float(number);
    else return number;
  }
}

}  // namespace detail

/// IEEE 754 binary16: 11 significant bits, largest finite value 65504. Conversions from numbers of
/// any type round once.
struct half {
  std::uint16_t bits = 0;
  constexpr half() = default;
  DSL_FN constexpr half(float value) : bits(detail::float_to_half(value)) {}
  DSL_FN constexpr half(double value) : bits(detail::float_to_half(detail::to_odd_float(value))) {}
  /// Converts through float, which is exact except for numbers that become infinite anyway.
  template <std::integral T> DSL_FN constexpr half(T value) : half(static_cast<float>(value)) {}
  DSL_FN constexpr operator float() const { return detail::half_to_float(bits); }
};

/// The upper 16 bits of a binary32: 8 significant bits, the range of float. Conversions from
/// numbers of any type round once.
struct bfloat16 {
  std::uint16_t bits = 0;
  constexpr bfloat16() = default;
  DSL_FN constexpr bfloat16(float value) : bits(detail::float_to_bfloat16(value)) {}
  DSL_FN constexpr bfloat16(double value)
      : bits(detail::float_to_bfloat16(detail::to_odd_float(value))) {}
  template <std::integral T>
  DSL_FN constexpr bfloat16(T value)
      : bits(detail::float_to_bfloat16(detail::to_odd_float(value))) {}
  DSL_FN constexpr operator float() const { return detail::bfloat16_to_float(bits); }
};

}  // namespace dsl

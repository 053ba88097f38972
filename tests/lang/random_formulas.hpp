// The formulas of normal and exponential numbers, of their words and in higher precision.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

/// Difference in units in the last place of the exact value.
template <class T>
double units(T got, long double want) {
  const T nearest = static_cast<T>(std::fabs(want));
  const long double unit = std::nextafter(nearest, std::numeric_limits<T>::infinity()) - nearest;
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / unit);
}

/// The number in (0, 1] whose logarithm is taken; for floats of the first word.
template <class T>
long double positive_of(std::uint32_t high, std::uint32_t low) {
  if constexpr (sizeof(T) == 4) return (static_cast<T>(high >> 1) + T(0.5)) * T(0x1p-31);
  return (static_cast<T>(high >> 5) * T(0x1p26) + static_cast<T>(low >> 6) + T(0.5)) * T(0x1p-53);
}

/// The angle in half turns, plus a quarter of a turn for the cosine; for floats of the first word.
template <class T>
long double angle_of(std::uint32_t high, std::uint32_t low, bool of_cosine) {
  const std::uint32_t quarter = of_cosine ? 0x40000000 : 0;
  const long double half_turns =
      static_cast<long double>(static_cast<std::int32_t>(high + quarter)) * 0x1p-31L;
  return sizeof(T) == 8 ? half_turns + static_cast<long double>(low >> 1) * 0x1p-62L : half_turns;
}

/// The nearest multiple of a half is subtracted first, because pi itself is rounded.
inline long double sine_of_half_turns(long double half_turns) {
  const long double nearest = std::round(2 * half_turns),
                    rest = (half_turns - nearest / 2) * 3.14159265358979323846264338327950288L;
  switch (static_cast<int>(nearest) & 3) {
    case 0: return std::sin(rest);
    case 1: return std::cos(rest);
    case 2: return -std::sin(rest);
    default: return -std::cos(rest);
  }
}

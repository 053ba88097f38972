// Distances between elements in memory, in units in the last place.
#pragma once

#include <dsl/ir/dtype.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

namespace ulp {

using dsl::dtype;

template <class T> T read(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

inline double number(dtype type, const void* at) {
  switch (type) {
    case dtype::float16: return static_cast<double>(static_cast<float>(read<dsl::half>(at)));
    case dtype::bfloat16: return static_cast<double>(static_cast<float>(read<dsl::bfloat16>(at)));
    case dtype::float32: return static_cast<double>(read<float>(at));
    default: return read<double>(at);
  }
}

/// Counts numbers in their order; zeros of both signs differ by 1.
template <class S>
std::int64_t place(const void* at) {
  const auto bits = read<S>(at);
  constexpr S magnitude = static_cast<S>(~(S{1} << (8 * sizeof(S) - 1)));
  return bits < 0 ? -1 - std::int64_t{static_cast<S>(bits & magnitude)} : std::int64_t{bits};
}
/// The numbers between two places.
template <class S>
double steps(const void* a, const void* b) {
  const std::int64_t x = place<S>(a), y = place<S>(b);
  return static_cast<double>(static_cast<std::uint64_t>(std::max(x, y)) -
                             static_cast<std::uint64_t>(std::min(x, y)));
}

/// 0 if the elements are equal, or both NaN. Of integers 0 or 2^60.
inline double distance(dtype type, const void* a, const void* b) {
  if (dsl::kind_of(type) != dsl::kind::real)
    return std::memcmp(a, b, static_cast<std::size_t>(dsl::size_of(type))) == 0 ? 0 : 0x1p60;
  const double x = number(type, a), y = number(type, b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y) ? 0 : 0x1p60;
  switch (dsl::size_of(type)) {
    case 2: return steps<std::int16_t>(a, b);
    case 4: return steps<std::int32_t>(a, b);
    default: return steps<std::int64_t>(a, b);
  }
}

/// The difference of two complex numbers, in epsilons of the magnitude of the second.
inline double complex_distance(dtype part, const unsigned char* a, const unsigned char* b) {
  const int size = dsl::size_of(part);
  const double re = number(part, a) - number(part, b),
               im = number(part, a + size) - number(part, b + size);
  const double magnitude = std::hypot(number(part, b), number(part, b + size));
  const double smallest = part == dtype::float32 ? 0x1p-126 : 0x1p-1022;
  const double epsilon = part == dtype::float32 ? 0x1p-23 : 0x1p-52;
  const double found = std::hypot(re, im) / (std::fmax(magnitude, smallest) * epsilon);
  return std::isnan(found) ? 0x1p60 : found;
}

inline std::string spell(dtype type, const unsigned char* at) {
  switch (type) {
    case dtype::boolean: return *at != 0 ? "true" : "false";
    case dtype::int8: return std::to_string(read<std::int8_t>(at));
    case dtype::int16: return std::to_string(read<std::int16_t>(at));
    case dtype::int32: return std::to_string(read<std::int32_t>(at));
    case dtype::int64: return std::to_string(read<std::int64_t>(at));
    case dtype::uint8: return std::to_string(read<std::uint8_t>(at));
    case dtype::uint16: return std::to_string(read<std::uint16_t>(at));
    case dtype::uint32: return std::to_string(read<std::uint32_t>(at));
    case dtype::uint64: return std::to_string(read<std::uint64_t>(at));
    default: break;
  }
  const dtype part = dsl::real_of(type);
  char line[80];
  if (part == type) std::snprintf(line, sizeof line, "%.17g", number(type, at));
  else
    std::snprintf(line, sizeof line, "(%.17g, %.17g)", number(part, at),
                  number(part, at + dsl::size_of(part)));
  return line;
}

}  // namespace ulp

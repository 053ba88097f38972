// Random elements and relative differences. Each element depends only on its number, so a GPU and
// the host compute the same.
#pragma once

#include <cstdint>
#include <type_traits>

#include <dsl/ir/dtype.hpp>

namespace bench {

/// A complex number's parts are elements of their own.
template <class T> struct parts {
  using type = T;
  static constexpr int count = 1;
};
template <> struct parts<std::complex<float>> {
  using type = float;
  static constexpr int count = 2;
};
template <> struct parts<std::complex<double>> {
  using type = double;
  static constexpr int count = 2;
};

/// 32 random bits for a number (the finalizer of MurmurHash3, by Austin Appleby).
DSL_FN inline std::uint32_t hash(std::uint64_t i, std::uint32_t seed) {
  std::uint32_t h =
      (static_cast<std::uint32_t>(i) ^ static_cast<std::uint32_t>(i >> 32) * 0x9e3779b9u) +
      seed * 0x85ebca77u;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

/// Element number i: uniform in [0.5, 1.5), an integer in 0 to 7, or a bool.
template <class T> DSL_FN inline T random_element(std::uint64_t i, std::uint32_t seed) {
  const std::uint32_t h = hash(i, seed);
  if constexpr (std::is_same_v<T, bool>) return (h & 1u) != 0;
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(h & 7u);
  else return static_cast<T>(0.5f + static_cast<float>(h >> 8) * 0x1p-24f);
}

/// An element as a double, and its magnitude if it is a number.
template <class T> DSL_FN inline double as_double(T x) {
  if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)
    return static_cast<double>(static_cast<float>(x));
  else return static_cast<double>(x);
}
template <class T> DSL_FN inline double magnitude_of(T x) {
  const double a = as_double(x);
  return a > 0 ? a : a < 0 ? -a : 0;
}

/// |x - y|; infinity if only one of them is NaN.
template <class T> DSL_FN inline double difference_of(T x, T y) {
  const double a = as_double(x), b = as_double(y), off = a < b ? b - a : a - b;
  if (a == b || (a != a && b != b)) return 0;
  return off >= 0 ? off : __builtin_huge_val();
}

/// The largest difference relative to the largest magnitude.
inline double relative_difference(double difference, double magnitude) {
  return difference > 0 ? difference / magnitude : 0;
}

/// Calls f with the std::type_identity of a dtype's elements.
template <class F> void with_type_of(dsl::dtype type, F&& f) {
  using dsl::dtype;
  switch (type) {
    case dtype::boolean: return f(std::type_identity<bool>{});
    case dtype::int8: return f(std::type_identity<std::int8_t>{});
    case dtype::int16: return f(std::type_identity<std::int16_t>{});
    case dtype::int32: return f(std::type_identity<std::int32_t>{});
    case dtype::int64: return f(std::type_identity<std::int64_t>{});
    case dtype::uint8: return f(std::type_identity<std::uint8_t>{});
    case dtype::uint16: return f(std::type_identity<std::uint16_t>{});
    case dtype::uint32: return f(std::type_identity<std::uint32_t>{});
    case dtype::uint64: return f(std::type_identity<std::uint64_t>{});
    case dtype::float16: return f(std::type_identity<dsl::half>{});
    case dtype::bfloat16: return f(std::type_identity<dsl::bfloat16>{});
    case dtype::float32: return f(std::type_identity<float>{});
    case dtype::float64: return f(std::type_identity<double>{});
    case dtype::complex64: return f(std::type_identity<std::complex<float>>{});
    case dtype::complex128: return f(std::type_identity<std::complex<double>>{});
  }
}

}  // namespace bench

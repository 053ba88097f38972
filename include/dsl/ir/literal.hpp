// A constant's bits, as stored in graphs and programs.
#pragma once

#include <cstdint>

#include <dsl/ir/dtype.hpp>

namespace dsl::detail {

/// Two words; only complex128 uses the second.
struct literal {
  std::uint64_t bits = 0, second = 0;
  friend constexpr bool operator==(const literal&, const literal&) = default;
};

template <class V> DSL_DETAIL_FN constexpr std::uint64_t to_bits(V value) {
  if constexpr (std::same_as<V, float>) return __builtin_bit_cast(std::uint32_t, value);
  else if constexpr (std::same_as<V, double>) return __builtin_bit_cast(std::uint64_t, value);
  else if constexpr (std::same_as<V, complex_value<float>>)
    return to_bits(value.re) | to_bits(value.im) << 32;
  else return static_cast<std::uint64_t>(value);
}

template <class V> DSL_DETAIL_FN constexpr V from_bits(std::uint64_t bits) {
  if constexpr (std::same_as<V, float>)
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits));
  else if constexpr (std::same_as<V, double>) return __builtin_bit_cast(double, bits);
  else if constexpr (std::same_as<V, complex_value<float>>)
    return {from_bits<float>(bits), from_bits<float>(bits >> 32)};
  else return static_cast<V>(bits);
}

template <class V> DSL_DETAIL_FN constexpr literal to_literal(V value) {
  if constexpr (std::same_as<V, complex_value<double>>)
    return {to_bits(value.re), to_bits(value.im)};
  else return {to_bits(value)};
}

template <class V> DSL_DETAIL_FN constexpr V from_literal(literal l) {
  if constexpr (std::same_as<V, complex_value<double>>)
    return {from_bits<double>(l.bits), from_bits<double>(l.second)};
  else return from_bits<V>(l.bits);
}

/// Converts a user's scalar (float, std::complex<float>, half, ...) to a value of the evaluator.
template <element T> DSL_DETAIL_FN constexpr auto to_value(const T& scalar) {
  using memory = memory_t<dtype_v<T>>;
  if constexpr (is_complex<memory>) return memory{scalar.real(), scalar.imag()};
  else return static_cast<value_t<dtype_v<T>>>(scalar);
}

}  // namespace dsl::detail

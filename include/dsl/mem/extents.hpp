// Extents of arrays: 64-bit, outermost first.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <utility>

#include <dsl/mem/error.hpp>

namespace dsl {

inline constexpr int max_rank = 8;

template <int Rank>
using extents = std::array<std::int64_t, static_cast<std::size_t>(Rank)>;

namespace detail {

/// The number of elements. Throws shape_error for a negative extent, or if the bytes exceed 2^63.
/// If an extent is 0 the product of the other extents must not exceed it either, as in NumPy.
std::int64_t element_count(const std::int64_t* sizes, int rank, int element_size);

/// The number of values start, start + step, ... before stop. Throws shape_error for a step of 0
/// and for more than 2^63 values.
std::int64_t count_steps(double start, double stop, double step);
std::int64_t count_steps(std::int64_t start, std::int64_t stop, std::int64_t step);
std::int64_t count_steps(std::uint64_t start, std::uint64_t stop, std::uint64_t step);

[[noreturn]] void throw_size_mismatch(std::int64_t have, std::int64_t want, const char* what);

template <std::size_t Rank>
constexpr std::array<std::int64_t, Rank> row_major(const std::array<std::int64_t, Rank>& sizes) {
  std::array<std::int64_t, Rank> strides{};
  std::uint64_t step = 1;  // wraps for too many elements, which is reported elsewhere
  for (std::size_t i = Rank; i-- > 0;) {
    strides[i] = static_cast<std::int64_t>(step);
    step *= static_cast<std::uint64_t>(sizes[i]);
  }
  return strides;
}

template <std::integral... N>
constexpr extents<sizeof...(N)> to_extents(N... n) {
  return {static_cast<std::int64_t>(n)...};
}
template <std::size_t Rank>
constexpr std::array<std::int64_t, Rank> to_extents(const std::array<std::int64_t, Rank>& n) {
  return n;
}

/// Extents as functions accept them: separate integers, or one array.
template <class... N>
concept sizes = requires(const N&... n) { to_extents(n...); };
template <class... N>
inline constexpr int rank_of_sizes =
    static_cast<int>(std::tuple_size_v<decltype(to_extents(std::declval<const N&>()...))>);

}  // namespace detail
}  // namespace dsl

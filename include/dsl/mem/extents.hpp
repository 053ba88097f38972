// Sizes of arrays: 64-bit, outermost first.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>

#include <dsl/mem/error.hpp>

namespace dsl {

inline constexpr int max_rank = 8;

template <int Rank>
using extents = std::array<std::int64_t, static_cast<std::size_t>(Rank)>;

namespace detail {

/// The number of elements. Throws shape_error for a negative extent, or where the bytes pass 2^63.
std::int64_t element_count(const std::int64_t* sizes, int rank, int element_size);

[[noreturn]] void throw_bad_reshape(const std::int64_t* from, int from_rank, const std::int64_t* to, int to_rank);
[[noreturn]] void throw_size_mismatch(std::int64_t have, std::int64_t want, const char* what);

template <std::size_t Rank>
constexpr std::array<std::int64_t, Rank> row_major(const std::array<std::int64_t, Rank>& sizes) {
  std::array<std::int64_t, Rank> strides{};
  std::int64_t step = 1;
  for (std::size_t i = Rank; i-- > 0;) strides[i] = step, step *= sizes[i];
  return strides;
}

template <std::integral... N>
constexpr extents<sizeof...(N)> to_extents(N... n) {
  return {static_cast<std::int64_t>(n)...};
}

}  // namespace detail
}  // namespace dsl

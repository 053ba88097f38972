// What the tests of reductions in programs share.
#pragma once

#include "../on_device.hpp"

#include <numeric>

struct reduction_use : on_device {};

inline constexpr auto plus = [](auto a, auto b) { return a + b; };
inline constexpr auto larger = [](auto a, auto b) { return dsl::max(a, b); };

inline std::vector<std::int64_t> counting(std::int64_t n, std::int64_t first = 1) {
  std::vector<std::int64_t> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), first);
  return v;
}
/// m(i, j) = i * columns + j + first
inline dsl::array<std::int64_t, 2> counting(std::int64_t rows, std::int64_t columns, std::int64_t first) {
  return dsl::reshape(dsl::to_device(counting(rows * columns, first)), rows, columns);
}

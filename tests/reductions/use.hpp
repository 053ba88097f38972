// Helpers of the tests of reductions in programs.
#pragma once

#include "../on_device.hpp"
#include "draw_mostly.hpp"

#include <algorithm>
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
inline dsl::array<std::int64_t, 2> counting(std::int64_t rows, std::int64_t columns,
                                            std::int64_t first) {
  return dsl::reshape(dsl::to_device(counting(rows * columns, first)), rows, columns);
}

template <class T>
void expect_first(T usual, const std::vector<T>& others, std::int64_t n) {
  std::vector<T> v(static_cast<std::size_t>(n));
  for (unsigned draw = 0; draw < 12; ++draw) {
    reduction::draw_mostly(v, usual, others, draw);
    const auto x = dsl::to_device(v);
    dsl::scalar<std::int64_t> most, least;
    dsl::tie(most, least) = std::tuple{dsl::argmax(x), dsl::argmin(x)};
    ASSERT_EQ(most.value(), std::max_element(v.begin(), v.end()) - v.begin())
        << n << ", draw " << draw;
    ASSERT_EQ(least.value(), std::min_element(v.begin(), v.end()) - v.begin())
        << n << ", draw " << draw;
  }
}

// Transforms as the sums that define them, in long double.
#pragma once

#include <dsl/fft.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <type_traits>
#include <vector>

#include "../on_device.hpp"

using wide = std::complex<long double>;
using c32 = std::complex<float>;
using c64 = std::complex<double>;

// Elements in row-major order.
struct values {
  std::vector<std::int64_t> shape;
  std::vector<wide> at;

  template <class T>
  static values of(const std::vector<std::int64_t>& shape, const std::vector<T>& host) {
    return {shape, std::vector<wide>(host.begin(), host.end())};
  }
};

// The sums along one axis, of n points: x is followed by zeros, or cut off.
inline values summed(const values& x, int axis, std::int64_t n, bool inverse,
                     long double factor = 1) {
  const auto along = static_cast<std::size_t>(axis);
  std::int64_t inner = 1, outer = 1;
  for (std::size_t d = 0; d < x.shape.size(); ++d)
    (d < along ? outer : inner) *= d == along ? 1 : x.shape[d];
  const std::int64_t have = x.shape[along], read = std::min(have, n);
  std::vector<wide> roots;
  for (std::int64_t k = 0; k < n; ++k)
    roots.push_back(
        std::polar(factor, (inverse ? 2 : -2) * std::acos(-1.0L) * static_cast<long double>(k) /
                               static_cast<long double>(n)));
  values y = x;
  y.shape[along] = n;
  y.at.assign(static_cast<std::size_t>(outer * n * inner), 0);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i)
      for (std::int64_t k = 0; k < n; ++k) {
        wide sum = 0;
        for (std::int64_t j = 0, turn = 0; j < read; ++j, turn = (turn + k) % n)
          sum += x.at[static_cast<std::size_t>((o * have + j) * inner + i)] *
                 roots[static_cast<std::size_t>(turn)];
        y.at[static_cast<std::size_t>((o * n + k) * inner + i)] = sum;
      }
  return y;
}
// The first elements along the last axis.
inline values first_of_rows(const values& x, std::int64_t n) {
  values y = x;
  y.shape.back() = n;
  y.at.clear();
  for (std::size_t i = 0; i < x.at.size(); ++i)
    if (static_cast<std::int64_t>(i) % x.shape.back() < n) y.at.push_back(x.at[i]);
  return y;
}

template <class T, int R>
void expect_near(const dsl::array<T, R>& got, const values& want, const std::string& what) {
  constexpr bool is_narrow = std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>;
  ASSERT_TRUE(
      std::equal(want.shape.begin(), want.shape.end(), got.extents().begin(), got.extents().end()))
      << what;
  const std::vector<T> host = got.copy_to_host();
  long double largest = 0, off = 0;
  for (std::size_t i = 0; i < host.size(); ++i) {
    largest = std::max(largest, std::abs(want.at[i]));
    off = std::max(off, std::abs(wide(host[i]) - want.at[i]));
    ASSERT_FALSE(std::isnan(std::abs(wide(host[i])))) << what;
  }
  // cuFFT's errors are not documented.
  const long double factor = got.where().kind == dsl::backend::cuda ? 5 : 1;
  EXPECT_LE(off, factor * largest * (is_narrow ? 1e-6L : 2e-15L)) << what;
}

template <class T>
std::vector<T> random_values(std::int64_t n, unsigned seed = 1) {
  const std::vector<float> parts = random_floats(2 * n, -1, 1, seed);
  std::vector<T> all;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    if constexpr (std::is_floating_point_v<T>) all.push_back(parts[i]);
    else all.push_back({parts[2 * i], parts[2 * i + 1]});
  }
  return all;
}

// Sparse matrices on the host, and their products by loops in double.
#pragma once

#include "../on_device.hpp"

#include <dsl/sparse.hpp>

#include <algorithm>
#include <complex>
#include <random>
#include <vector>

template <class T> constexpr bool is_complex = dsl::kind_of(dsl::dtype_v<T>) == dsl::kind::complex;
template <class T> using wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;

// Small whole numbers, so that every order of the additions gives the same bits.
template <class T>
T whole(std::mt19937& engine) {
  const auto number = [&engine] { return static_cast<double>(static_cast<int>(engine() % 9) - 4); };
  if constexpr (is_complex<T>) {
    const double re = number(), im = number();
    return T(static_cast<typename T::value_type>(re), static_cast<typename T::value_type>(im));
  } else {
    return static_cast<T>(number());
  }
}
template <class T>
std::vector<T> wholes(std::int64_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<T> all(static_cast<std::size_t>(n));
  for (T& each : all) each = whole<T>(engine);
  return all;
}

/// A matrix on the host, with rows of the given lengths.
template <class T>
struct host_csr {
  std::int64_t rows, width;
  std::vector<T> values;
  std::vector<std::int32_t> columns, offsets{0};

  host_csr(std::int64_t width_, const std::vector<int>& lengths, unsigned seed)
      : rows(static_cast<std::int64_t>(lengths.size())), width(width_) {
    std::mt19937 engine(seed);
    for (const int length : lengths) {
      for (int k = 0; k < length; ++k) {
        values.push_back(whole<T>(engine));
        columns.push_back(static_cast<std::int32_t>(engine() % static_cast<unsigned>(width)));
      }
      offsets.push_back(static_cast<std::int32_t>(values.size()));
    }
  }
  dsl::sparse::csr<T> copied() const {
    return {rows, width, dsl::to_device(values), dsl::to_device(columns), dsl::to_device(offsets)};
  }
  // The product with a matrix of n columns, row by row.
  std::vector<T> times(const std::vector<T>& x, std::int64_t n = 1) const {
    std::vector<T> y;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        wide<T> total = 0;
        for (auto k = static_cast<std::size_t>(offsets[i]);
             k < static_cast<std::size_t>(offsets[i + 1]); ++k)
          total += wide<T>(values[k]) * wide<T>(x[static_cast<std::size_t>(columns[k] * n + j)]);
        y.push_back(static_cast<T>(total));
      }
    return y;
  }
};

inline std::vector<int> lengths_at_random(std::int64_t rows, int most, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<int> lengths(static_cast<std::size_t>(rows));
  for (int& each : lengths) each = static_cast<int>(engine() % static_cast<unsigned>(most + 1));
  return lengths;
}

template <class T>
void expect_product(const host_csr<T>& m, std::int64_t n = 0) {
  SCOPED_TRACE(testing::Message() << m.rows << " x " << m.width << ", " << m.values.size()
                                  << " entries, times " << n);
  const dsl::sparse::csr<T> a = m.copied();
  const std::vector<T> x = wholes<T>(m.width * std::max<std::int64_t>(n, 1), 7);
  if (n == 0) {
    const auto on_it = dsl::to_device(x);
    const dsl::array<T> y = dsl::matmul(a, on_it);
    ASSERT_EQ(y.copy_to_host(), m.times(x));
  } else {
    const dsl::array<T, 2> on_it = dsl::reshape(dsl::to_device(x), m.width, n);
    const dsl::array<T, 2> y = dsl::matmul(a, on_it);
    ASSERT_EQ(y.extents(), (dsl::extents<2>{m.rows, n}));
    ASSERT_EQ(y.copy_to_host(), m.times(x, n));
  }
}

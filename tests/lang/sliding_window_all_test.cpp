// Reductions of windows of the other dtypes, and of windows that take another way.
#include <dsl/window.hpp>

#include <algorithm>
#include <complex>

#include "../on_device.hpp"

namespace {

using sliding_all = on_device;
ON_EVERY_DEVICE(sliding_all);

template <class T, class Sum>
void expect_integers() {
  std::mt19937_64 engine(5);
  std::vector<T> x(1500);
  for (T& each : x) each = static_cast<T>(engine());
  const auto given = dsl::to_device(x);
  const std::int64_t n = 37;
  const auto w = dsl::sliding_window(given, n);
  const dsl::array<Sum> sums = sum(w, dsl::axis(-1));
  const dsl::array<T> greatest = max(w, dsl::axis(-1));
  const auto s = sums.copy_to_host();
  const auto g = greatest.copy_to_host();
  for (std::size_t i = 0; i < s.size(); ++i) {
    std::uint64_t want = 0;
    T most = x[i];
    for (std::size_t k = i; k < i + 37; ++k) {
      want += static_cast<std::uint64_t>(x[k]);
      most = std::max(most, x[k]);
    }
    ASSERT_EQ(static_cast<std::uint64_t>(s[i]), want) << i;
    ASSERT_EQ(g[i], most) << i;
  }
}
TEST_P(sliding_all, integers_are_exact) {
  expect_integers<std::int8_t, std::int64_t>();
  expect_integers<std::uint64_t, std::uint64_t>();
}

TEST_P(sliding_all, sixteen_bits_are_summed_in_float) {
  std::vector<dsl::half> x(500);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 9);
  const auto given = dsl::to_device(x);
  const dsl::array<dsl::half> means = mean(dsl::sliding_window(given, 90), dsl::axis(-1));
  for (const dsl::half m : means.copy_to_host()) ASSERT_EQ(static_cast<float>(m), 4.f);
}

// Windows that fit in no block, and complex numbers, are reduced one by one.
TEST_P(sliding_all, long_windows_and_complex_numbers) {
  const std::int64_t length = 9500, n = 9000;
  const dsl::array<double> x = dsl::arange<double>(length);
  const auto w = dsl::sliding_window(x, n);
  const auto s = eval(sum(w, dsl::axis(-1))).copy_to_host();
  for (std::size_t i = 0; i < s.size(); ++i)
    ASSERT_DOUBLE_EQ(s[i], static_cast<double>(n) * (static_cast<double>(i) + 4499.5)) << i;

  using complex = std::complex<float>;
  const auto z = dsl::to_device(std::vector<complex>{{1, 2}, {3, -4}, {5, 6}, {0, 1}});
  EXPECT_EQ(eval(sum(dsl::sliding_window(z, 2), dsl::axis(-1))).copy_to_host(),
            (std::vector<complex>{{4, -2}, {8, 2}, {5, 7}}));
}

}  // namespace

// Arrays from formulas of positions.
#include "../on_device.hpp"

#include <cmath>
#include <complex>
#include <limits>

namespace {

struct generating : on_device {};
ON_EVERY_DEVICE(generating);

// NumPy's linspace with a dtype: product and sum are rounded separately, in double.
template <class T>
std::vector<T> linspace(T first, T last, std::int64_t n) {
  std::vector<T> values;
  const double step =
      n > 1 ? (static_cast<double>(last) - static_cast<double>(first)) / static_cast<double>(n - 1)
            : 0;
  for (std::int64_t i = 0; i < n; ++i) {
    volatile double moved = static_cast<double>(i) * step;
    const double value = moved + static_cast<double>(first);
    values.push_back(i == n - 1 && n > 1
                         ? last
                         : static_cast<T>(std::is_integral_v<T> ? std::floor(value) : value));
  }
  return values;
}

template <class T>
void expect_linspace(T first, T last, std::int64_t n) {
  dsl::array<T> made = dsl::linspace<T>(first, last, n);
  const auto got = made.copy_to_host(), want = linspace(first, last, n);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_EQ(static_cast<double>(got[i]), static_cast<double>(want[i]))
        << name(dsl::dtype_v<T>) << ' ' << static_cast<double>(first) << ' '
        << static_cast<double>(last) << ' ' << n << ' ' << i;
}

template <class T>
std::vector<T> evenly(T first, T last, int n) {
  dsl::array<T> made = dsl::linspace<T>(first, last, n);
  return made.copy_to_host();
}

TEST_P(generating, linspace_as_numpy) {
  EXPECT_EQ(evenly<std::int64_t>(0, 10, 7), (std::vector<std::int64_t>{0, 1, 3, 5, 6, 8, 10}));
  EXPECT_EQ(evenly<std::int64_t>(-3, 4, 7), (std::vector<std::int64_t>{-3, -2, -1, 0, 1, 2, 4}));
  EXPECT_EQ(evenly<std::uint32_t>(10, 0, 6), (std::vector<std::uint32_t>{10, 8, 6, 4, 2, 0}));
  EXPECT_EQ(evenly<std::int8_t>(127, -128, 4), (std::vector<std::int8_t>{127, 42, -43, -128}));
  EXPECT_EQ(evenly<float>(-3e38f, 3e38f, 5),
            (std::vector<float>{-3e38f, -1.5e38f, 0, 1.5e38f, 3e38f}));
  EXPECT_EQ(evenly<std::int64_t>(0, std::numeric_limits<std::int64_t>::max(), 3),
            (std::vector<std::int64_t>{0, std::int64_t{1} << 62,
                                       std::numeric_limits<std::int64_t>::max()}));
  // A fused product and sum would fall below the integers: -3 + 10 * 0.3 would be -1.7e-16.
  EXPECT_EQ(evenly<std::int64_t>(-3, 6, 31), linspace<std::int64_t>(-3, 6, 31));
  dsl::array<std::complex<float>> z = dsl::linspace<std::complex<float>>({0, 0}, {1, 2}, 3);
  EXPECT_EQ(z.copy_to_host(), (std::vector<std::complex<float>>{{0, 0}, {0.5f, 1}, {1, 2}}));
}

TEST_P(generating, linspace_of_every_kind) {
  std::mt19937_64 random(9);
  const auto integer = [&random](auto type) {
    return static_cast<decltype(type)>(random() >> random() % 64);
  };
  for (int k = 0; k < 200; ++k) {
    const std::int64_t n = static_cast<std::int64_t>(random() % (k % 10 == 0 ? 3000 : 40));
    expect_linspace<std::int8_t>(integer(std::int8_t{}), integer(std::int8_t{}), n);
    expect_linspace<std::uint32_t>(integer(std::uint32_t{}), integer(std::uint32_t{}), n);
    expect_linspace<std::int64_t>(static_cast<std::int32_t>(random()),
                                  static_cast<std::int32_t>(random()), n);
    expect_linspace<float>(static_cast<float>(integer(std::int32_t{})) / 1000,
                           static_cast<float>(integer(std::int32_t{})), n);
  }
  expect_linspace<dsl::half>(dsl::half(0.0f), dsl::half(1.0f), 70'000);
  expect_linspace<float>(1, 0, 1);
}

}  // namespace

// Sums, alone and beside arrays.
#include "../on_device.hpp"

#include <cmath>
#include <complex>
#include <numeric>
#include <tuple>

namespace {

struct reduce : on_device {};
ON_EVERY_DEVICE(reduce);

TEST_P(reduce, every_size) {
  for (const std::int64_t n : sizes()) {
    const auto h = random_floats(n);
    std::vector<std::int32_t> whole;
    for (const float x : h) whole.push_back(static_cast<std::int32_t>(x * 1e9f));
    const auto a = dsl::to_device(h);
    const auto i = dsl::to_device(whole);
    dsl::scalar<float> sum = dsl::sum(a);
    dsl::scalar<double> squares = dsl::sum(dsl::cast<double>(a) * a);
    dsl::scalar<std::int64_t> exact = dsl::sum(i);  // widened: a 32-bit sum would wrap
    double want = 0, size = 0, want_squares = 0;
    for (const float x : h) want += x, size += std::abs(x), want_squares += double(x) * x;
    EXPECT_NEAR(sum.value(), want, 1e-6 * size) << n;
    EXPECT_NEAR(squares.value(), want_squares, 1e-13 * want_squares) << n;
    EXPECT_EQ(exact.value(), std::accumulate(whole.begin(), whole.end(), std::int64_t{0})) << n;
  }
}

TEST_P(reduce, beside_arrays_in_one_kernel) {
  const std::int64_t n = 34567;
  const auto h = random_floats(n);
  const auto f = dsl::vectorize([](auto x, auto d) { return std::tuple{x * d, dsl::sum(x * d), x > 0, dsl::sum(x > 0)}; });
  auto x = dsl::to_device(h);
  dsl::scalar<float> d = 2.0f;
  dsl::array<bool> positive;
  dsl::scalar<std::int64_t> count;
  dsl::tie(x, d, positive, count) = f(x, d);  // d is read by all before it is written
  const auto got = x.copy_to_host();
  double sum = 0;
  std::int64_t above = 0;
  for (std::size_t i = 0; i < h.size(); ++i) {
    ASSERT_EQ(got[i], 2 * h[i]);
    sum += 2 * h[i], above += h[i] > 0;
  }
  EXPECT_NEAR(d.value(), sum, 1e-2);
  EXPECT_EQ(count.value(), above);
}

TEST_P(reduce, strided_and_broadcast_operands) {
  const auto row = dsl::to_device(std::vector<double>{1, 2, 3}), column = dsl::to_device(std::vector<double>{1, 10});
  dsl::scalar<double> s = dsl::sum(dsl::reshape(column, 2, 1) * row);
  EXPECT_EQ(s.value(), 66);
}

TEST_P(reduce, is_the_same_every_time) {
  const auto a = dsl::to_device(random_floats(1000003));
  dsl::scalar<float> first = dsl::sum(a * a);
  for (int k = 0; k < 5; ++k) EXPECT_EQ(dsl::scalar<float>(dsl::sum(a * a)).value(), first.value());
}

}  // namespace

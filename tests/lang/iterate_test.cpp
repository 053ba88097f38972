// Time loops against a step-by-step reference in higher precision.
#include "../on_device.hpp"

#include <complex>
#include <tuple>

namespace {

struct iterate : on_device {};
ON_EVERY_DEVICE(iterate);

TEST_P(iterate, feeds_back_arrays_and_sums) {
  const auto spring = dsl::vectorize([](auto x, auto v, auto total, auto h) {
    auto vn = v - h * (x + 0.001 * total);
    auto xn = x + h * vn;
    return std::tuple{xn, vn, dsl::sum(xn)};
  });
  const std::int64_t n = 777;
  std::vector<double> hx(777), hv(777, 0.0);
  for (std::size_t i = 0; i < 777; ++i) hx[i] = 0.01 * double(i);
  auto x = dsl::to_device(hx), v = dsl::to_device(hv);
  dsl::scalar<double> total = 1.0;
  dsl::array<double> history = dsl::iterate(20, spring, dsl::state(x, v, total), 0.1);
  const auto got = history.copy_to_host();
  ASSERT_EQ(got.size(), 20u);
  long double sum = 1;
  std::vector<long double> rx(hx.begin(), hx.end()), rv(777, 0);
  for (std::size_t k = 0; k < 20; ++k) {
    const long double before = sum;
    sum = 0;
    for (std::size_t i = 0; i < 777; ++i) {
      rv[i] -= 0.1L * (rx[i] + 0.001L * before);
      rx[i] += 0.1L * rv[i];
      sum += rx[i];
    }
    EXPECT_NEAR(got[k], double(sum), 1e-9) << k;
  }
  EXPECT_EQ(total.value(), got[19]);
  const auto last = x.copy_to_host();
  for (std::int64_t i = 0; i < n; ++i) ASSERT_NEAR(last[static_cast<std::size_t>(i)], double(rx[static_cast<std::size_t>(i)]), 1e-12);
}

TEST_P(iterate, histories_of_none_one_and_several_scalars) {
  const auto twice = dsl::vectorize([](auto x) { return x * 2; });
  auto x = dsl::to_device(std::vector<float>{1, 2});
  dsl::iterate(3, twice, dsl::state(x));
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{8, 16}));

  const auto two = dsl::vectorize([](auto x, auto, auto) { return std::tuple{x + 1, dsl::sum(x), dsl::sum(x * x)}; });
  dsl::scalar<float> s, q;
  auto [sums, squares] = dsl::iterate(2, two, dsl::state(x, s, q));
  EXPECT_EQ(sums.copy_to_host(), (std::vector<float>{24, 26}));
  EXPECT_EQ(squares.copy_to_host(), (std::vector<float>{320, 370}));

  const auto half = dsl::vectorize([](auto v) { return v / 2; });  // a scalar without any array
  dsl::scalar<double> v = 1.0;
  EXPECT_EQ(dsl::iterate(3, half, dsl::state(v)).copy_to_host(), (std::vector<double>{0.5, 0.25, 0.125}));
  EXPECT_TRUE(dsl::iterate(0, half, dsl::state(v)).copy_to_host().empty());
}

TEST_P(iterate, wants_variables_of_its_own) {
  const auto copy = dsl::vectorize([](auto, auto y) { return y + 1; });
  auto x = dsl::to_device(std::vector<float>{1, 2, 3, 4});
  const auto front = from_element(x, 0, 3);
  EXPECT_THROW(dsl::iterate(2, copy, dsl::state(front), from_element(x, 1, 3)), dsl::shape_error);
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{1, 2, 3, 4}));
}

}  // namespace

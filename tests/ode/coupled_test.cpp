// Right-hand sides with sums over the fields: each stage has its own sum, and a method keeps its
// order in the coupling.
#include "coupled.hpp"

#include <dsl/random.hpp>

namespace {

ON_EVERY_DEVICE(coupled);

TEST_P(coupled, rk4_is_of_order_4) { expect_order(4, 32, dsl::ode::rk4(mean_field)); }

// The drift is the mean of all; the noise of each element is its own. One step by hand.
TEST_P(coupled, stochastic_steps) {
  const int64_t n = 333;
  const auto step = dsl::ode::sde([](auto x, auto pull) { return pull * (dsl::mean(x) - x); },
                                  [](auto x, auto) { return 0.5 * sqrt(dsl::mean(x * x)); });
  dsl::array<double> x = dsl::random::uniform<double>(dsl::random::key{3}, n);
  const dsl::array<double> w = dsl::random::normal<double>(dsl::random::key{4}, n);
  auto host = x.copy_to_host();
  const auto noise = w.copy_to_host();
  dsl::iterate(3, step, dsl::state(x), 2.0, 0.25, w);
  for (int k = 0; k < 3; ++k) {
    double mean = 0, squares = 0;
    for (const double each : host) {
      mean += each / static_cast<double>(n);
      squares += each * each / static_cast<double>(n);
    }
    for (std::size_t i = 0; i < host.size(); ++i)
      host[i] += 0.25 * 2 * (mean - host[i]) + 0.5 * (0.5 * std::sqrt(squares)) * noise[i];
  }
  const auto got = x.copy_to_host();
  for (std::size_t i = 0; i < host.size(); ++i) ASSERT_NEAR(got[i], host[i], 1e-13) << i;
}

// A sum of the new fields, which the loop feeds back, next to sums within the step.
TEST_P(coupled, feeds_back) {
  const auto step = dsl::ode::rk4([](auto y, auto) { return -dsl::mean(y) * y; },
                                  [](auto y, auto) { return dsl::max(y); });
  auto y = dsl::to_device(std::vector<double>{1, 2, 3});
  dsl::scalar<double> most;
  const auto history = dsl::iterate(16, step, dsl::state(y, most), 1.0 / 16).copy_to_host();
  for (std::size_t k = 0; k < 16; ++k)
    EXPECT_NEAR(history[k], 3 / (1 + 2 * static_cast<double>(k + 1) / 16), 1e-5);
  EXPECT_EQ(y(2).value(), history[15]);
}

}  // namespace

// The examples of docs/ode.md do what is said of them.
#include "../on_device.hpp"

#include <dsl/ode.hpp>

#include <cmath>
#include <complex>
#include <iostream>
#include <numbers>
#include <tuple>

namespace {

using namespace std::complex_literals;
using c32 = std::complex<float>;

struct ode_page : on_device {};
ON_EVERY_DEVICE(ode_page);

struct coupled_step;
TEST_P(ode_page, steps_of_a_fixed_size) {
  auto F = dsl::full<c32>(0.01f, 100), G = dsl::full<c32>(0.75f, 100);
  dsl::scalar<c32> delta = dsl::sum(F);
  const float h = 1e-3f;
#include <docs/ode/steps-of-a-fixed-size.inc>
  const auto deltas = history.copy_to_host();
  EXPECT_EQ(deltas.back(), delta.value());
  const auto f = F.copy_to_host(), g = G.copy_to_host();
  EXPECT_NEAR(std::norm(f[7]) + std::norm(g[7] - 0.5f), 1e-4 + 0.0625,
              1e-5);  // a constant of the motion
  EXPECT_NEAR(std::abs(deltas.back() - 100.0f * f[0]), 0, 1e-4);
}

TEST_P(ode_page, neighbours) {
  constexpr int n = 50;
  const double rate = 1.25, wave = std::numbers::pi / (n + 1),
               slope = -4 * rate * std::pow(std::sin(wave / 2), 2), z = 0.5 * slope;
  dsl::array<double> u =
      sin(wave * dsl::arange<double>(1, n + 1));  // decays by the same factor in each step
  const auto first = u.copy_to_host();
#include <docs/ode/neighbours.inc>
  const auto last = u.copy_to_host();
  const double factor = std::pow(1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4))), 100);
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(last[i], factor * first[i], 1e-13) << i;
}

TEST_P(ode_page, sums) {
  auto x = dsl::to_device(std::vector<double>{1, 2, 6});
#include <docs/ode/sums.inc>
  const auto got = x.copy_to_host();
  // The mean stays, and differences from it decay.
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(got[i], 3 + (i == 0 ? -2 : i == 1 ? -1 : 3) * std::exp(-5.0), 1e-7);
}

TEST_P(ode_page, the_time_and_steps_that_follow_the_error) {
  auto x = dsl::to_device(std::vector<double>{0, 0.5}), v = dsl::zeros<double>(2);
  const double drive = 0.25, h = 0.005;
#include <docs/ode/steps-of-a-fixed-size-2.inc>
  const auto stepped = x.copy_to_host();
  x = dsl::to_device(std::vector<double>{0, 0.5});
  v = 0;
#include <docs/ode/steps-that-follow-the-error.inc>
  EXPECT_EQ(at.t.value(), 10);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(x.copy_to_host()[i], stepped[i], 1e-8);
}

}  // namespace

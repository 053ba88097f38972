// The examples of docs/ode.md.
#include "../doc_examples.hpp"
#include "../on_device.hpp"

#include <dsl/ode.hpp>

#include <cmath>
#include <complex>
#include <iostream>
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
  // clang-format off
const auto coupled = [](auto F, auto G, auto d) { return std::tuple{-2i * F - 1i * d * (2 * G - 1), -1i * (conj(d) * F - d * conj(F))}; };
const auto step = dsl::ode::rk4<coupled_step>(coupled, [](auto F, auto) { return dsl::sum(F); });
const dsl::array<c32> history = dsl::iterate(100, step, dsl::state(F, G, delta), h);
  // clang-format on
  const auto deltas = history.copy_to_host();
  EXPECT_EQ(deltas.back(), delta.value());
  const auto f = F.copy_to_host(), g = G.copy_to_host();
  EXPECT_NEAR(std::norm(f[7]) + std::norm(g[7] - 0.5f), 1e-4 + 0.0625, 1e-5);  // a constant of the motion
  EXPECT_NEAR(std::abs(deltas.back() - 100.0f * f[0]), 0, 1e-4);
}

TEST_P(ode_page, the_time_and_steps_that_follow_the_error) {
  auto x = dsl::to_device(std::vector<double>{0, 0.5}), v = dsl::zeros<double>(2);
  const double drive = 0.25, h = 0.005;
  // clang-format off
const auto pendulum = dsl::ode::with_time([](auto t, auto x, auto v, auto drive) { return std::tuple{v, drive * cos(t) - sin(x)}; });
dsl::iterate(2000, dsl::ode::dopri5(pendulum), dsl::state(x, v), drive, h * dsl::step, h);
  // clang-format on
  const auto stepped = x.copy_to_host();
  x = dsl::to_device(std::vector<double>{0, 0.5});
  v = 0;
  // clang-format off
const auto at = dsl::ode::integrate(pendulum, dsl::state(x, v), 0, 10, {.relative = 1e-9, .absolute = 1e-12}, drive);
if (at.outcome() != dsl::ode::outcome::reached) std::cerr << "stopped at t = " << at.t.value() << '\n';
  // clang-format on
  EXPECT_EQ(at.t.value(), 10);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(x.copy_to_host()[i], stepped[i], 1e-8);
}

TEST(ode_page, every_example_is_compiled) { expect_examples_in(__FILE__, "ode.md", 3); }

}  // namespace

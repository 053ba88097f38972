// Runge-Kutta steps: order of convergence, values against long double, feedback.
#include "tableau.hpp"

#include <cmath>
#include <tuple>

namespace {

ON_EVERY_DEVICE(steppers);

// Three problems at once: y' = y cos t; u = sech(s), v = tanh(s); and a phase F that follows a
// decaying N.
constexpr auto three_problems = [](auto t, auto y, auto u, auto v, auto F, auto N) {
  return std::tuple{y * cos(t), -u * v, u * u, 1i * N * F, -N};
};

struct errors { double of_time, nonlinear, complex; };

template <class Step>
errors after(int steps, const Step& step) {
  constexpr int n = 5;
  constexpr double end = 1.75, begin = 0.25;
  std::vector<double> y(n), u(n), v(n), N(n);
  std::vector<c64> F(n);
  const auto first = [](std::size_t i) { return 0.6 + 0.1 * static_cast<double>(i); };
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = first(i);
    u[i] = 1 / std::cosh(y[i]);
    v[i] = std::tanh(y[i]);
    F[i] = c64(y[i], 1);
    N[i] = 2 * y[i];
  }
  auto dy = dsl::to_device(y), du = dsl::to_device(u), dv = dsl::to_device(v),
       dN = dsl::to_device(N);
  auto dF = dsl::to_device(F);
  const double h = (end - begin) / steps;
  for (int k = 0; k < steps; ++k)
    dsl::tie(dy, du, dv, dF, dN) = step(dy, du, dv, dF, dN, begin + k * h, h);
  y = dy.copy_to_host();
  u = du.copy_to_host();
  v = dv.copy_to_host();
  F = dF.copy_to_host();
  N = dN.copy_to_host();
  errors most{};
  for (std::size_t i = 0; i < n; ++i) {
    const double r = first(i), took = end - begin;
    most.of_time =
        std::max(most.of_time, std::abs(y[i] - r * std::exp(std::sin(end) - std::sin(begin))));
    most.nonlinear = std::max(
        most.nonlinear, std::hypot(u[i] - 1 / std::cosh(r + took), v[i] - std::tanh(r + took)));
    most.complex = std::max(
        most.complex, std::abs(F[i] - c64(r, 1) * std::polar(1.0, 2 * r * (1 - std::exp(-took)))));
  }
  return most;
}

template <class Step>
void expect_order(double order, int steps, const Step& step) {
  const errors a = after(steps, step), b = after(2 * steps, step);
  EXPECT_NEAR(std::log2(a.of_time / b.of_time), order, 0.04 * order)
      << a.of_time << " " << b.of_time;
  EXPECT_NEAR(std::log2(a.nonlinear / b.nonlinear), order, 0.04 * order)
      << a.nonlinear << " " << b.nonlinear;
  EXPECT_NEAR(std::log2(a.complex / b.complex), order, 0.04 * order)
      << a.complex << " " << b.complex;
}

constexpr auto right_side = dsl::ode::with_time(three_problems);
TEST_P(steppers, euler_is_of_order_1) { expect_order(1, 128, dsl::ode::euler(right_side)); }
TEST_P(steppers, heun_is_of_order_2) { expect_order(2, 64, dsl::ode::heun(right_side)); }
TEST_P(steppers, rk4_is_of_order_4) { expect_order(4, 32, dsl::ode::rk4(right_side)); }
TEST_P(steppers, dopri5_is_of_order_5) { expect_order(5, 72, dsl::ode::dopri5(right_side)); }
TEST_P(steppers, fehlberg8_is_of_order_8) { expect_order(8, 7, dsl::ode::fehlberg8(right_side)); }

// Measured: 7e-16, and 4.5e-7 in float.
TEST_P(steppers, values_of_double_fields) {
  expect_reference<dsl::ode::detail::heun_method, double>(dsl::ode::heun(coupled_fields), 0.25,
                                                          2e-15);
}
TEST_P(steppers, values_of_float_fields_stay_float_whatever_h_is) {
  expect_reference<dsl::ode::detail::rk4_method, float>(dsl::ode::rk4(coupled_fields),
                                                        dsl::scalar<double>(0.25), 1e-6);
}

TEST_P(steppers, rk4_is_what_one_writes_by_hand) {
  const auto by_hand = dsl::vectorize(rk4_fields);
  const auto made = dsl::ode::rk4(coupled_fields);
  const std::int64_t n = 300;
  dsl::array<c32> F = dsl::full<c32>(c32(1, 0.5f), n), G = dsl::full<c32>(c32(0.25f, 2), n), F2 = F,
                  G2 = G;
  const dsl::scalar<c32> d = c32(0.3f, 0.1f);
  const dsl::plan got = dsl::plan_of(dsl::tie(F, G), made(F, G, d, 0.01f)),
                  want = dsl::plan_of(dsl::tie(F, G), by_hand(F, G, d, 0.01f));
  EXPECT_EQ(got.per_element.flops, want.per_element.flops);
  EXPECT_EQ(got.per_element.load_bytes + got.per_element.store_bytes,
            want.per_element.load_bytes + want.per_element.store_bytes);
  EXPECT_EQ(got.block, want.block);
  EXPECT_EQ(got.lanes, want.lanes);
  EXPECT_LE(got.registers, want.registers + want.registers / 10);
  dsl::tie(F, G) = by_hand(F, G, d, 0.01f);
  dsl::tie(F2, G2) = made(F2, G2, d, 0.01f);
  EXPECT_EQ(F.copy_to_host(), F2.copy_to_host());
  EXPECT_EQ(G.copy_to_host(), G2.copy_to_host());
}

TEST_P(steppers, feed_back_several_values_that_see_the_other_arguments) {
  const auto decay = [](auto x, auto, auto, auto rate) { return -rate * x; };
  const auto step = dsl::ode::euler(decay, [](auto x, auto, auto, auto rate) {
    return std::tuple{dsl::sum(x), rate * dsl::max(x)};
  });
  auto x = dsl::to_device(std::vector<double>{1, 2});
  dsl::scalar<double> sum, most;
  dsl::iterate(2, step, dsl::state(x, sum, most), 4.0, 0.125);
  EXPECT_EQ(x.copy_to_host(), (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(std::tuple(sum.value(), most.value()), std::tuple(0.75, 2.0));
}

// Derivatives that are constant, real for a complex field, or narrower; time as an integer; fields
// of several precisions.
TEST_P(steppers, take_derivatives_of_any_narrower_dtype) {
  auto z = dsl::to_device(std::vector<c64>{c64(1, 2)});
  auto x = dsl::to_device(std::vector<float>{1});
  auto w = dsl::to_device(std::vector<double>{1});
  const auto step = dsl::ode::heun(
      dsl::ode::with_time([](auto t, auto, auto x, auto) { return std::tuple{x, 2, t * x}; }));
  dsl::tie(z, x, w) = step(z, x, w, 0, 0.5);
  EXPECT_EQ(z.copy_to_host()[0], c64(1.75, 2));  // x is 1 at first and 2 in the end
  EXPECT_EQ(x.copy_to_host()[0], 2);
  EXPECT_EQ(w.copy_to_host()[0], 1.25);
}

}  // namespace

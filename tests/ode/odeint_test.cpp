// Arrays as states of Boost.odeint's steppers: Lorenz's equations for many parameters at once,
// against the same steppers on host numbers of higher precision.
#include <dsl/odeint.hpp>

#include <boost/numeric/odeint.hpp>

#include "../on_device.hpp"

namespace {

namespace odeint = boost::numeric::odeint;
using state = dsl::array<double, 2>;  // x, y and z, a column for each parameter

struct odeint_states : on_device {};
ON_EVERY_DEVICE(odeint_states);

const auto lorenz = dsl::vectorize([](auto x, auto y, auto z, auto rho) {
  return std::tuple{10.0 * (y - x), x * (rho - z) - y, x * y - 8.0 / 3.0 * z};
});

struct equations {
  dsl::array<double> rho;
  void operator()(const state& x, state& dxdt, double) const {
    auto dx = dxdt(0, dsl::slice()), dy = dxdt(1, dsl::slice()), dz = dxdt(2, dsl::slice());
    dsl::tie(dx, dy, dz) = lorenz(x(0, dsl::slice()), x(1, dsl::slice()), x(2, dsl::slice()), rho);
  }
};

using exact = std::vector<long double>;
struct exact_equations {
  long double rho;
  void operator()(const exact& x, exact& dxdt, long double) const {
    dxdt = exact{10 * (x[1] - x[0]), x[0] * (rho - x[2]) - x[1], x[0] * x[1] - 8 / 3.0L * x[2]};
  }
};

constexpr std::int64_t n = 333;
state start() {
  state x = dsl::ones<double>(3, n);
  return x;
}
long double rho_of(std::size_t i) { return 20 + 10 * static_cast<long double>(i) / n; }
equations many() {
  std::vector<double> rho(n);
  for (std::size_t i = 0; i < n; ++i) rho[i] = static_cast<double>(rho_of(i));
  return {dsl::to_device(rho)};
}

// Checks every n-th column: each is an independent trajectory.
template <class Integrate>
void expect_near(const state& x, double tolerance, const Integrate& integrate) {
  const auto values = x.copy_to_host();
  for (std::size_t i = 0; i < n; i += 37) {
    exact y{1, 1, 1};
    integrate(exact_equations{static_cast<double>(rho_of(i))}, y);
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(values[k * n + i], static_cast<double>(y[k]), tolerance) << i << ", " << k;
  }
}

TEST_P(odeint_states, steps_of_one_length) {
  state x = start();
  odeint::runge_kutta4<state> stepper;
  odeint::integrate_const(stepper, many(), x, 0.0, 1.0, 0.01);
  expect_near(x, 1e-11, [](const exact_equations& f, exact& y) {
    odeint::integrate_const(odeint::runge_kutta4<exact, long double>(), f, y, 0.0L, 1.0L, 0.01L);
  });
  // A stepper accepts states of another size later.
  state few = dsl::ones<double>(3, 2);
  stepper.do_step(equations{dsl::to_device(std::vector<double>{28, 28})}, few, 0.0, 0.01);
  const auto after = few.copy_to_host();
  EXPECT_EQ(after[0], after[1]);
  EXPECT_NE(after[0], 1);
}

TEST_P(odeint_states, steps_that_follow_the_error) {
  state x = start();
  const std::size_t steps = odeint::integrate_adaptive(
      odeint::make_controlled<odeint::runge_kutta_dopri5<state>>(1e-9, 1e-9), many(), x, 0.0, 1.0,
      0.1);
  EXPECT_GT(steps, 50u);
  EXPECT_LT(steps, 500u);
  expect_near(x, 2e-6, [](const exact_equations& f, exact& y) {
    odeint::integrate_adaptive(
        odeint::make_controlled<odeint::runge_kutta_fehlberg78<exact, long double>>(1e-15L, 1e-15L),
        f, y, 0.0L, 1.0L, 0.01L);
  });
}

}  // namespace

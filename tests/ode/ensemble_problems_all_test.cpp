// Ensembles: problems with known answers. A pendulum's period, Lotka's and Volterra's equations,
// Lorenz's, a driven bubble, a valve with impacts.
#include "one_device.hpp"
#include "problems.hpp"

#include <dsl/ode.hpp>

#include <cmath>

namespace {

using namespace problems;

struct problem : on_one_device {};
ON_EVERY_DEVICE(problem);

constexpr dsl::ode::tolerance fine{.relative = 1e-12, .absolute = 1e-13};

// A column of a table, as an array.
template <std::size_t Rows, std::size_t Columns>
dsl::array<double> column(const double (&table)[Rows][Columns], std::size_t k) {
  std::vector<double> all;
  for (const auto& row : table) all.push_back(row[k]);
  return dsl::to_device(all);
}
template <std::size_t Rows, std::size_t Columns>
void expect_column(const dsl::array<double>& found, const double (&table)[Rows][Columns],
                   std::size_t k, double within) {
  const auto all = found.copy_to_host();
  for (std::size_t i = 0; i < Rows; ++i)
    EXPECT_NEAR(all[i], table[i][k], within) << "row " << i << ", column " << k;
}
// The number of times of an event in an element; the first one or two.
template <std::size_t Rows, std::size_t Columns>
void expect_times(const dsl::array<double, 2>& found, const double (&table)[Rows][Columns],
                  std::size_t count_at, std::size_t known, double within) {
  const auto all = found.copy_to_host();
  for (std::size_t i = 0; i < Rows; ++i) {
    std::vector<double> times;
    for (std::size_t k = i; k < all.size(); k += Rows)
      if (!std::isnan(all[k])) times.push_back(all[k]);
    EXPECT_EQ(static_cast<double>(times.size()), table[i][count_at]) << "row " << i;
    for (std::size_t k = 0; k < known && k < times.size(); ++k)
      EXPECT_NEAR(times[k], table[i][count_at + 1 + k], within) << "row " << i << ", time " << k;
  }
}
constexpr auto nothing = [](auto... y) { return std::tuple{y...}; };

TEST_P(problem, a_pendulums_period) {
  const std::vector<double> amplitudes{0.01, 0.5, 1.5, 2.5, 3, 3.1, 3.14};
  auto angle = dsl::to_device(amplitudes);
  dsl::array<double> speed = dsl::zeros<double>(std::ssize(amplitudes));
  const auto lowest = dsl::ode::event([](auto a, auto) { return a; }, nothing, dsl::ode::falling,
                                      dsl::ode::keep_times(3));
  const auto got = dsl::ode::ensemble(pendulum, dsl::state(angle, speed), 0.0, 80.0, fine, lowest);
  const auto times = got.event_times<0>().copy_to_host();
  for (std::size_t i = 0; i < amplitudes.size(); ++i) {
    const double period = period_of_pendulum(amplitudes[i]);
    // An error grows where the pendulum stands nearly upside down.
    const double above = pi - amplitudes[i], within = 1e-10 * (1 + 1 / (above * above));
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(times[k * amplitudes.size() + i], (0.25 + static_cast<double>(k)) * period,
                  within)
          << amplitudes[i] << ' ' << k;
  }
}

constexpr auto invariant = [](const auto& x, const auto& y) {
  return dsl::eval(x - 3.0 * log(x) + y - 1.5 * log(y));
};
TEST_P(problem, lotka_and_volterra) {
  auto x = column(lotka_volterra_periods, 0);
  dsl::array<double> y = dsl::full<double>(1.5, x.size());
  const dsl::array<double> before = invariant(x, y), x0 = x;
  const auto round = dsl::ode::event([](auto, auto of_y) { return of_y - 1.5; }, nothing,
                                     dsl::ode::falling, dsl::ode::keep_times(3));
  const auto got = dsl::ode::ensemble(lotka_volterra, dsl::state(x, y), 0.0, 20.0, fine, round);
  const dsl::array<double, 2> times = got.event_times<0>();
  EXPECT_LT(dsl::max(abs(invariant(x, y) - before)).value(), 1e-10);
  for (std::int64_t k = 0; k < 3; ++k)
    expect_column(times(k) / static_cast<double>(k + 1), lotka_volterra_periods, 1, 1e-10);
}

template <class Method>
void expect_lorenz(const Method& method, double within) {
  const auto rho = column(lorenz_ends, 0);
  dsl::array<double> x = dsl::ones<double>(rho.size()), y = dsl::zeros<double>(rho.size()), z = y;
  dsl::ode::ensemble(lorenz, dsl::state(x, y, z), 0.0, 3.0, fine, rho, method);
  expect_column(x, lorenz_ends, 1, within);
  expect_column(y, lorenz_ends, 2, within);
  expect_column(z, lorenz_ends, 3, within);
}
TEST_P(problem, lorenzs_equations) {
  expect_lorenz(dsl::ode::method::tsit5, 1e-9);
  expect_lorenz(dsl::ode::method::vern7, 1e-9);
}

TEST_P(problem, a_bubble_that_is_driven_at_two_frequencies) {
  const auto c = bubble_coefficients();
  const auto largest =
      dsl::ode::event([](auto, auto v, auto...) { return v; },
                      [](auto radius, auto speed, auto...) { return std::tuple{radius, speed}; },
                      dsl::ode::falling, dsl::ode::keep_times(32));
  dsl::array<double> r = dsl::ones<double>(std::ssize(bubbles)),
                     v = dsl::zeros<double>(std::ssize(bubbles));
  const auto a = [&](std::size_t k) { return dsl::to_device(c[k]); };
  const auto got =
      dsl::ode::ensemble(keller_miksis, dsl::state(r, v), 0.0, 2.0, fine, a(0), a(1), a(2), a(3),
                         a(4), a(5), a(6), a(7), a(8), a(9), a(10), largest);
  expect_column(r, bubbles, 4, 1e-8);
  expect_column(v, bubbles, 5, 1e-7);
  expect_times(got.event_times<0>(), bubbles, 6, 2, 1e-9);
}

constexpr auto impact = dsl::ode::event([](auto y1, auto...) { return y1; }, valve_impact,
                                        dsl::ode::falling, dsl::ode::keep_times(8));
constexpr auto widest =
    dsl::ode::event([](auto, auto y2, auto...) { return y2; },
                    [](auto y1, auto y2, auto y3, auto) { return std::tuple{y1, y2, y3}; },
                    dsl::ode::falling, dsl::ode::keep_times(8));
TEST_P(problem, a_valve_with_impacts) {
  const auto flow = column(valves, 0);
  dsl::array<double> y1 = dsl::full<double>(0.2, flow.size()), y2 = dsl::zeros<double>(flow.size()),
                     y3 = dsl::ones<double>(flow.size());
  const auto got =
      dsl::ode::ensemble(valve, dsl::state(y1, y2, y3), 0.0, 6.0, fine, flow, impact, widest);
  expect_column(y1, valves, 1, 1e-9);
  expect_column(y2, valves, 2, 1e-9);
  expect_column(y3, valves, 3, 1e-9);
  expect_times(got.event_times<0>(), valves, 4, 2, 1e-10);
  expect_times(got.event_times<1>(), valves, 7, 1, 1e-10);
}

}  // namespace

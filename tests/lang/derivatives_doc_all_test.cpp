// The examples of docs/derivatives.md give the derivatives that are said of them.
#include "../on_device.hpp"

#include <dsl/ode.hpp>
#include <dsl/scan.hpp>

#include <cmath>
#include <complex>
#include <tuple>

#include <docs/derivatives/functors.inc>

namespace {

using namespace std::complex_literals;

#include <docs/derivatives/black-scholes-with-its-greeks.inc>

struct derivatives_doc : on_device {
  static constexpr std::int64_t n = 301;
  static dsl::array<double> numbers(double from, double to) { return dsl::linspace(from, to, n); }
};
ON_EVERY_DEVICE(derivatives_doc);

// Compares with a function of each element's operands.
template <class Got, class Want, class... X>
void expect_elements(const Got& got, double within, const Want& want, const X&... x) {
  const auto values = got.copy_to_host();
  const auto compare = [&](const auto&... host) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto exact = want(host[i]...);
      ASSERT_LE(std::abs(values[i] - exact), within * (1 + std::abs(exact))) << i;
    }
  };
  compare(x.copy_to_host()...);
}

TEST_P(derivatives_doc, of_formulas) {
  const auto x = numbers(-3, 3);
  dsl::array<double> value, dx, dk;
#include <docs/derivatives/derivatives.inc>
  expect_elements(value, 1e-15, [](double x) { return std::sin(x) * std::exp(-0.5 * x * x); }, x);
  expect_elements(
      dx, 1e-15, [](double x) { return (std::cos(x) - x * std::sin(x)) * std::exp(-0.5 * x * x); },
      x);
  expect_elements(
      dk, 1e-15, [](double x) { return -x * x * std::sin(x) * std::exp(-0.5 * x * x); }, x);
  dsl::array<double> second, j00, j01, j10, j11, first, other, along, across;
#include <docs/derivatives/derivatives-2.inc>
  expect_elements(
      second, 1e-14,
      [](double t) { return 2 * std::sin(t) + 4 * t * std::cos(t) - t * t * std::sin(t) + 1; }, x);
  expect_elements(j00, 0, [](double) { return 2; }, x);
  expect_elements(j01, 0, [](double x) { return x; }, x);
  expect_elements(j10, 0, [](double) { return 1; }, x);
  expect_elements(j11, 0, [](double) { return -4; }, x);
  expect_elements(first, 0, [](double x) { return 2 * x; }, x);
  expect_elements(other, 0, [](double x) { return x - 4; }, x);
  expect_elements(along, 0, [](double) { return 2; }, x);
  expect_elements(across, 0, [](double) { return 1; }, x);
}

TEST_P(derivatives_doc, newton) {
  const auto a = numbers(0, 5);
  dsl::array<double> root = dsl::ones<double>(n);
#include <docs/derivatives/newtons-method.inc>
  const dsl::array<double> left = root * root * root + a * root - 1;
  EXPECT_LT(dsl::max(abs(left)).value(), 1e-14);
}

struct option { double spot, rate, volatility, time, of_d, of_e, density, paid, width; };

TEST_P(derivatives_doc, greeks) {
  const auto spot = numbers(60, 140);
  const dsl::array<double> strike = 100 + 0 * spot, rate = 0.01 + spot / 5000,
                           volatility = 0.1 + spot / 1000, time = 0.25 + spot / 100;
  dsl::array<double> price, delta, gamma, vega, theta, rho;
#include <docs/derivatives/black-scholes-with-its-greeks-2.inc>
  // The closed formulas.
  const auto expect = [&](const dsl::array<double>& got, auto formula) {
    expect_elements(
        got, 1e-13,
        [&](double s, double k, double r, double v, double t) {
          const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
          const double width = v * std::sqrt(t),
                       d = (std::log(s / k) + (r + v * v / 2) * t) / width, e = d - width,
                       density = std::exp(-d * d / 2) / std::sqrt(2 * std::acos(-1.0)),
                       paid = k * std::exp(-r * t);
          return formula(option{s, r, v, t, normal(d), normal(e), density, paid, width});
        },
        spot, strike, rate, volatility, time);
  };
  expect(price, [](const option& o) { return o.spot * o.of_d - o.paid * o.of_e; });
  expect(delta, [](const option& o) { return o.of_d; });
  expect(gamma, [](const option& o) { return o.density / (o.spot * o.width); });
  expect(vega, [](const option& o) { return o.spot * o.density * std::sqrt(o.time); });
  expect(theta, [](const option& o) {
    return -o.spot * o.density * o.volatility / (2 * std::sqrt(o.time)) - o.rate * o.paid * o.of_e;
  });
  expect(rho, [](const option& o) { return o.time * o.paid * o.of_e; });
}

TEST_P(derivatives_doc, sums_and_neighbours) {
  const dsl::array<double> x = sin(numbers(0, 7));
  dsl::array<double> force;
#include <docs/derivatives/sums-and-neighbours.inc>
  const auto got = force.copy_to_host(), host = x.copy_to_host();
  const auto size = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < size; ++i)
    ASSERT_NEAR(got[i],
                host[(i + size - 1) % size] - 2 * host[i] + host[(i + 1) % size] -
                    4 * host[i] * host[i] * host[i] / n,
                1e-14)
        << i;
}

TEST_P(derivatives_doc, conventions) {
  dsl::array<std::complex<double>> z = numbers(-2, 2) + 1i * numbers(3, -3);
#include <docs/derivatives/conventions.inc>
  expect_elements(z, 1e-12, [](std::complex<double>) { return 1.0 + 2i; }, z);
}

TEST_P(derivatives_doc, functors) {
  const auto mean = numbers(-3, 3);
  dsl::array<double> anomaly, by_mean, by_e;
#include <docs/derivatives/functors-2.inc>
  expect_elements(
      anomaly, 1e-13, [](double mean, double anomaly) { return mean + 0.3 * std::sin(anomaly); },
      mean, anomaly);
  expect_elements(by_mean, 1e-15, [](double a) { return 1 / (1 - 0.3 * std::cos(a)); }, anomaly);
  expect_elements(
      by_e, 1e-15, [](double a) { return std::sin(a) / (1 - 0.3 * std::cos(a)); }, anomaly);
}

TEST_P(derivatives_doc, of_a_loss) {
  const auto t = numbers(0, 3);
  const dsl::array<double> y = 1.5 * exp(-0.7 * t);
#include <docs/derivatives/of-a-loss.inc>
  EXPECT_NEAR(a.value(), 1.5, 1e-6);
  EXPECT_NEAR(k.value(), 0.7, 1e-6);
}

TEST_P(derivatives_doc, of_a_loss_with_its_value) {
  const auto t = numbers(0, 3);
  const dsl::array<double> y = 1.5 * exp(-0.7 * t);
  dsl::scalar<double> a = 1.5, k = 0.6, value, da, dk;
#include <docs/derivatives/of-a-loss-2.inc>
  EXPECT_NEAR(value.value(), dsl::eval(loss).value(), 1e-15);
  EXPECT_GT(da.value(), 0);  // Both curves decay: the one with the smaller k is too high.
  EXPECT_LT(dk.value(), 0);
}

TEST_P(derivatives_doc, of_a_scan) {
  const std::vector<double> wanted{1, -0.5, 2, 0.25};
  const auto measured = dsl::eval(dsl::cumsum(dsl::to_device(wanted)));
#include <docs/derivatives/of-a-loss-3.inc>
  const auto found = rate.copy_to_host();
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-6);
}

TEST_P(derivatives_doc, of_a_time_loop) {
  const auto start = numbers(0.1, 0.6);
  std::vector<double> host = start.copy_to_host();
  for (double& u : host)
    for (int step = 0; step < 50; ++step) u += 0.1 * 0.8 * u * (1 - u);
  const auto wanted = dsl::to_device(host);
#include <docs/derivatives/of-a-time-loop.inc>
  EXPECT_NEAR(rate.value(), 0.8, 1e-6);
}

TEST_P(derivatives_doc, of_an_integration) {
  const auto start = numbers(0.5, 1.5);
  const dsl::array<double> wanted = start / (1 + 2 * 0.8 * start);
#include <docs/derivatives/of-an-integration.inc>
  EXPECT_NEAR(rate.value(), 0.8, 1e-6);
}

}  // namespace

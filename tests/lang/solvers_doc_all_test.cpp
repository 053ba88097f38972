// The solvers of docs/solvers.md solve what is said of them.
#include "../on_device.hpp"

#include <dsl/ode.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <tuple>

namespace {

using namespace std::complex_literals;

#include <docs/solvers/solvers.inc>
// It comes first: the others use its laplace.
#include <docs/solvers/bicgstab.inc>
#include <docs/solvers/preconditioning-by-the-diagonal.inc>

// A right side whose solution is known.
struct solvers_doc : on_device {
  static constexpr std::int64_t n = 24, m = 31;
  dsl::array<double, 2> wanted, w;
  void SetUp() override {
    on_device::SetUp();
    if (IsSkipped()) return;
    const auto i = dsl::cast<double>(dsl::index(0, n, m)),
               j = dsl::cast<double>(dsl::index(1, n, m));
    wanted = dsl::eval(sin(0.3 * i) * cos(0.2 * j) + 0.5);
    w = dsl::eval(exp(6 * sin(0.7 * i + 0.4 * j)));
  }
  void expect_wanted(const dsl::array<double, 2>& x, double within) const {
    EXPECT_LT(dsl::max(abs(x - wanted)).value(), within);
  }
};
ON_EVERY_DEVICE(solvers_doc);

TEST_P(solvers_doc, conjugate_gradients) {
  const dsl::array<double, 2> b = dsl::vectorize(laplace)(wanted);
#include <docs/solvers/solvers-2.inc>
  expect_wanted(x, 1e-8);
  EXPECT_GT(steps.value(), 20);
  EXPECT_LT(steps.value(), 150);
  const auto squares = history.copy_to_host();
  const auto last = static_cast<std::size_t>(steps.value());
  EXPECT_LT(squares[last - 1], enough.value());
  EXPECT_GE(squares[last - 2], enough.value());
  EXPECT_EQ(squares[last], 0);
  if (simulated()) {
    EXPECT_EQ(dsl::plan_of(conjugate_gradients, dsl::state(x, r, p, rr)).loop,
              dsl::strategy::tiled);
  }
}

TEST_P(solvers_doc, preconditioned) {
  const dsl::array<double, 2> b = dsl::vectorize(laplace)(wanted) + w * wanted;
#include <docs/solvers/preconditioning-by-the-diagonal-2.inc>
  expect_wanted(x, 1e-9);
  // Without the preconditioner it takes several times as many steps.
  const auto plain = dsl::vectorize([](auto x, auto r, auto p, auto rr, auto w) {
    auto q = laplace(p) + w * p;
    auto alpha = rr / dsl::sum(p * q);
    auto next = r - alpha * q;
    auto next_rr = dsl::sum(next * next);
    return std::tuple{x + alpha * p, next, next + next_rr / rr * p, next_rr};
  });
  dsl::array<double, 2> y = 0 * b, s = b, d = b;
  dsl::scalar<double> ss = dsl::sum(s * s);
  dsl::scalar<std::int64_t> others;
  dsl::iterate(2000, plain, dsl::state(y, s, d, ss), w, dsl::until(ss < 1e-20, others));
  EXPECT_LT(3 * steps.value(), others.value());
}

TEST_P(solvers_doc, bicgstab) {
  const dsl::array<double, 2> b = dsl::vectorize(wind)(wanted);
#include <docs/solvers/bicgstab-2.inc>
  expect_wanted(x, 1e-9);
  EXPECT_LT(steps.value(), 200);
}

TEST_P(solvers_doc, power_iteration) {
  dsl::array<double, 2> v = wanted + 0.1 * w;
#include <docs/solvers/power-iteration.inc>
  const double pi = std::acos(-1.0);
  EXPECT_NEAR(eigenvalue.value(), 4 + 2 * std::cos(pi / (n + 1)) + 2 * std::cos(pi / (m + 1)),
              1e-6);
}

TEST_P(solvers_doc, gradient_descent) {
  const dsl::array<double, 2> b = dsl::vectorize(laplace)(wanted);
#include <docs/solvers/gradient-descent-with-momentum.inc>
  EXPECT_LT(length.value(), 1e-10);
  expect_wanted(u, 1e-8);
}

TEST_P(solvers_doc, k_means) {
  std::vector<double> host;
  for (int i = 0; i < 300; ++i)
    host.push_back(2.0 * (i % 3) - 1.5 + 0.5 * std::sin(static_cast<double>(i)));
  const auto points = dsl::to_device(host);
#include <docs/solvers/lloyds-k-means.inc>
  EXPECT_EQ(moved.value(), 0);
  double sum[3] = {}, squares = 0;
  const double centre[] = {a.value(), b.value(), c.value()};
  const auto of = cluster.copy_to_host();
  for (std::size_t i = 0; i < host.size(); ++i) {
    EXPECT_EQ(of[i], static_cast<int>(i % 3));
    sum[i % 3] += host[i] / 100;
    squares += (host[i] - centre[i % 3]) * (host[i] - centre[i % 3]) / 300;
  }
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(centre[k], sum[k], 1e-13);
  EXPECT_NEAR(spread.value(), squares, 1e-13);
}

TEST_P(solvers_doc, mean_fields) {
  std::vector<double> host, rates;
  for (int i = 0; i < 300; ++i) {
    host.push_back(0.02 * i);
    rates.push_back(0.5 * std::sin(static_cast<double>(i)));
  }
  auto phase = dsl::to_device(host);
  const auto rate = dsl::to_device(rates);
#include <docs/solvers/mean-fields-in-runge-kutta-steps.inc>
  const auto change = [&](const std::vector<double>& x) {
    std::complex<double> mean = 0;
    for (const double each : x) mean += std::polar(1.0 / 300, each);
    std::vector<double> to;
    for (std::size_t i = 0; i < x.size(); ++i)
      to.push_back(rates[i] + 2 * (mean * std::polar(1.0, -x[i])).imag());
    return to;
  };
  const auto sum = [](std::vector<double> x, double h, const std::vector<double>& k) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += h * k[i];
    return x;
  };
  for (int step = 0; step < 200; ++step) {
    const auto k1 = change(host), k2 = change(sum(host, 0.025, k1)),
               k3 = change(sum(host, 0.025, k2)), k4 = change(sum(host, 0.05, k3));
    for (std::size_t i = 0; i < host.size(); ++i)
      host[i] += 0.05 / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  }
  const auto got = phase.copy_to_host();
  for (std::size_t i = 0; i < host.size(); ++i) ASSERT_NEAR(got[i], host[i], 1e-10) << i;
}

TEST_P(solvers_doc, relaxation_on_a_graph) {
  const std::int64_t nodes = 101;
  const auto at = dsl::arange<std::int64_t>(nodes);
  const dsl::array<std::int64_t> i = (at * 7 + 3) % nodes, j = (at * 31 + 1) % nodes, k = at - 1;
  const dsl::array<bool> fixed = at % 50 == 0;
  const dsl::array<double> start = dsl::cast<double>(at % 50 == 0) * dsl::cast<double>(at);
  dsl::array<double> u = start;
#include <docs/solvers/relaxation-on-a-graph.inc>
  const auto got = u.copy_to_host(), first = start.copy_to_host();
  for (std::size_t e = 0; e < got.size(); ++e)
    EXPECT_NEAR(got[e],
                e % 50 == 0
                    ? first[e]
                    : (got[(e * 7 + 3) % 101] + got[(e * 31 + 1) % 101] + got[(e + 100) % 101]) / 3,
                1e-11)
        << e;
}

}  // namespace

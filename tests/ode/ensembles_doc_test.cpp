// The examples of docs/ensembles.md do what is said of them.
#include "one_device.hpp"

#include <dsl/ode.hpp>
#include <dsl/random.hpp>

#include <cmath>
#include <tuple>

namespace {

struct ensembles_page : on_one_device {};
ON_EVERY_DEVICE(ensembles_page);

TEST_P(ensembles_page, one_call_and_values_at_given_times) {
  const dsl::array<double> rho = dsl::linspace(0.0, 21.0, 100);
  dsl::array<double> x = dsl::ones<double>(100), y = dsl::zeros<double>(100),
                     z = dsl::zeros<double>(100);
#include <docs/ensembles/one-call.inc>
  EXPECT_GT(mean_steps, 20);
  EXPECT_LT(mean_steps, 60);
  EXPECT_LT(dsl::min(got.steps).value(), dsl::max(got.steps).value());
  // The same again, in smaller steps.
  dsl::array<double> u = dsl::ones<double>(100), v = dsl::zeros<double>(100),
                     w = dsl::zeros<double>(100);
  dsl::iterate(2000, dsl::ode::rk4(lorenz), dsl::state(u, v, w), rho, 1.0 / 2000);
  EXPECT_LT(dsl::max(abs(x - u)).value(), 2e-5);
  EXPECT_LT(dsl::max(abs(z - w)).value(), 2e-5);

  const dsl::array<double> first = x;
#include <docs/ensembles/values-at-given-times.inc>
  EXPECT_EQ(dsl::max(abs(at_times(0) - first)).value(), 0);
  EXPECT_LT(dsl::max(abs(at_times(10) - x)).value(), 1e-12);
}

TEST_P(ensembles_page, derivatives_of_a_loss) {
  constexpr auto lorenz = [](auto x, auto y, auto z, auto rho) {
    return std::tuple{10 * (y - x), x * (rho - z) - y, x * y - 8.0 / 3 * z};
  };
  dsl::array<double> rho = dsl::linspace(1.0, 4.0, 40), x, y, z;
  const auto start = [&] {
    x = dsl::ones<double>(40);
    y = z = dsl::zeros<double>(40);
  };
  start();
  dsl::ode::ensemble(lorenz, dsl::state(x, y, z), 0.0, 1.0, {}, 0.9 * rho);
  const dsl::array<double> wanted = x;
  double before = 0;
  for (int k = 0; k < 3; ++k) {
    start();
#include <docs/ensembles/derivatives-of-a-loss.inc>
    if (k > 0) {
      EXPECT_LT(found.loss.value(), before);
    }
    before = found.loss.value();
  }
}

TEST_P(ensembles_page, events) {
  dsl::array<double> h = dsl::linspace(1.0, 2.0, 50), v = dsl::zeros<double>(50);
#include <docs/ensembles/events.inc>
  EXPECT_GT(dsl::min(h).value(), -1e-9);
  EXPECT_LT(dsl::max(h).value(), 2);
}

// Geometric Brownian motion that stops at 1.2: its mean without drift would stay 1.
TEST_P(ensembles_page, noise) {
#include <docs/ensembles/noise.inc>
  EXPECT_LT(dsl::max(price).value(), 1.2 + 1e-12);
  EXPECT_NEAR(dsl::mean(price).value(), 1.04, 0.03);
  EXPECT_GT(dsl::mean(dsl::cast<double>(passed.outcome == dsl::ode::outcome::event)).value(), 0.2);
}

TEST_P(ensembles_page, sensitivities) {
  const dsl::array<double> rate = dsl::linspace(0.5, 2.0, 50);
  dsl::array<double> y = dsl::ones<double>(50), dy_drate = dsl::zeros<double>(50);
#include <docs/ensembles/sensitivities.inc>
  EXPECT_LT(dsl::max(abs(y - exp(-rate))).value(), 1e-6);
  EXPECT_LT(dsl::max(abs(dy_drate + exp(-rate))).value(), 1e-6);
}

}  // namespace

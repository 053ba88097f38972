// The examples of docs/ensembles.md do what is said of them.
#include "one_device.hpp"

#include <dsl/ode.hpp>

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

TEST_P(ensembles_page, events) {
  dsl::array<double> h = dsl::linspace(1.0, 2.0, 50), v = dsl::zeros<double>(50);
#include <docs/ensembles/events.inc>
  EXPECT_GT(dsl::min(h).value(), -1e-9);
  EXPECT_LT(dsl::max(h).value(), 2);
}

}  // namespace

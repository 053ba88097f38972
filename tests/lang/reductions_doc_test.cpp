// The examples of docs/reductions.md do what is said of them.
#include "../on_device.hpp"

#include <cmath>
#include <tuple>

#include <docs/reductions/accumulators-2.inc>

namespace {

struct reductions_page : on_device {};
ON_EVERY_DEVICE(reductions_page);

TEST_P(reductions_page, beginning) {
  const dsl::array<double> x = dsl::arange<double>(4), y = dsl::zeros<double>(4);
  const dsl::array<float, 2> m = dsl::reshape(dsl::arange<float>(6), 2, 3);
  dsl::scalar<double> lo, hi, mean;
#include <docs/reductions/reductions.inc>
  EXPECT_EQ(s.value(), 6);
  EXPECT_NEAR(n, std::sqrt(14), 1e-14);
  EXPECT_EQ(rows.copy_to_host(), (std::vector<float>{3, 12}));
  EXPECT_EQ(centred.copy_to_host(), (std::vector<float>{-1, 0, 1, -1, 0, 1}));
  EXPECT_EQ(std::tuple(lo.value(), hi.value(), mean.value()), std::tuple(0, 3, 1.5));
}

TEST_P(reductions_page, of_the_header) {
  const dsl::array<double> x = dsl::arange<double>(4), y = dsl::zeros<double>(4);
  const dsl::array<float, 2> m = dsl::reshape(dsl::arange<float>(6), 2, 3);
  dsl::scalar<double> s = dsl::sum(x * exp(-y));
  dsl::array<float> rows = dsl::sum(m, dsl::axis(1));
  EXPECT_EQ(s.value(), 6);
  EXPECT_EQ(rows(1).value(), 12);
}

TEST_P(reductions_page, in_formulas) {
  dsl::array<double> u = dsl::arange<double>(4);
  const dsl::array<double> f = dsl::arange<double>(4) - 1.0;
  dsl::scalar<double> rms;
  dsl::scalar<std::int64_t> where;
  const double h = 1;
#include <docs/reductions/in-formulas.inc>
  EXPECT_EQ(u.copy_to_host(), (std::vector<double>{-1, 1, 3, 5}));
  EXPECT_EQ(rms.value(), 3);
  EXPECT_EQ(where.value(), 3);

  const dsl::array<double, 2> a = dsl::ones<double>(3, 4);
  const dsl::array<double> r = dsl::arange<double>(4);
  dsl::array<double, 2> product;
  dsl::scalar<double> total;
#include <docs/reductions/in-formulas-2.inc>
  EXPECT_EQ(total.value(), 3 * dsl::sum(r).value());
  EXPECT_EQ(product.copy_to_host(), (std::vector<double>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST_P(reductions_page, one_kernel) {
  const dsl::array<double> x = dsl::arange<double>(4), y = 3 * x + 1;
#include <docs/reductions/in-formulas-4.inc>
  EXPECT_NEAR(r.value(), 1, 1e-14);
}

TEST_P(reductions_page, operators) {
  const dsl::array<double> x = dsl::arange<double>(4);
  const dsl::array<double, 2> m = dsl::reshape(x, 2, 2);
#include <docs/reductions/operators-of-ones-own.inc>
  EXPECT_NEAR(of_all.value(), std::sqrt(14), 1e-14);
  EXPECT_NEAR(of_rows.copy_to_host()[1], std::sqrt(13), 1e-14);
}

TEST_P(reductions_page, accumulators) {
  const dsl::array<float, 2> m = dsl::reshape(dsl::arange<float>(6), 3, 2);
#include <docs/reductions/accumulators.inc>
  EXPECT_NEAR(of_rows.copy_to_host()[2], 5.3132617, 1e-5);

  const dsl::array<double> energies = dsl::to_device({3., -1., 2.});
  const dsl::array<int> charges = dsl::to_device({5, 7, 9});
  dsl::scalar<double> least;
  dsl::scalar<int> charge;
  const dsl::array<float> f = dsl::to_device({1e8f, 1.f, -1e8f, 1.f});
#include <docs/reductions/accumulators-4.inc>
  EXPECT_EQ(least.value(), -1);
  EXPECT_EQ(charge.value(), 7);
  EXPECT_EQ(total.value(), 2);
}

TEST_P(reductions_page, accumulators_of_functors) {
  const dsl::array<float, 2> m = dsl::reshape(dsl::arange<float>(6), 3, 2);
  const dsl::array<float> x = dsl::arange<float>(6);
  dsl::scalar<float> mean, variance;
  dsl::array<float> means, variances;
#include <docs/reductions/accumulators-3.inc>
  EXPECT_EQ(mean.value(), 2.5f);
  EXPECT_NEAR(variance.value(), 35 / 12., 1e-6);
  EXPECT_EQ(means.copy_to_host(), (std::vector<float>{2, 3}));
  EXPECT_NEAR(variances.copy_to_host()[1], 8 / 3., 1e-6);
}

TEST_P(reductions_page, of_a_formula_for_its_elements) {
  const dsl::array<double> x = dsl::zeros<double>(4);
  dsl::array<double> y;
#include <docs/reductions/in-formulas-3.inc>
  EXPECT_EQ(y.copy_to_host(), (std::vector<double>(4, 0.25)));
}

}  // namespace

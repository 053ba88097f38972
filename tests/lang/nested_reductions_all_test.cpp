// Nested reductions, formulas inside expressions, along axes: a kernel for each. In the quick tests
// ir/split_test.cpp compares random ones as data, and lang/nested_reductions_test.cpp runs some.
#include "../on_device.hpp"

#include <cmath>
#include <limits>
#include <tuple>

namespace {

struct nested_reductions_all : on_device {};
ON_EVERY_DEVICE(nested_reductions_all);

using dsl::axis;
using dsl::keep_dims;

void expect_near(const std::vector<double>& got, const std::vector<double>& want, double bound) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(got[i], want[i], bound * std::abs(want[i])) << i;
}

TEST_P(nested_reductions_all, a_formula_within_an_expression) {
  const auto spread = dsl::vectorize([](auto x) { return dsl::max(x - dsl::min(x)); });
  const auto off = dsl::vectorize([](auto x, auto y) { return x - dsl::sum(y); });
  const dsl::array<std::int64_t> x = dsl::arange<std::int64_t>(5),
                                 three = dsl::arange<std::int64_t>(3);
  EXPECT_EQ(dsl::eval(three + spread(x)).copy_to_host(), (std::vector<std::int64_t>{4, 5, 6}));
  EXPECT_EQ(spread(2 * x).value(), 8);
  EXPECT_EQ(dsl::sum(off(x, x) * x).value(), 0 * -10 + 1 * -9 + 2 * -8 + 3 * -7 + 4 * -6);
  // Arguments are broadcast first: the row's sum counts each of its elements twice.
  const dsl::array<std::int64_t, 2> m = dsl::reshape(dsl::arange<std::int64_t>(6), 2, 3);
  EXPECT_EQ(dsl::eval(dsl::ravel(dsl::eval(off(m, three)))).copy_to_host(),
            (std::vector<std::int64_t>{-6, -5, -4, -3, -2, -1}));
  EXPECT_EQ(dsl::eval(dsl::ravel(dsl::eval(off(m, dsl::sum(m, axis(0)))))).copy_to_host(),
            (std::vector<std::int64_t>{-30, -29, -28, -27, -26, -25}));
  EXPECT_EQ(
      dsl::eval(dsl::ravel(dsl::eval(off(three, dsl::sum(m, axis(1), keep_dims))))).copy_to_host(),
      (std::vector<std::int64_t>{-45, -44, -43, -45, -44, -43}));
}

TEST_P(nested_reductions_all, depth_and_axes) {
  const dsl::array<double> x = dsl::arange<double>(4);
  expect_near(
      dsl::eval((x - dsl::mean(x)) / sqrt(dsl::mean(pow(x - dsl::mean(x), 2)))).copy_to_host(),
      {-1.5 / std::sqrt(1.25), -0.5 / std::sqrt(1.25), 0.5 / std::sqrt(1.25),
       1.5 / std::sqrt(1.25)},
      1e-15);
  const dsl::array<double, 2> m = dsl::reshape(dsl::arange<double>(6), 2, 3);
  dsl::array<double, 2> k = m / dsl::sum(m, axis(0)) - dsl::mean(m, axis(1), keep_dims);
  expect_near(dsl::eval(dsl::ravel(k)).copy_to_host(),
              {0 - 1., 1 / 5. - 1, 2 / 7. - 1, 1 - 4., 4 / 5. - 4, 5 / 7. - 4}, 1e-15);
  EXPECT_EQ(dsl::sum(dsl::sum(m, axis(1)) * dsl::max(m, axis(1))).value(), 3 * 2 + 12 * 5);
  EXPECT_EQ(dsl::sum(dsl::sum(m, axis(0)) / dsl::sum(m)).value(), 1);
  EXPECT_EQ(dsl::sum(dsl::sum(m)).value(), 15);  // of one value
  EXPECT_EQ(dsl::argmax(m - dsl::mean(m)).value(), 5);
  EXPECT_EQ(
      dsl::eval(dsl::argmin(abs(m - dsl::mean(m, axis(1), keep_dims)), axis(1))).copy_to_host(),
      (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(dsl::dot(x - dsl::sum(x), x - dsl::sum(m)).value(),
            -6 * -15 + -5 * -14 + -4 * -13 + -3 * -12);
  EXPECT_THROW(dsl::dot(x - dsl::sum(x), dsl::sum(m, axis(0))).value(), dsl::shape_error);
}

TEST_P(nested_reductions_all, of_numbers_that_are_none) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto x = dsl::to_device(std::vector<double>{1, nan, 3});
  for (const double v : dsl::eval(x / dsl::sum(x)).copy_to_host()) EXPECT_TRUE(std::isnan(v));
  const std::vector<double> got = dsl::eval(x - dsl::nanmax(x)).copy_to_host();
  EXPECT_EQ(std::tuple(got[0], got[2]), std::tuple(-2, 0));
  EXPECT_TRUE(std::isnan(got[1]));
  const dsl::array<double> none(0);
  EXPECT_EQ(dsl::eval(none / dsl::sum(none)).extent(0), 0);
  EXPECT_EQ(dsl::sum(none - dsl::mean(none)).value(), 0);
}

}  // namespace

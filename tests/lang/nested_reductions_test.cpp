// Reductions inside expressions and formulas, at every depth, for every use of their values.
#include "../on_device.hpp"

#include <cmath>
#include <limits>
#include <tuple>

namespace {

struct nested_reductions : on_device {};
ON_EVERY_DEVICE(nested_reductions);

using dsl::axis;
using dsl::keep_dims;

constexpr auto softmax = dsl::vectorize([](auto x) {
  auto e = exp(x - dsl::max(x));
  return e / dsl::sum(e);
});

std::vector<double> softmax_of(const std::vector<double>& x) {
  double greatest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const double v : x) greatest = std::max(greatest, v);
  std::vector<double> e;
  for (const double v : x) {
    e.push_back(std::exp(v - greatest));
    sum += e.back();
  }
  for (double& v : e) v /= sum;
  return e;
}
std::vector<double> as_doubles(const std::vector<float>& x) { return {x.begin(), x.end()}; }
void expect_near(const std::vector<double>& got, const std::vector<double>& want, double bound) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(got[i], want[i], bound * std::abs(want[i])) << i;
}

TEST_P(nested_reductions, a_formula_uses_its_own_for_its_elements) {
  for (const std::int64_t n : sizes()) {
    const std::vector<double> h = as_doubles(random_floats(n));
    const dsl::array<double> x = dsl::to_device(h);
    if (n == 0) {
      EXPECT_THROW(dsl::eval(softmax(x)), dsl::shape_error);  // the maximum of no elements
      continue;
    }
    const dsl::array<double> got = softmax(x);
    expect_near(got.copy_to_host(), softmax_of(h), 1e-12);
  }
  // In a formula a reduction is over all elements, for any rank; softmax of each row needs axes.
  const std::vector<double> h = as_doubles(random_floats(24));
  const dsl::array<double, 2> m = dsl::reshape(dsl::to_device(h), 4, 6);
  dsl::array<double, 2> of_rows;
  expect_near(dsl::eval(dsl::ravel(dsl::eval(softmax(m)))).copy_to_host(), softmax_of(h), 1e-12);
  of_rows = exp(m - dsl::max(m, axis(1), keep_dims)) /
            dsl::sum(exp(m - dsl::max(m, axis(1), keep_dims)), axis(1), keep_dims);
  for (int i = 0; i < 4; ++i)
    expect_near(dsl::eval(of_rows(i)).copy_to_host(),
                softmax_of({h.begin() + 6 * i, h.begin() + 6 * i + 6}), 1e-12);
}

TEST_P(nested_reductions, a_formula_gives_elements_and_values_of_any_depth) {
  const auto f = dsl::vectorize([](auto x, auto h) {
    auto centred = x - dsl::sum(x);
    return std::tuple{centred, dsl::sum(centred * centred), dsl::sum(x), 2 * h};
  });
  dsl::array<std::int64_t> x = dsl::arange<std::int64_t>(5), y;
  dsl::scalar<std::int64_t> squares, sum, twice, h = std::int64_t{21};
  dsl::tie(y, squares, sum, twice) = f(x, h);
  EXPECT_EQ(y.copy_to_host(), (std::vector<std::int64_t>{-10, -9, -8, -7, -6}));
  EXPECT_EQ(std::tuple(squares.value(), sum.value(), twice.value()), std::tuple(330, 10, 42));
  dsl::tie(x, squares, sum, h) = f(x, h);  // in place
  EXPECT_EQ(x.copy_to_host(), y.copy_to_host());
  EXPECT_EQ(std::tuple(squares.value(), sum.value(), h.value()), std::tuple(330, 10, 42));
}

// Passes that run one program, on the same operands or on different ones.
TEST_P(nested_reductions, of_the_same_operands_and_of_others) {
  const dsl::array<double> r = dsl::arange<double>(5), p = dsl::arange<double>(7) - 2,
                           q = dsl::ones<double>(7), none(0);
  const auto alpha = [](const auto& a, const auto& b, const auto& c, const auto& d) {
    dsl::scalar<double> s = dsl::dot(a, b) / dsl::dot(c, d);
    return s.value();
  };
  EXPECT_EQ(alpha(r, r, p, q), 30. / 7);
  EXPECT_EQ(alpha(p, q, p, q), 1);
  dsl::scalar<double> least = 1.0, greatest = 2.0, sum = 3.0;
  const auto all = [&](const auto& a, const auto& b, const auto& c) {
    dsl::tie(least, greatest, sum) = std::tuple{dsl::min(a), dsl::max(b), dsl::sum(c)};
  };
  EXPECT_THROW(all(none, r, r), dsl::shape_error);
  EXPECT_THROW(all(r, none, r), dsl::shape_error);
  EXPECT_EQ(std::tuple(least.value(), greatest.value(), sum.value()), std::tuple(1, 2, 3));
  all(r, r, r);
  EXPECT_EQ(std::tuple(least.value(), greatest.value(), sum.value()), std::tuple(0, 4, 10));
  all(p, r, none);
  EXPECT_EQ(std::tuple(least.value(), greatest.value(), sum.value()), std::tuple(-2, 4, 0));
  all(p, r, p);
  EXPECT_EQ(std::tuple(least.value(), greatest.value(), sum.value()), std::tuple(-2, 4, 7));
  // Along axes too; an array and a matrix use the same program.
  const dsl::array<double, 2> m = dsl::reshape(dsl::arange<double>(6), 2, 3);
  dsl::array<double> rows, columns(3);
  dsl::tie(rows, columns, sum) =
      std::tuple{dsl::sum(m, axis(1)), dsl::max(m, axis(0)), dsl::sum(p)};
  EXPECT_EQ(rows.copy_to_host(), (std::vector<double>{3, 12}));
  EXPECT_EQ(columns.copy_to_host(), (std::vector<double>{3, 4, 5}));
  EXPECT_EQ(sum.value(), 7);
  dsl::array<double> again(2), short_of_one(1);
  dsl::tie(rows, again) = std::tuple{dsl::sum(m, axis(1)), dsl::sum(m, axis(1))};
  EXPECT_EQ(again.copy_to_host(), (std::vector<double>{3, 12}));
  EXPECT_THROW(
      (dsl::tie(rows, short_of_one) = std::tuple{dsl::sum(m, axis(1)), dsl::sum(m, axis(1))}),
      dsl::shape_error);
}

TEST_P(nested_reductions, targets_that_are_operands) {
  dsl::array<double> x = dsl::arange<double>(1, 5), y;
  dsl::scalar<double> s = 5.0, t;
  x = x / dsl::sum(x);
  EXPECT_EQ(x.copy_to_host(), (std::vector<double>{0.1, 0.2, 0.3, 0.4}));
  x = dsl::arange<double>(1, 5);
  dsl::tie(x, s) = std::tuple{x / dsl::sum(x), dsl::sum(x)};
  EXPECT_EQ(x.copy_to_host(), (std::vector<double>{0.1, 0.2, 0.3, 0.4}));
  EXPECT_EQ(s.value(), 10);
  x = dsl::arange<double>(1, 5);
  dsl::tie(s, x, t) =
      std::tuple{dsl::sum(x) / s, x - dsl::sum(x) * s, dsl::sum(x * s) / dsl::max(x)};
  EXPECT_EQ(x.copy_to_host(), (std::vector<double>{-99, -98, -97, -96}));
  EXPECT_EQ(std::tuple(s.value(), t.value()), std::tuple(1, 25));
  x = dsl::arange<double>(1, 5);
  auto backwards = dsl::flip(x);
  backwards = x / dsl::max(x);
  EXPECT_EQ(x.copy_to_host(), (std::vector<double>{1, 0.75, 0.5, 0.25}));
  const auto shared = [&] { dsl::tie(s, s) = std::tuple{dsl::sum(x), dsl::sum(x) / dsl::max(x)}; };
  EXPECT_THROW(shared(), dsl::shape_error);
  EXPECT_THROW((dsl::tie(y, t) = std::tuple{x - dsl::sum(x), dsl::max(dsl::array<double>(0))}),
               dsl::shape_error);
  EXPECT_FALSE(y.has_memory());
  auto one = x(0).view();
  EXPECT_THROW((dsl::tie(x, one) = std::tuple{x - dsl::sum(x), dsl::sum(x)}),
               dsl::shape_error);  // a target within another
  EXPECT_EQ(x.copy_to_host(), (std::vector<double>{1, 0.75, 0.5, 0.25}));
}

}  // namespace

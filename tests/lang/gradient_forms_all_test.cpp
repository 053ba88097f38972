// dsl::gradient of rows, views, neighbours and taken elements, and dsl::value_and_gradient. The
// quick tests have those of random programs, and acceptance/derivatives.cpp.
#include "gradient_check.hpp"

#include <dsl/by_key.hpp>

#include <complex>

namespace {

using namespace gradient_check;
using dsl::array;
using dsl::scalar;

struct gradient_forms : on_device {};
ON_EVERY_DEVICE(gradient_forms);

TEST_P(gradient_forms, of_rows_and_views) {
  array<double, 2> m = matrix(4, 6, 1);
  array<double> w = line(6, 2), y = line(4, 3);
  check([&] { return dsl::mean(log1p(exp(-y * dsl::sum(m * w, dsl::axis(1))))); }, m, w);
  check([&] { return dsl::sum(square(dsl::shift(w, 1) - dsl::flip(w))); }, w);
}

// The number of kernels of a gradient.
template <class Loss, class X>
int kernels_of(const Loss& loss, X& x) {
  const std::string text = dsl::explain(x, dsl::gradient(loss(), x)).text().c_str();
  int count = 0;
  for (std::size_t at = 0; (at = text.find("\n  program", at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST_P(gradient_forms, of_rows_by_one_kernel) {
  array<double, 2> m = matrix(4, 7, 1), goal = matrix(4, 7, 2);
  array<double> of_row = line(4, 3);
  const auto label = dsl::eval(dsl::arange<std::int64_t>(4) * 3 % 7);
  const auto cross_entropy = [&] {
    const auto moved = m - dsl::max(m, dsl::axis(1), dsl::keep_dims);
    return dsl::mean(log(dsl::sum(exp(moved), dsl::axis(1))) * of_row) -
           dsl::sum(where(dsl::arange<std::int64_t>(7) == dsl::expand_dims(label, 1), moved, 0));
  };
  const auto layer_norm = [&] {
    const auto off = m - dsl::mean(m, dsl::axis(0), dsl::keep_dims);
    return sqrt(
        dsl::mean(square(off / sqrt(dsl::var(m, dsl::axis(0), dsl::keep_dims) + 0.1) - goal * m)));
  };
  // Inside a reduction stands another array of the variable's dtype.
  const auto masked = [&] {
    return dsl::sum(log(dsl::sum(exp(m + goal), dsl::axis(1), dsl::keep_dims)) * m);
  };
  check(cross_entropy, m);
  check(layer_norm, m);
  check(layer_norm, m, goal);
  check(masked, m);
  if (name() != std::string("sim")) return;  // It counts one device's kernels.
  EXPECT_EQ(kernels_of(cross_entropy, m), 1);
  EXPECT_GT(kernels_of(masked, m), 1);
}

TEST_P(gradient_forms, of_a_mean_of_neighbours) {
  array<double> x = line(5, 1);
  check([&] { return dsl::mean(dsl::shift(x, 2)); }, x);
}

TEST_P(gradient_forms, of_taken) {
  array<double> x = line(10, 1);
  array<double, 2> m = matrix(4, 3, 2);
  const array<std::int64_t> at = dsl::to_device(std::vector<std::int64_t>{3, 3, -1, 0, 7, 100, 3}),
                            rows = dsl::to_device(std::vector<std::int64_t>{2, 0, 2});
  check(
      [&] {
        return dsl::sum(exp(dsl::take(x, at)) * dsl::mean(x * x)) +
               dsl::sum(square(dsl::take(m, rows, 0)));
      },
      x, m);
}

TEST_P(gradient_forms, of_a_table) {
  array<double> x = line(6, 1), table = line(5, 2);
  const array<std::int64_t> at = dsl::to_device(std::vector<std::int64_t>{3, 3, -1, 0, 7, 3});
  const auto look =
      dsl::vectorize([](auto t, auto u, auto i) { return dsl::take(t, i) + u * dsl::take(u, i); });
  check([&] { return dsl::sum(square(look(table, x, at))); }, x, table);
}

// The loss of logistic regression: m holds the points, y their labels.
auto logistic_loss(const array<double, 2>& m, const array<double>& y, const array<double>& w,
                   const scalar<double>& b) {
  return dsl::mean(logaddexp(0.0, -y * (dsl::sum(m * w, dsl::axis(1)) + b)));
}

TEST_P(gradient_forms, with_the_value) {
  for (const std::int64_t rows : {1, 7, 67}) {
    array<double, 2> m = matrix(rows, 5, 1);
    array<double> w = line(5, 2), y = line(rows, 3);
    scalar<double> b = 0.3;
    const auto z = dsl::sum(m * w, dsl::axis(1)) + b;
    check_value(0, [&] { return logistic_loss(m, y, w, b); }, w, b);
    // Only y is a variable: the gradient reads no sum.
    check_value(0, [&] { return dsl::mean(y + z); }, y);
    // Outermost reductions whose values the weights depend on.
    check_value(
        1e-14,
        [&] { return sqrt(dsl::mean(square(z - y))) * exp(-dsl::norm(z)) + 0.1 * dsl::sum(w * w); },
        w, b);
  }
}

TEST_P(gradient_forms, with_the_value_of_complex_numbers) {
  const array<std::complex<double>> u = line(33, 1) + std::complex<double>(0, 1) * line(33, 2);
  scalar<std::complex<double>> value, of_k, k = std::complex<double>(0.5, 2);
  dsl::tie(value, of_k) = dsl::value_and_gradient(square(dsl::sum(k * u)), k);
  const std::complex<double> sum = dsl::sum(u).value(), at = k.value() * sum;
  EXPECT_LE(std::abs(value.value() - at * at), 1e-13 * std::abs(at * at));
  EXPECT_LE(std::abs(of_k.value() - 2.0 * at * sum), 1e-13 * std::abs(at * sum));
}

TEST_P(gradient_forms, with_the_value_into_operands) {
  array<double, 2> m = matrix(9, 5, 1);
  array<double> w = line(5, 2), y = line(9, 3), slope;
  scalar<double> b = 0.3, value, of_b;
  const auto loss = logistic_loss(m, y, w, b);
  dsl::tie(value, slope, of_b) = dsl::value_and_gradient(loss, w, b);
  const double before = value.value(), slope_of_b = of_b.value();
  const auto seen = w.view();
  // The targets are the variables, and the value's is an operand of the loss.
  dsl::tie(b, w, of_b) = dsl::value_and_gradient(loss, w, b);
  EXPECT_EQ(b.value(), before);
  EXPECT_EQ(of_b.value(), slope_of_b);
  EXPECT_EQ(seen.copy_to_host(), slope.copy_to_host());
  EXPECT_THROW(dsl::tie(value, slope, of_b) = dsl::value_and_gradient(loss, line(5, 4), b),
               dsl::value_error);
  EXPECT_EQ(value.value(), before);
}

// Two statements read m: one computes the sum inside the loss, one the derivative by w.
TEST_P(gradient_forms, with_the_value_read_operands_once) {
  if (name() != std::string("sim")) GTEST_SKIP() << "counts one device's statements";
  array<double, 2> m = matrix(9, 5, 1);
  array<double> w = line(5, 2), y = line(9, 3), slope;
  scalar<double> b = 0.3, value, of_b;
  const dsl::text text = dsl::explain(dsl::tie(value, slope, of_b),
                                      dsl::value_and_gradient(logistic_loss(m, y, w, b), w, b))
                             .text();
  const std::string said = text.c_str();
  int reads = 0;
  for (std::size_t i = 0; (i = said.find("(9, 5)  read     element", i)) != std::string::npos; ++i)
    ++reads;
  EXPECT_EQ(reads, 2) << said;
}

}  // namespace

// The number of elements in formulas of elements: derivatives of means, each one pass. Compared
// with double precision.
#include "iterate_loops.hpp"

#include <dsl/by_key.hpp>
#include <dsl/scan.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace {

struct counts : on_device {};
ON_EVERY_DEVICE(counts);

using dsl::axis;
using dsl::grad;
using dsl::strategy;

constexpr auto mean_square = [](auto a) { return dsl::mean(a * a); };
constexpr auto slope = grad<0>(mean_square);

std::vector<double> doubles(std::int64_t n, unsigned seed = 1) {
  const std::vector<float> x = random_floats(n, -2, 2, seed);
  return {x.begin(), x.end()};
}
template <class T, class F>
void expect_each(const std::vector<T>& have, const F& want) {
  for (std::size_t i = 0; i < have.size(); ++i)
    ASSERT_NEAR(have[i], want(i), 1e-12 * std::abs(want(i))) << i << " of " << have.size();
}

TEST_P(counts, derivative_of_a_mean) {
  dsl::array<double> x, y;
  for (const std::int64_t n : {0, 1, 2, 31, 257, 1009, 1000003}) {
    const std::vector<double> given = doubles(n);
    x = dsl::to_device(given);
    y = dsl::array<double>(n);
    y = slope(x);
    expect_each(y.copy_to_host(), [&](std::size_t i) { return 2 * given[i] / n; });
  }
  // The last n again: it is planned once. Then another n in the same arrays' place.
  for (const std::int64_t n : {1000003, 1000003, 1000003, 31, 31, 31}) {
    const std::vector<double> given = doubles(n, 2);
    auto part = x(dsl::slice(0, n)), to = y(dsl::slice(0, n));
    part = dsl::to_device(given);
    to = slope(part);
    expect_each(dsl::eval(to).copy_to_host(), [&](std::size_t i) { return 2 * given[i] / n; });
  }
}

TEST_P(counts, one_kernel) {
  const auto x = dsl::to_device(doubles(1009));
  dsl::array<double> y;
  const std::string text = dsl::explain(y, slope(x)).text();
  EXPECT_EQ(text.find("passes"), std::string::npos) << text;
  EXPECT_GT(dsl::plan_of(y, slope(x)).grid, 0);  // does not compile for several passes
  dsl::scalar<double> value;
  y = dsl::array<double>(1009);
  EXPECT_GT(dsl::plan_of(dsl::tie(value, y), dsl::value_and_grad<0>(mean_square)(x)).grid, 0);
}

// A C++ scalar that is the number of elements, and then another number, as the statement is kept.
TEST_P(counts, scalar_of_the_same_value) {
  const auto f = dsl::vectorize([](auto a, auto k) { return slope(a) + k; });
  const auto in_phases = dsl::vectorize([](auto a, auto k) { return slope(a) + dsl::max(a) + k; });
  const std::vector<double> given = doubles(5);
  const auto x = dsl::to_device(given);
  dsl::array<double> y(5);
  for (const std::int64_t k : {5, 5, 5, 7, 7, 7, 5, 5, 9, 9}) {
    y = f(x, k);
    expect_each(y.copy_to_host(), [&](std::size_t i) { return 2 * given[i] / 5 + k; });
    y = in_phases(x, k);
    const double most = *std::max_element(given.begin(), given.end());
    expect_each(y.copy_to_host(), [&](std::size_t i) { return 2 * given[i] / 5 + most + k; });
  }
}

TEST_P(counts, strided_and_broadcast) {
  const std::int64_t rows = 7, columns = 13;
  const std::vector<double> given = doubles(rows * columns), line = doubles(columns, 2);
  dsl::array<double, 2> m(rows, columns), y(rows, columns), turned(columns, rows);
  m = dsl::reshape(dsl::to_device(given), rows, columns);
  const auto x = dsl::to_device(line);
  const auto n = static_cast<double>(rows * columns);
  turned = slope(dsl::transpose(m));
  y = dsl::transpose(turned);
  expect_each(dsl::eval(dsl::reshape(y, -1)).copy_to_host(),
              [&](std::size_t i) { return 2 * given[i] / n; });
  // The formula's own elements count, not those that its result is stretched to.
  y = m + slope(x);
  expect_each(dsl::eval(dsl::reshape(y, -1)).copy_to_host(),
              [&](std::size_t i) { return given[i] + 2 * line[i % 13] / 13; });
  // Formulas of different shapes, one of them with a reduction along an axis inside.
  std::vector<double> sums(static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < given.size(); ++i) sums[i % 13] += given[i];
  y = slope(m) + slope(x) + slope(x + dsl::sum(m, axis(0)));
  const std::vector<double> all = dsl::eval(dsl::reshape(y, -1)).copy_to_host();
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_NEAR(all[i], 2 * given[i] / n + (4 * line[i % 13] + 2 * sums[i % 13]) / 13, 1e-13);
  // An argument whose elements are results of reductions.
  dsl::array<double> z = slope(dsl::sum(m, axis(0)));
  expect_each(z.copy_to_host(), [&](std::size_t i) { return 2 * sums[i] / 13; });
  const auto of_sum = grad<0>([](auto a) { return dsl::sum(a) * dsl::sum(a); });
  const double total = 2 * std::accumulate(given.begin(), given.end(), 0.0);
  z = of_sum(dsl::sum(m, axis(0)));
  for (const double v : z.copy_to_host()) ASSERT_NEAR(v, total, 1e-12);
  y = of_sum(2 * m);
  for (const double v : dsl::eval(dsl::reshape(y, -1)).copy_to_host())
    ASSERT_NEAR(v, 2 * total, 1e-12);
  y = slope(x + dsl::sum(m, axis(1), dsl::keep_dims));
  for (std::size_t i = 0; i < given.size(); ++i) {
    double sum = line[i % 13];
    for (std::size_t k = 0; k < 13; ++k) sum += given[i / 13 * 13 + k];
    sums.push_back(2 * sum / n);
  }
  sums.erase(sums.begin(), sums.begin() + columns);
  expect_each(dsl::eval(dsl::reshape(y, -1)).copy_to_host(),
              [&](std::size_t i) { return sums[i]; });
  // Arguments are stretched to the formula's shape first.
  const auto both = dsl::vectorize(grad<0>([](auto a, auto b) { return dsl::mean(a * b); }));
  y = both(m, x);
  expect_each(dsl::eval(dsl::reshape(y, -1)).copy_to_host(),
              [&](std::size_t i) { return line[i % 13] / n; });
}

TEST_P(counts, rows) {
  for (const auto& [rows, columns] : {std::pair{3, 1}, {5, 31}, {2, 1009}, {64, 64}, {1, 4099}}) {
    const std::vector<double> given = doubles(rows * columns);
    dsl::array<double, 2> m(rows, columns), y(rows, columns);
    m = dsl::reshape(dsl::to_device(given), rows, columns);
    y = dsl::apply_along_axis(slope, axis(1), m);
    expect_each(dsl::eval(dsl::reshape(y, -1)).copy_to_host(),
                [&](std::size_t i) { return 2 * given[i] / columns; });
    y = dsl::apply_along_axis(slope, axis(0), m);
    expect_each(dsl::eval(dsl::reshape(y, -1)).copy_to_host(),
                [&](std::size_t i) { return 2 * given[i] / rows; });
    // With a reduction of the row: two phases.
    y = dsl::apply_along_axis([](auto a) { return a - dsl::max(a) + grad<0>(mean_square)(a); },
                              axis(1), m);
    const std::vector<double> have = dsl::eval(dsl::reshape(y, -1)).copy_to_host();
    for (std::size_t i = 0; i < have.size(); ++i) {
      const auto first = given.begin() + static_cast<std::ptrdiff_t>(i) / columns * columns;
      ASSERT_NEAR(have[i],
                  given[i] - *std::max_element(first, first + columns) + 2 * given[i] / columns,
                  1e-13);
    }
  }
}

// The result of one index space that is computed from the number of elements of another one.
TEST_P(counts, results_of_other_index_spaces) {
  const auto x = dsl::to_device(doubles(31)), y = dsl::to_device(doubles(7, 2));
  dsl::scalar<double> s, t;
  // The weight of a value that all elements share: its derivative is their number.
  const auto of_shared = grad<1>([](auto a, auto k) { return dsl::sum(a) + dsl::sum(k * k); });
  const dsl::scalar<double> k(3.0);
  s = of_shared(x, k);
  EXPECT_EQ(s.value(), 31 * 6.0);
  dsl::tie(s, t) = std::tuple{of_shared(x, k), of_shared(y, k) * of_shared(x, k)};
  EXPECT_EQ(s.value(), 31 * 6.0);
  EXPECT_EQ(t.value(), 31 * 6.0 * 7 * 6.0);
  const auto given = x.copy_to_host();
  const double sum = std::accumulate(given.begin(), given.end(), 0.0);
  dsl::array<double> z;
  z = x + of_shared(y, dsl::sum(x));
  const std::vector<double> sums = z.copy_to_host();
  for (std::size_t i = 0; i < 31; ++i) EXPECT_NEAR(sums[i], given[i] + 7 * 2 * sum, 1e-11);
  z = x + of_shared(y, k);
  expect_each(z.copy_to_host(), [&](std::size_t i) { return given[i] + 42; });
}

// Gradient descent: of the elements alone, with a sum beside them, with a sum that the step uses.
constexpr auto descend = dsl::vectorize([](auto a, auto h) { return a - h * slope(a); });
constexpr auto descend_and_sum = dsl::vectorize([](auto a, auto, auto h) {
  const auto [value, by] = dsl::value_and_grad<0>(mean_square)(a);
  return std::tuple{a - h * by, value};
});
constexpr auto shrink = dsl::vectorize([](auto a) {
  const auto by = slope(a);
  return a / sqrt(1 + dsl::sum(by * by));
});
// Each step reads neighbours.
constexpr auto descend_and_spread = dsl::vectorize([](auto a, auto, auto h) {
  const auto up = dsl::shift(a, 1, dsl::boundary::wrap, 0),
             left = dsl::shift(a, -2, dsl::boundary::zero, 1);
  return std::tuple{(a + up + left) / 3 - h * slope(a), dsl::mean(a)};
});

TEST_P(counts, loops) {
  for (const std::int64_t n : {1, 31, 1024}) {
    const std::vector<double> given = doubles(n);
    const double size = static_cast<double>(n), by = 1 - 0.5 / size;
    double square = 0;
    for (const double x : given) square += x * x;
    dsl::array<double> u;
    with_strategies({strategy::elementwise}, [&](strategy how) {
      u = dsl::to_device(given);
      dsl::iterate(4, descend, dsl::state(u), 0.25, how);
      expect_each(u.copy_to_host(), [&](std::size_t i) { return given[i] * std::pow(by, 4); });
    });
    const auto reducing = {strategy::one_block, strategy::cooperative, strategy::streamed};
    with_strategies(reducing, [&](strategy how) {
      u = dsl::to_device(given);
      dsl::scalar<double> loss;
      const auto losses = dsl::iterate(3, descend_and_sum, dsl::state(u, loss), 0.25, how);
      expect_each(u.copy_to_host(), [&](std::size_t i) { return given[i] * std::pow(by, 3); });
      expect_each(losses.copy_to_host(), [&](std::size_t i) {
        return square / size * std::pow(by, 2.0 * static_cast<double>(i));
      });
    });
    with_strategies(reducing, [&](strategy how) {
      u = dsl::to_device(given);
      dsl::iterate(3, shrink, dsl::state(u), how);
      double factor = 1;
      for (int step = 0; step < 3; ++step)
        factor /= std::sqrt(1 + 4 * square * factor * factor / size / size);
      expect_each(u.copy_to_host(), [&](std::size_t i) { return given[i] * factor; });
    });
  }
}

TEST_P(counts, tiled_loop) {
  constexpr std::int64_t rows = 37, columns = 53;
  const std::vector<double> given = doubles(rows * columns);
  std::vector<double> want = given;
  for (int step = 0; step < 3; ++step) {
    const std::vector<double> a = want;
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        const double up = a[(i + rows - 1) % rows * columns + j],
                     left = j + 2 < columns ? a[i * columns + j + 2] : 0, own = a[i * columns + j];
        want[i * columns + j] =
            (own + up + left) / 3 - 100 * 2 * own / static_cast<double>(rows * columns);
      }
  }
  with_strategies({strategy::tiled}, [&](strategy how) {
    dsl::array<double, 2> u(rows, columns);
    u = dsl::reshape(dsl::to_device(given), rows, columns);
    dsl::scalar<double> mean;
    dsl::iterate(3, descend_and_spread, dsl::state(u, mean), 100.0, how);
    const std::vector<double> have = dsl::eval(dsl::reshape(u, -1)).copy_to_host();
    for (std::size_t i = 0; i < have.size(); ++i) ASSERT_NEAR(have[i], want[i], 1e-12);
  });
}

// Scans, selections and reductions by key of such elements.
TEST_P(counts, other_statements) {
  const std::int64_t n = 1009;
  const std::vector<double> given = doubles(n);
  const auto x = dsl::to_device(given);
  const dsl::array<double> sums = dsl::cumsum(slope(x));
  double sum = 0;
  const std::vector<double> have = sums.copy_to_host();
  for (std::size_t i = 0; i < have.size(); ++i) {
    sum += 2 * given[i] / static_cast<double>(n);
    ASSERT_NEAR(have[i], sum, 1e-13);
  }
  const dsl::array<double> chosen = dsl::compress(slope(x) > 0, slope(x));
  std::vector<double> positive;
  for (const double v : given)
    if (v > 0) positive.push_back(2 * v / static_cast<double>(n));
  ASSERT_EQ(chosen.size(), static_cast<std::int64_t>(positive.size()));
  expect_each(chosen.copy_to_host(), [&](std::size_t i) { return positive[i]; });
  const auto keys = dsl::arange<std::int32_t>(n) % 3;
  const dsl::array<double> groups = dsl::sum_by(keys, slope(x), 3);
  std::vector<double> by_group(3);
  for (std::size_t i = 0; i < given.size(); ++i) by_group[i % 3] += 2 * given[i] / n;
  const std::vector<double> of_groups = groups.copy_to_host();
  for (std::size_t i = 0; i < 3; ++i) ASSERT_NEAR(of_groups[i], by_group[i], 1e-13);
}

}  // namespace

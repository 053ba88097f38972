// Derivatives of maxima, minima and what is computed from them, along axes: they belong to the
// first element of each row that attains it, wherever the row is. More
// layouts, index spaces, strategies.
#include "positions_check.hpp"

namespace {

using namespace positions_check;

struct more_positions : on_device {};
ON_EVERY_DEVICE(more_positions);

TEST_P(more_positions, of_a_matrix) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {5, 33}, {33, 5}, {1000, 7}, {7, 1000}}) {
    const shape s{1, rows, columns};
    const std::vector<double> given = numbers(s, 2);
    dsl::array<double, 2> m(rows, columns);
    m = dsl::reshape(dsl::to_device(given), rows, columns);
    for (int k = 0; k < 2; ++k) {
      const dsl::array<double, 2> d =
          dsl::apply_along_axis(grad<0>([](auto r) { return dsl::max(r); }), axis(k), m);
      ASSERT_EQ(on_host(d), ones_at_greatest(s, 2u << k, given));
    }
  }
}

TEST_P(more_positions, of_several_axes) {
  for (const shape& s : {shape{3, 4, 5}, {2, 33, 31}, {17, 1, 129}}) {
    const std::vector<double> given = numbers(s, 4);
    const dsl::array<double, 3> m = in_device(s, given);
    for (const auto& [a, b] : {std::pair{0, 1}, {0, 2}, {1, 2}}) {
      const dsl::array<double, 3> d = dsl::apply_along_axis(at_greatest, axis(a, b), m);
      ASSERT_EQ(on_host(d), ones_at_greatest(s, 1u << a | 1u << b, given)) << a << b;
    }
    const dsl::array<double, 3> all = at_greatest(m);
    ASSERT_EQ(on_host(all), ones_at_greatest(s, 7, given));
  }
}

// Several index spaces in one statement, whose elements are the same.
TEST_P(more_positions, of_several_index_spaces) {
  for (const shape& s : {shape{3, 4, 5}, {2, 33, 31}, {5, 300, 2}}) {
    const std::vector<double> given = numbers(s, 5);
    const dsl::array<double, 3> m = in_device(s, given);
    std::vector<double> sum(given.size());
    const auto add = [&](double factor, std::uint32_t axes) {
      const std::vector<double> ones = ones_at_greatest(s, axes, given);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * ones[i];
    };
    for (int k = 0; k < 3; ++k) add(1 << k, 1u << k);
    dsl::array<double, 3> d = dsl::apply_along_axis(at_greatest, axis(0), m) +
                              2 * dsl::apply_along_axis(at_greatest, axis(1), m) +
                              4 * dsl::apply_along_axis(at_greatest, axis(2), m);
    ASSERT_EQ(on_host(d), sum);
    add(8, 7);
    d = dsl::apply_along_axis(at_greatest, axis(0), m) +
        2 * dsl::apply_along_axis(at_greatest, axis(1), m) +
        4 * dsl::apply_along_axis(at_greatest, axis(2), m) + 8 * dsl::vectorize(at_greatest)(m);
    ASSERT_EQ(on_host(d), sum);
    // Reductions of such elements, along the same and along other axes.
    const std::vector<double> along_1 = ones_at_greatest(s, 2, given);
    for (int k = 0; k < 3; ++k) {
      const dsl::array<double, 2> reduced =
          dsl::sum(m * dsl::apply_along_axis(at_greatest, axis(1), m), axis(k));
      std::vector<double> want;
      for_each_row(s, 1u << k, [&](const auto& row) {
        double total = 0;
        for (const std::size_t i : row) total += given[i] * along_1[i];
        want.push_back(total);
      });
      ASSERT_EQ(on_host(reduced), want) << k;
    }
    const dsl::scalar<double> product =
        dsl::vdot(dsl::apply_along_axis(at_greatest, axis(1), m), m);
    ASSERT_EQ(product.value(),
              std::inner_product(given.begin(), given.end(), along_1.begin(), 0.0));
    // Elements beside a reduction along another axis.
    dsl::array<double, 2> sums;
    dsl::tie(d, sums) =
        std::tuple{dsl::apply_along_axis(at_greatest, axis(1), m), dsl::sum(m, axis(0))};
    ASSERT_EQ(on_host(d), along_1);
    std::vector<double> want;
    for_each_row(s, 1, [&](const auto& row) {
      double total = 0;
      for (const std::size_t i : row) total += given[i];
      want.push_back(total);
    });
    ASSERT_EQ(on_host(sums), want);
  }
}

// Views with strides, transposed and reversed ones, and elements that are stretched.
TEST_P(more_positions, strided_and_broadcast) {
  const shape s{9, 35, 1};
  const std::vector<double> given = numbers(s, 6);
  dsl::array<double, 2> all(20, 37), turned(35, 9);
  all = 100;
  auto part = all(dsl::slice(1, 19, 2), dsl::slice(1, 36));
  part = dsl::reshape(dsl::to_device(given), 9, 35);
  for (int k = 0; k < 2; ++k) {
    const std::vector<double> want = ones_at_greatest(s, 1u << k, given);
    dsl::array<double, 2> d = dsl::apply_along_axis(at_greatest, axis(k), part);
    ASSERT_EQ(on_host(d), want);
    // The target is transposed, then the operand too.
    auto across = dsl::transpose(turned);
    across = 0;
    across = dsl::apply_along_axis(at_greatest, axis(k), part);
    ASSERT_EQ(on_host(across), want);
    across = part;
    turned = dsl::apply_along_axis(at_greatest, axis(1 - k), turned);
    ASSERT_EQ(on_host(across), want);
    d = dsl::apply_along_axis(at_greatest, axis(k), dsl::flip(part, 1 - k));
    ASSERT_EQ(on_host(dsl::flip(d, 1 - k)), want);
    // The operand is the target.
    d = part;
    d = dsl::apply_along_axis(at_greatest, axis(k), d);
    ASSERT_EQ(on_host(d), want);
  }
  // A vector's maximum beside a matrix: the vector's own positions count.
  const std::vector<double> row(given.begin(), given.begin() + 35);
  const auto x = dsl::to_device(row);
  const std::vector<double> of_row = ones_at_greatest({1, 1, 35}, 7, row);
  dsl::array<double, 2> d;
  d = part + dsl::vectorize(at_greatest)(x);
  const std::vector<double> sums = on_host(d);
  for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], given[i] + of_row[i % 35]);
  // Elements that are results of reductions along an axis.
  const dsl::array<double> of_maxima = dsl::vectorize(at_greatest)(dsl::max(part, axis(1)));
  std::vector<double> maxima;
  for_each_row(
      s, 2, [&](const auto& r) { maxima.push_back(given[r[first_of(given, r, std::greater{})]]); });
  ASSERT_EQ(of_maxima.copy_to_host(), ones_at_greatest({9, 1, 1}, 7, maxima));
}

// Other derivatives that use positions. Without ties all are differences' limits.
TEST_P(more_positions, beside_differences) {
  const shape s{5, 33, 7};
  std::vector<double> given;
  for (const float v : random_floats(count(s), -4, 4, 7)) given.push_back(v);
  const dsl::array<double, 3> m = in_device(s, given);
  const auto value_of = [&](const std::vector<double>& x, const auto& row, const auto& f) {
    std::vector<double> r;
    for (const std::size_t i : row) r.push_back(x[i]);
    return f(r);
  };
  const auto check = [&](const auto& formula, const auto& reference, const char* name) {
    for (int k = 0; k < 3; ++k) {
      const std::vector<double> have =
          on_host(dsl::eval(dsl::apply_along_axis(grad<0>(formula), axis(k), m)));
      for_each_row(s, 1u << k, [&](const auto& row) {
        for (const std::size_t i : row) {
          constexpr double h = 1e-6;
          std::vector<double> up = given, down = given;
          up[i] += h;
          down[i] -= h;
          const double want =
              (value_of(up, row, reference) - value_of(down, row, reference)) / (2 * h);
          ASSERT_NEAR(have[i], want, 1e-6) << name << ", axis " << k << ", element " << i;
        }
      });
    }
  };
  const auto greatest_of = [](const auto& r) { return *std::max_element(r.begin(), r.end()); };
  const auto least_of = [](const auto& r) { return *std::min_element(r.begin(), r.end()); };
  check([](auto r) { return dsl::min(r); }, least_of, "min");
  check([](auto r) { return dsl::max(r * r) * dsl::sum(r); },
        [](const auto& r) {
          double most = 0, sum = 0;
          for (const double v : r) most = std::max(most, v * v), sum += v;
          return most * sum;
        },
        "max of squares");
  check([](auto r) { return dsl::max(r) - dsl::min(r); },
        [&](const auto& r) { return greatest_of(r) - least_of(r); }, "max - min");
  check([](auto r) { return dsl::norm<dsl::inf>(r); },
        [](const auto& r) {
          double most = 0;
          for (const double v : r) most = std::max(most, std::abs(v));
          return most;
        },
        "norm<inf>");
  check([](auto r) { return dsl::ptp(r); },
        [&](const auto& r) { return greatest_of(r) - least_of(r); }, "ptp");
}

TEST_P(more_positions, of_nothing_and_nan) {
  const dsl::array<double, 2> none(0, 5);
  const dsl::array<double, 2> of_none = dsl::apply_along_axis(at_greatest, axis(1), none);
  EXPECT_EQ(of_none.size(), 0);
  // No element equals a greatest one that is not a number.
  const double nan = std::nan("");
  dsl::array<double, 2> m(2, 3);
  m = dsl::reshape(dsl::to_device(std::vector<double>{1, nan, 2, 3, 3, 1}), 2, 3);
  const dsl::array<double, 2> d = dsl::apply_along_axis(at_greatest, axis(1), m);
  EXPECT_EQ(on_host(d), (std::vector<double>{0, 0, 0, 1, 0, 0}));
}

// Loops that lower the greatest element, and the greatest product of neighbours.
constexpr auto lower = dsl::vectorize([](auto a, auto h) { return a - h * at_greatest(a); });
constexpr auto lower_product = dsl::vectorize([](auto a, auto h) {
  const auto up = dsl::shift(a, 1, dsl::boundary::wrap, 0);
  return (a + up) / 2 - h * grad<0>([](auto x) {
                          return dsl::max(x * dsl::shift(x, 1, dsl::boundary::wrap, 0));
                        })(a);
});

TEST_P(more_positions, loops) {
  using dsl::strategy;
  for (const std::int64_t n : {1, 31, 1024}) {
    const std::vector<float> floats = random_floats(n, 0, 1, 11);
    std::vector<double> want(floats.begin(), floats.end());
    const std::vector<double> given = want;
    for (int step = 0; step < 5; ++step) *std::max_element(want.begin(), want.end()) -= 0.25;
    dsl::array<double> u;
    with_strategies({strategy::one_block, strategy::cooperative, strategy::streamed},
                    [&](strategy how) {
                      u = dsl::to_device(given);
                      dsl::iterate(5, lower, dsl::state(u), 0.25, how);
                      ASSERT_EQ(u.copy_to_host(), want);
                    });
  }
  constexpr std::size_t rows = 37, columns = 53;
  const std::vector<float> floats = random_floats(rows * columns, 0, 1, 12);
  const std::vector<double> given(floats.begin(), floats.end());
  std::vector<double> want = given;
  for (int step = 0; step < 3; ++step) {
    const std::vector<double> a = want;
    const auto above = [&](std::size_t i) { return (i + (rows - 1) * columns) % (rows * columns); };
    std::size_t best = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      want[i] = (a[i] + a[above(i)]) / 2;
      if (a[i] * a[above(i)] > a[best] * a[above(best)]) best = i;
    }
    want[best] -= 0.25 * a[above(best)];
    want[above(best)] -= 0.25 * a[best];
  }
  with_strategies({strategy::tiled}, [&](strategy how) {
    dsl::array<double, 2> u(std::int64_t{rows}, std::int64_t{columns});
    u = dsl::reshape(dsl::to_device(given), u.extents()[0], u.extents()[1]);
    dsl::iterate(3, lower_product, dsl::state(u), 0.25, how);
    const std::vector<double> have = on_host(u);
    for (std::size_t i = 0; i < have.size(); ++i) ASSERT_NEAR(have[i], want[i], 1e-14) << i;
  });
}

// Scans, selections and reductions by key of such elements.
TEST_P(more_positions, other_statements) {
  const shape s{4, 1, 33};
  const std::vector<double> given = numbers(s, 13), ones = ones_at_greatest(s, 4, given);
  const dsl::array<double, 3> m = in_device(s, given);
  const auto of_rows = dsl::apply_along_axis(at_greatest, axis(2), m);
  const dsl::array<double, 3> sums = dsl::cumsum(of_rows, axis(2));
  std::vector<double> want = ones;
  for (std::size_t i = 0; i < want.size(); ++i)
    if (i % 33 > 0) want[i] += want[i - 1];
  EXPECT_EQ(on_host(sums), want);
  const auto x = dsl::to_device(given);
  const auto of_all = dsl::vectorize(at_greatest)(x);
  const dsl::array<double> chosen = dsl::compress(of_all > 0, x);
  EXPECT_EQ(chosen.copy_to_host(),
            std::vector<double>{*std::max_element(given.begin(), given.end())});
  const dsl::array<double> by_key =
      dsl::sum_by(dsl::arange<std::int32_t>(4 * 33) / 33, of_all * x, 4);
  std::vector<double> of_keys(4, 0.0);
  const auto first = std::max_element(given.begin(), given.end());
  of_keys[static_cast<std::size_t>(first - given.begin()) / 33] = *first;
  EXPECT_EQ(by_key.copy_to_host(), of_keys);
}

}  // namespace

// The orders of the other methods, whose stages have a mean each, steps of any size, and stages
// that read neighbours.
#include "coupled.hpp"

#include <algorithm>

namespace {

ON_EVERY_DEVICE(coupled);

TEST_P(coupled, heun_is_of_order_2) { expect_order(2, 64, dsl::ode::heun(mean_field)); }
TEST_P(coupled, dopri5_is_of_order_5) { expect_order(5, 32, dsl::ode::dopri5(mean_field)); }
TEST_P(coupled, fehlberg8_is_of_order_8) { expect_order(8, 8, dsl::ode::fehlberg8(mean_field)); }

TEST_P(coupled, integrates_to_a_tolerance) {
  for (const auto& [relative, within] : {std::pair{1e-6, 1e-5}, {1e-11, 1e-10}}) {
    fields of(101);
    const auto at = dsl::ode::integrate(mean_field, dsl::state(of.y, of.z), 0, 2,
                                        {.relative = relative, .absolute = relative});
    EXPECT_EQ(at.outcome(), dsl::ode::outcome::reached);
    EXPECT_EQ(at.t.value(), 2);
    EXPECT_LT(of.error(2), within);
    EXPECT_GT(of.error(2), 0);
  }
}

// The heat equation: the third stage reads neighbours of values that read 41 elements, so that
// values are stored.
constexpr auto heat = [](auto u, auto source) {
  const auto ring = dsl::boundary::wrap;
  return dsl::shift(u, 1, ring, 0) + dsl::shift(u, -1, ring, 0) + dsl::shift(u, 1, ring, 1) +
         dsl::shift(u, -1, ring, 1) - 4 * u + source;
};
TEST_P(coupled, stages_read_neighbours) {
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 5}, {13, 17}, {40, 33}}) {
    const auto n = static_cast<std::size_t>(rows * columns);
    std::vector<double> u(n), source(n);
    for (std::size_t i = 0; i < n; ++i) {
      u[i] = std::sin(static_cast<double>(i * i));
      source[i] = std::cos(static_cast<double>(i));
    }
    const auto shaped = [&, r = rows, c = columns](const std::vector<double>& x) {
      return dsl::eval(dsl::reshape(dsl::to_device(x), r, c));
    };
    const auto change = [&](const std::vector<double>& x) {
      std::vector<double> to(n);
      for (std::size_t i = 0; i < n; ++i) {
        const auto r = static_cast<int64_t>(i) / columns, c = static_cast<int64_t>(i) % columns;
        const auto at = [&](int64_t k, int64_t l) {
          return x[static_cast<std::size_t>((k + rows) % rows * columns + (l + columns) % columns)];
        };
        to[i] = at(r - 1, c) + at(r + 1, c) + at(r, c - 1) + at(r, c + 1) - 4 * x[i] + source[i];
      }
      return to;
    };
    const auto sum = [&](const std::vector<double>& x, double h, const std::vector<double>& k) {
      std::vector<double> to = x;
      for (std::size_t i = 0; i < n; ++i) to[i] += h * k[i];
      return to;
    };
    auto on_u = shaped(u);
    dsl::iterate(5, dsl::ode::rk4(heat), dsl::state(on_u), shaped(source), 0.25);
    for (int k = 0; k < 5; ++k) {
      const auto k1 = change(u), k2 = change(sum(u, 0.125, k1)), k3 = change(sum(u, 0.125, k2)),
                 k4 = change(sum(u, 0.25, k3));
      for (std::size_t i = 0; i < n; ++i)
        u[i] += 0.25 / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
    const auto got = on_u.copy_to_host();
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(got[i], u[i], 1e-13) << rows << ", " << i;
  }
}

}  // namespace

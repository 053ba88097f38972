// Derivatives that functors give, inside fast_math, in loops and in right-hand sides.
#include "../on_device.hpp"

#include <dsl/ode.hpp>

#include <cmath>
#include <tuple>

// Functors with derivatives of their own: of one argument, of two and with a member.
struct cube_by_loop {
  DSL_FN double operator()(double x) const {
    double y = 1;
    for (int k = 0; k < 3; ++k) y *= x;
    return y;
  }
  DSL_FN double derivative(double x) const { return 3 * x * x; }
};
struct scaled_power {
  double scale;
  DSL_FN float operator()(float x, float y) const { return static_cast<float>(scale) * x * y * y; }
  DSL_FN std::tuple<float, float> derivative(float x, float y) const {
    return {static_cast<float>(scale) * y * y, 2 * static_cast<float>(scale) * x * y};
  }
};

namespace {

using precise = long double;

struct derivatives_in_use : on_device {};
ON_EVERY_DEVICE(derivatives_in_use);

std::vector<double> random_numbers(std::int64_t n, double low, double high, unsigned seed) {
  const auto drawn = random_floats(n, static_cast<float>(low), static_cast<float>(high), seed);
  return {drawn.begin(), drawn.end()};
}

// Fast operations have the derivatives of those that they approximate.
TEST_P(derivatives_in_use, inside_fast_math) {
  const std::vector<float> host{0.5F, -2, 3, 1.25F};
  const auto slope =
      dsl::grad<0>([](auto x) { return dsl::fast_math(exp(x) / (2 + sin(x)) + sqrt(x * x)); });
  const auto got = dsl::eval(slope(dsl::to_device(host))).copy_to_host();
  for (std::size_t i = 0; i < host.size(); ++i) {
    const double x = host[i], below = 2 + std::sin(x);
    EXPECT_NEAR(got[i], std::exp(x) * (below - std::cos(x)) / (below * below) + (x > 0 ? 1 : -1),
                2e-5 * (1 + std::exp(x)))
        << i;
  }
}

TEST_P(derivatives_in_use, that_functors_give) {
  const std::vector<double> host{-1.5, 0, 2};
  const std::vector<float> left{1, -2, 0.5F}, right{3, 0.25F, -1};
  dsl::array<double> value, slope;
  dsl::tie(value, slope) = dsl::value_and_grad<0>(cube_by_loop{})(dsl::to_device(host));
  const auto cubes = value.copy_to_host(), slopes = slope.copy_to_host();
  for (const float scale : {1.0F, -2.0F}) {
    dsl::array<float> by_right, by_left;
    dsl::tie(by_right, by_left) = dsl::grad<1, 0>(dsl::vectorize(scaled_power{scale}))(
        dsl::to_device(left), dsl::to_device(right));
    const auto a = by_left.copy_to_host(), b = by_right.copy_to_host();
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(cubes[i], host[i] * host[i] * host[i]);
      EXPECT_EQ(slopes[i], 3 * host[i] * host[i]);
      EXPECT_EQ(a[i], scale * right[i] * right[i]);
      EXPECT_EQ(b[i], 2 * scale * left[i] * right[i]);
    }
  }
}

// Gradient descent of a function of all elements, one kernel; Newton's method for each element.
TEST_P(derivatives_in_use, in_loops) {
  const auto host = random_numbers(300, 1, 2, 21);
  const auto target = dsl::to_device(host);
  dsl::array<double> x = dsl::zeros<double>(300);
  const auto descend = dsl::vectorize([](auto x, auto, auto target, auto rate) {
    const auto loss = [](auto x, auto target) {
      return 0.5 * dsl::sum(square(x - target)) + 0.25 * square(dsl::mean(x));
    };
    const auto [value, slope] = dsl::value_and_grad<0>(loss)(x, target);
    return std::tuple{x - rate * slope, value};
  });
  dsl::scalar<double> loss;
  const dsl::array<double> losses = dsl::iterate(120, descend, dsl::state(x, loss), target, 0.5);
  precise mean = 0;
  for (const double each : host) mean += each / precise(300);
  // x - target + mean(x) / 600 = 0, so that mean(x) (1 + 1 / 600) = mean(target).
  const precise of_x = mean / (1 + precise(1) / 600);
  const auto got = x.copy_to_host();
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], static_cast<double>(host[i] - of_x / 600), 1e-12) << i;
  const auto history = losses.copy_to_host();
  ASSERT_EQ(history.size(), 120U);
  EXPECT_GT(history.front(), 300 * 0.5);
  EXPECT_NEAR(history.back(), static_cast<double>(150 * of_x * of_x / 360000 + of_x * of_x / 4),
              1e-12);

  dsl::array<double> root = dsl::ones<double>(300);
  const auto newton = dsl::vectorize([](auto r, auto of) {
    const auto [value, slope] =
        dsl::value_and_grad<0>([](auto r, auto of) { return r * r * r - of; })(r, of);
    return r - value / slope;
  });
  dsl::iterate(60, newton, dsl::state(root), target);
  const auto roots = root.copy_to_host();
  for (std::size_t i = 0; i < roots.size(); ++i)
    ASSERT_NEAR(roots[i], std::cbrt(host[i]), 1e-15) << i;
}

// The force is the derivative of an energy: of neighbours, in a loop, and of the mean of a stage's
// values, in a right-hand side.
TEST_P(derivatives_in_use, as_forces) {
  const auto leapfrog = dsl::vectorize([](auto x, auto p, auto h) {
    const auto energy = [](auto x) {
      auto stretched = dsl::shift(x, 1, dsl::boundary::wrap) - x;
      return dsl::sum(0.5 * stretched * stretched + 0.25 * square(square(x)));
    };
    auto next = p - h * dsl::grad<0>(energy)(x);
    return std::tuple{x + h * next, next};
  });
  const auto coupled = dsl::ode::heun([](auto x, auto p) {
    const auto energy = [](auto x) {
      auto mean = dsl::mean(x);
      return 5 * mean * mean + dsl::sum(0.25 * square(square(x)));
    };
    return std::tuple{p, -dsl::grad<0>(energy)(x)};
  });
  const std::size_t n = 33;
  auto q = random_numbers(33, -1, 1, 31), v = random_numbers(33, -1, 1, 32);
  auto x = dsl::to_device(q), p = dsl::to_device(v);
  const double h = 0.01;
  dsl::iterate(10, leapfrog, dsl::state(x, p), h);
  for (int step = 0; step < 10; ++step) {
    for (std::size_t i = 0; i < n; ++i)
      v[i] += h * (q[(i + n - 1) % n] - 2 * q[i] + q[(i + 1) % n] - q[i] * q[i] * q[i]);
    for (std::size_t i = 0; i < n; ++i) q[i] += h * v[i];
  }
  const auto expect_state = [&] {
    const auto got_x = x.copy_to_host(), got_p = p.copy_to_host();
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_NEAR(got_x[i], q[i], 1e-14) << i;
      ASSERT_NEAR(got_p[i], v[i], 1e-14) << i;
    }
  };
  expect_state();
  dsl::iterate(5, coupled, dsl::state(x, p), h);
  const auto forces = [](const std::vector<double>& q) {
    double mean = 0;
    for (const double each : q) mean += each / n;
    std::vector<double> f;
    for (const double each : q) f.push_back(-10 * mean / n - each * each * each);
    return f;
  };
  for (int step = 0; step < 5; ++step) {
    const auto f = forces(q);
    auto q1 = q, v1 = v;
    for (std::size_t i = 0; i < n; ++i) {
      q1[i] += h * v[i];
      v1[i] += h * f[i];
    }
    const auto f1 = forces(q1);
    for (std::size_t i = 0; i < n; ++i) {
      q[i] += h / 2 * (v[i] + v1[i]);
      v[i] += h / 2 * (f[i] + f1[i]);
    }
  }
  expect_state();
}

}  // namespace

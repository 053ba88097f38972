// Gradients of ensembles: every kind of method beside central differences of the same steps, in
// parts of the elements, of arguments that broadcast, of complex fields; and beside sensitivities.
#include "one_device.hpp"

#include <dsl/ode.hpp>

#include <cmath>
#include <complex>

namespace {

using namespace std::complex_literals;

struct more_ensemble_gradients : on_one_device {};
ON_EVERY_DEVICE(more_ensemble_gradients);

constexpr dsl::ode::tolerance fine{.relative = 1e-11, .absolute = 1e-13};
constexpr auto driven = dsl::ode::with_time([](auto t, auto x, auto v, auto k, auto c) {
  return std::tuple{v, c * cos(3 * t) - k * sin(x) - 0.1 * v * v};
});
const std::vector<double> times{0, 0.3, 0.3, 1.1, 2};

// The derivative of each element's part of the loss, by differences over steps of the same size.
template <class Method>
void compare_with_differences(const Method& method) {
  const std::int64_t n = 70;
  const dsl::array<double> x0 = dsl::linspace(-1.0, 2.0, n), v0 = dsl::linspace(0.5, -0.5, n),
                           k = dsl::linspace(0.5, 4.0, n), weight = dsl::linspace(1.0, -0.5, 5);
  const auto parts = [&](const auto& x, const auto& v) {
    return dsl::expand_dims(weight, 1) * x + 0.25 * square(v);
  };
  const auto moved = [&](double dx, double dv, double dk, double dc) {
    dsl::array<double> x = x0 + dx, v = v0 + dv, found;
    const auto got =
        dsl::ode::ensemble(driven, dsl::state(x, v), 0.0, 2.0, {}, k + dk, 0.7 + dc,
                           dsl::ode::fixed_steps(11), dsl::ode::save_at(times), method);
    found = dsl::sum(parts(got.template saved<0>(), got.template saved<1>()), dsl::axis(0));
    return found;
  };
  // Of order 4: the continuous extensions round to 1e-12.
  constexpr double h = 1e-3;
  const auto difference = [&](double dx, double dv, double dk, double dc) {
    const auto at = [&](double s) { return moved(s * dx, s * dv, s * dk, s * dc); };
    return dsl::array<double>((8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h));
  };
  for (const std::int64_t limit : {0, 40'000}) {
    dsl::array<double> x = x0, v = v0;
    const dsl::scalar<double> c(0.7);
    const auto got = dsl::ode::ensemble_gradient(
        driven, [&](auto x, auto v) { return dsl::sum(parts(x, v)); }, dsl::state(x, v), 0.0, 2.0,
        {}, k, c, dsl::ode::fixed_steps(11), dsl::ode::save_at(times), method,
        dsl::memory_limit(limit));
    EXPECT_LT(dsl::max(abs(got.template state<0>() - difference(1, 0, 0, 0))).value(), 1e-8);
    EXPECT_LT(dsl::max(abs(got.template state<1>() - difference(0, 1, 0, 0))).value(), 1e-8);
    EXPECT_LT(dsl::max(abs(got.template parameter<0>() - difference(0, 0, 1, 0))).value(), 1e-8);
    EXPECT_NEAR(got.template parameter<1>().value(), dsl::sum(difference(0, 0, 0, 1)).value(),
                1e-7);
    EXPECT_NEAR(got.loss.value(), dsl::sum(moved(0, 0, 0, 0)).value(), 1e-10);
  }
}
TEST_P(more_ensemble_gradients, of_explicit_pairs) {
  compare_with_differences(dsl::ode::method::tsit5);
  compare_with_differences(dsl::ode::method::vern7);
}
TEST_P(more_ensemble_gradients, of_methods_without_error_estimate) {
  compare_with_differences(dsl::ode::method::rk4);
}
TEST_P(more_ensemble_gradients, of_stiff_methods) {
  compare_with_differences(dsl::ode::method::rodas5p);
  compare_with_differences(dsl::ode::method::rosenbrock23);
}

// n steps of the classical method multiply y by R(h rate)^n, with R a polynomial.
TEST_P(more_ensemble_gradients, of_steps_of_one_size) {
  constexpr int steps = 7;
  const std::vector<float> rates{0.5f, 1, 1.5f, -2};
  const auto rate = dsl::to_device(rates);
  auto y = dsl::to_device(std::vector<float>{1, 2, 3, 4});
  const auto got = dsl::ode::ensemble_gradient(
      [](auto y, auto r, auto) { return r * y; }, [](auto y) { return dsl::mean(square(y)); },
      dsl::state(y), 0.0, 1.4, {}, rate, 1, dsl::ode::fixed_steps(steps), dsl::ode::method::rk4);
  const auto of_y = got.state<0>().copy_to_host(), of_rate = got.parameter<0>().copy_to_host(),
             last = y.copy_to_host();
  for (std::size_t i = 0; i < 4; ++i) {
    const double z = 0.2 * static_cast<double>(rates[i]),
                 R = 1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4))),
                 dR = 1 + z * (1 + z / 2 * (1 + z / 3)), y0 = static_cast<double>(i + 1),
                 grown = std::pow(R, steps), expected = 0.5 * grown * grown * y0;
    EXPECT_NEAR(static_cast<double>(last[i]), grown * y0, 1e-5 * grown * y0);
    EXPECT_NEAR(static_cast<double>(of_y[i]), expected, 1e-5 * expected);
    EXPECT_NEAR(static_cast<double>(of_rate[i]), expected * y0 * steps * 0.2 * dR / R,
                2e-5 * expected * y0 * steps * 0.2 * dR / R);
  }
}

// z = z0 exp((i w - g) t); the loss is the sum of |z0|^2 exp(-2 g t).
TEST_P(more_ensemble_gradients, of_arguments_that_broadcast) {
  const auto turns = [](auto z, auto w, auto g) { return (1i * w - g) * z; };
  const std::vector<double> gs{0.1, 0.2, 0.4, 0.8};
  std::vector<std::complex<double>> start;
  for (int k = 0; k < 12; ++k) start.push_back({0.5 + k, 2.0 - 0.25 * k});
  dsl::array<std::complex<double>, 2> z = dsl::reshape(dsl::to_device(start), 3, 4);
  dsl::array<double, 2> w(3, 1);
  w = 1.5;
  const auto g = dsl::to_device(gs);
  const double t = 1.25;
  const auto got = dsl::ode::ensemble_gradient(
      turns, [](auto z) { return dsl::sum(abs2(z)); }, dsl::state(z), 0.0, t,
      {.relative = 1e-11, .absolute = 1e-12}, w, g);
  const auto of_z = got.state<0>().copy_to_host();
  const auto of_w = got.parameter<0>().copy_to_host();
  const auto of_g = got.parameter<1>().copy_to_host();
  ASSERT_EQ(of_w.size(), 3u);
  ASSERT_EQ(of_g.size(), 4u);
  std::vector<double> expected(4);
  for (std::size_t k = 0; k < 12; ++k) {
    const double decayed = std::exp(-2 * gs[k % 4] * t);
    expected[k % 4] -= 2 * t * std::norm(start[k]) * decayed;
    EXPECT_LT(std::abs(of_z[k] - 2.0 * std::conj(start[k]) * decayed), 1e-7);
  }
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(of_g[k], expected[k], 1e-6);
  for (const double x : of_w) EXPECT_NEAR(x, 0, 1e-6);
}

TEST_P(more_ensemble_gradients, equals_the_sensitivities) {
  const auto swings = [](auto x, auto v, auto k, auto drag) {
    return std::tuple{v, -k * sin(x) - drag * v};
  };
  const std::int64_t n = 20;
  const dsl::array<double> k = dsl::linspace(0.5, 9.0, n);
  const auto start = [&] { return dsl::array<double>(dsl::linspace(0.1, 2.0, n)); };
  dsl::array<double> x = start(), v = dsl::zeros<double>(n), z = start(), u = dsl::zeros<double>(n),
                     x_k = dsl::zeros<double>(n), v_k = dsl::zeros<double>(n),
                     x_0 = dsl::ones<double>(n), v_0 = dsl::zeros<double>(n);
  const auto got = dsl::ode::ensemble_gradient(
      swings, [](auto x, auto v) { return dsl::sum(x * v); }, dsl::state(x, v), 0.0, 3.0, fine, k,
      0.25);
  dsl::ode::ensemble(dsl::ode::sensitivities<0, -1>(swings), dsl::state(z, u, x_k, v_k, x_0, v_0),
                     0.0, 3.0, fine, k, 0.25);
  EXPECT_LT(dsl::max(abs(x - z) + abs(v - u)).value(), 1e-9);
  EXPECT_LT(dsl::max(abs(got.parameter<0>() - (x_k * u + z * v_k))).value(), 1e-8);
  EXPECT_LT(dsl::max(abs(got.state<0>() - (x_0 * u + z * v_0))).value(), 1e-8);
  EXPECT_TRUE(dsl::all(got.outcome == dsl::ode::outcome::reached).value());
  // Fields stay if they have different shapes.
  dsl::array<double> few = start(), still = dsl::zeros<double>(n + 1);
  EXPECT_THROW(dsl::ode::ensemble_gradient(
                   swings, [](auto x, auto v) { return dsl::sum(x * v); }, dsl::state(few, still),
                   0.0, 3.0, fine, k, 0.25),
               dsl::shape_error);
  EXPECT_EQ(few.copy_to_host(), start().copy_to_host());
}

}  // namespace

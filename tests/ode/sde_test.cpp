// The Euler-Maruyama method converges with its strong order 1/2 and its weak order 1.
#include "../on_device.hpp"

#include <dsl/ode.hpp>
#include <dsl/random.hpp>

#include <cmath>
#include <complex>

namespace {

struct stochastic : on_device {};
ON_EVERY_DEVICE(stochastic);

const dsl::random::key seed{2026};

// The factor of one step of dx = a x dt + b x dW for each noise.
template <class Step>
std::vector<double> factors_of(const Step& step, double a, double b, double h,
                               const std::vector<double>& noise) {
  dsl::array<double> x = dsl::ones<double>(static_cast<std::int64_t>(noise.size()));
  x = step(x, a, b, h, dsl::to_device(noise));
  return x.copy_to_host();
}
constexpr auto drifts = [](auto y, auto a, auto) { return a * y; };
constexpr auto diffuses = [](auto y, auto, auto b) { return b * y; };

// The mean of x^2 after `steps` steps, with the noise of three values that has the first moments of
// a normal one.
template <class Step>
double second_moment(const Step& step, int steps) {
  const double root = std::sqrt(3.0);
  const auto factor = factors_of(step, 0.4, 0.5, 1.0 / steps, {-root, 0, root});
  const double mean =
      (factor[0] * factor[0] + 4 * factor[1] * factor[1] + factor[2] * factor[2]) / 6;
  return std::pow(mean, steps);
}
TEST_P(stochastic, platens_step_has_weak_order_two) {
  const double exact = std::exp(2 * 0.4 + 0.5 * 0.5);
  const auto order = [&](const auto& step) {
    return std::log2(std::abs(second_moment(step, 16) - exact) /
                     std::abs(second_moment(step, 32) - exact));
  };
  EXPECT_NEAR(order(dsl::ode::platen(drifts, diffuses)), 2, 0.1);
  EXPECT_NEAR(order(dsl::ode::milstein(drifts, diffuses)), 1, 0.1);
}
TEST_P(stochastic, milsteins_step_has_strong_order_one) {
  const std::int64_t paths = simulated() ? 1000 : 10'000;
  const auto error = [&](int steps) {
    const auto step = dsl::ode::milstein(
        [](auto y, auto, auto drift, auto) { return std::tuple{drift * y, 0.0}; },
        [](auto y, auto, auto, auto diffusion) { return std::tuple{diffusion * y, 1.0}; });
    dsl::array<double> x = dsl::ones<double>(paths), w = dsl::zeros<double>(paths);
    const auto noise = dsl::random::normal<double>(seed.fold(steps).fold(dsl::step), paths);
    dsl::iterate(steps, step, dsl::state(x, w), 0.1, 1.0, 1.0 / steps, noise, noise);
    return dsl::mean(abs(x - exp(0.1 - 0.5 + w))).value();
  };
  EXPECT_NEAR(std::log2(error(16) / error(256)) / 4, 1, 0.1);
}

struct errors { double strong, weak; };
// Errors for geometric Brownian motion, dx = a x dt + b x dW, from 1, at time 1. A second field
// sums the same noise, so it is W, with which the exact solution is exp((a - b b / 2) + b W).
errors errors_after(int steps, double a, double b, std::int64_t paths) {
  const auto step = dsl::ode::sde(
      [](auto y, auto, auto drift, auto) { return std::tuple{drift * y, 0.0}; },
      [](auto y, auto, auto, auto diffusion) { return std::tuple{diffusion * y, 1.0}; });
  dsl::array<double> x = dsl::ones<double>(paths), w = dsl::zeros<double>(paths);
  const auto noise = dsl::random::normal<double>(seed.fold(steps).fold(dsl::step), paths);
  dsl::iterate(steps, step, dsl::state(x, w), a, b, 1.0 / steps, noise, noise);
  const auto exact = exp((a - b * b / 2) + b * w);
  return {dsl::mean(abs(x - exact)).value(), std::abs(dsl::mean(x).value() - std::exp(a))};
}

TEST_P(stochastic, strong_order_one_half) {
  const std::int64_t paths = simulated() ? 2000 : 20'000;
  const errors coarse = errors_after(16, 0.1, 1, paths), fine = errors_after(256, 0.1, 1, paths);
  EXPECT_NEAR(std::log2(coarse.strong / fine.strong) / 4, 0.5, 0.1);
}
TEST_P(stochastic, weak_order_one) {
  const std::int64_t paths = simulated() ? 2000 : 20'000;
  const errors coarse = errors_after(16, 2, 0.05, paths), fine = errors_after(128, 2, 0.05, paths);
  EXPECT_NEAR(std::log2(coarse.weak / fine.weak) / 3, 1, 0.15);
}

// One step equals the formula, in the field's precision, with other fields and the time.
TEST_P(stochastic, a_step_by_hand) {
  const int n = 1000;
  dsl::array<float> x = dsl::random::uniform<float>(seed, n);
  const dsl::array<float> w = dsl::random::normal<float>(seed.fold(1), n);
  const auto before = x.copy_to_host(), noise = w.copy_to_host();
  const auto step =
      dsl::ode::sde(dsl::ode::with_time([](auto t, auto y, auto rate) { return rate * (t - y); }),
                    [](auto y, auto) { return 0.5 * y; });
  x = step(x, 3.0f, 2.0, 0.25, w);  // rate, t, h
  static_assert(
      std::is_same_v<decltype(dsl::eval(step(x, 3.0f, 2.0, 0.25, w))), dsl::array<float>>);
  const auto after = x.copy_to_host();
  for (std::size_t i = 0; i < n; ++i)
    ASSERT_NEAR(after[i],
                before[i] + 0.25f * 3 * (2 - before[i]) + 0.5f * (0.5f * before[i]) * noise[i],
                1e-6)
        << i;
}

TEST_P(stochastic, complex_fields_have_complex_noise) {
  const std::int64_t n = simulated() ? 2000 : 50'000;
  dsl::array<std::complex<float>> z(n);
  z = dsl::cast<std::complex<float>>(0 * dsl::arange<float>(n));
  const auto step = dsl::ode::sde([](auto y) { return 0 * y; }, [](auto y) { return 0 * y + 2; });
  dsl::iterate(16, step, dsl::state(z), 1.0f / 16,
               dsl::random::normal<std::complex<float>>(seed.fold(dsl::step), n));
  EXPECT_NEAR(dsl::mean(abs2(z)).value(), 4, 4 * 5 / std::sqrt(static_cast<double>(n)));
}

}  // namespace

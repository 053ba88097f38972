// Ensembles with noise: the same numbers as steps one by one, exact laws of Brownian motion, and
// what is refused.
#include "../error_of.hpp"
#include "one_device.hpp"

#include <dsl/hana.hpp>
#include <dsl/ode.hpp>
#include <dsl/random.hpp>

#include <boost/hana/define_struct.hpp>

#include <cmath>
#include <complex>
#include <limits>

namespace {

namespace method = dsl::ode::method;

struct noisy_ensemble : on_one_device {};
ON_EVERY_DEVICE(noisy_ensemble);

const dsl::random::key seed{2026};
constexpr auto drifts = [](auto y, auto rate, auto) { return rate * y; };
constexpr auto diffuses = [](auto y, auto, auto width) { return width * y; };

// The numbers of each element in the steps, for field number I of `fields`.
template <class T>
dsl::array<T, 2> numbers(std::int64_t n, int steps, int fields, int I) {
  dsl::array<T, 2> all(steps, n);
  for (std::int64_t i = 0; i < n; ++i)
    all(dsl::slice(), i) = dsl::random::normal<T>(seed.fold(i), steps, fields)(dsl::slice(), I);
  return all;
}

// One field: what the stepper gives step by step, whatever the number of elements. On a GPU
// products and sums may be contracted otherwise.
template <class T, class Method, class Stepper>
void expect_as_stepped(const Method& of_ensemble, const Stepper& step) {
  for (const std::int64_t n : {0, 1, 33, 129}) {
    const dsl::array<T> width = dsl::cast<T>(dsl::linspace(0.1, 1.0, n));
    dsl::array<T> y = dsl::ones<T>(n), expected = dsl::ones<T>(n);
    dsl::ode::ensemble(drifts, dsl::state(y), 0.0, 2.0, {}, 0.25, width, of_ensemble,
                       dsl::ode::fixed_steps(16));
    const dsl::array<T, 2> noise = numbers<T>(n, 16, 1, 0);
    for (int s = 0; s < 16; ++s) expected = step(expected, 0.25, width, 0.125, noise(s));
    const auto got = y.copy_to_host(), wanted = expected.copy_to_host();
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_LE(std::abs(got[i] - wanted[i]),
                std::abs(wanted[i]) * 64 * std::numeric_limits<decltype(std::abs(T{}))>::epsilon())
          << i << " of " << n;
  }
}
TEST_P(noisy_ensemble, has_the_numbers_of_its_keys) {
  expect_as_stepped<double>(method::sde(diffuses, seed), dsl::ode::sde(drifts, diffuses));
  expect_as_stepped<float>(method::milstein(diffuses, seed), dsl::ode::milstein(drifts, diffuses));
  expect_as_stepped<std::complex<double>>(method::sde(diffuses, seed),
                                          dsl::ode::sde(drifts, diffuses));
  expect_as_stepped<double>(method::platen(diffuses, seed), dsl::ode::platen(drifts, diffuses));
}

// Two fields of different precision, and the time.
TEST_P(noisy_ensemble, numbers_the_fields) {
  const int n = 70, steps = 8;
  constexpr auto f = dsl::ode::with_time([](auto t, auto x, auto y) {
    return std::tuple{y - t * x, 0.5 * (dsl::cast<float>(x) - y)};
  });
  constexpr auto g =
      dsl::ode::with_time([](auto t, auto x, auto) { return std::tuple{0.1 * x, 0.2 + t}; });
  dsl::array<double> x = dsl::linspace(0.0, 1.0, n), x2 = x;
  dsl::array<float> y = dsl::ones<float>(n), y2 = y;
  const auto got = dsl::ode::ensemble(f, dsl::state(x, y), 1.0, 3.0, {}, method::milstein(g, seed),
                                      dsl::ode::fixed_steps(steps), dsl::ode::save_every(2, 4));
  const auto step = dsl::ode::milstein(f, g);
  const dsl::array<double, 2> wide = numbers<double>(n, steps, 2, 0);
  const dsl::array<float, 2> narrow = numbers<float>(n, steps, 2, 1);
  for (int s = 0; s < steps; ++s) {
    dsl::tie(x2, y2) = step(x2, y2, 1.0 + 0.25 * s, 0.25, wide(s), narrow(s));
    if (s == 3) {
      const dsl::array<double> second = got.saved<0>()(1);
      EXPECT_LT(dsl::max(abs(second - x2)).value(), 1e-14);
    }
  }
  EXPECT_LT(dsl::max(abs(x - x2)).value(), 1e-14);
  EXPECT_LT(dsl::max(abs(y - y2)).value(), 1e-5f);
  EXPECT_EQ(dsl::sum(dsl::cast<int>(got.steps)).value(), n * steps);
}

// Brownian motion from 0 first passes a > 0 before t = 1 with probability 2 (1 - Phi(a)); seen at
// steps of h alone, the barrier lies 0.5826 sqrt(h) further (M. Broadie, P. Glasserman, S. Kou, A
// continuity correction for discrete barrier options, Math. Finance 7, 1997).
TEST_P(noisy_ensemble, passes_a_barrier_as_often_as_brownian_motion) {
  const std::int64_t n = simulated() ? 2000 : 100'000;
  const int steps = 100;
  dsl::array<double> w = dsl::zeros<double>(n);
  const auto passes = dsl::ode::event([](auto x) { return x - 1; }, dsl::ode::ends);
  const auto got = dsl::ode::ensemble([](auto x) { return 0 * x; }, dsl::state(w), 0.0, 1.0, {},
                                      method::sde([](auto x) { return 0 * x + 1; }, seed),
                                      dsl::ode::fixed_steps(steps), passes);
  const double part = dsl::mean(dsl::cast<double>(got.outcome == dsl::ode::outcome::event)).value();
  const double expected = std::erfc((1 + 0.5826 / std::sqrt(steps)) / std::sqrt(2.0));
  EXPECT_NEAR(part, expected, 4 * std::sqrt(expected / static_cast<double>(n)) + 0.002);
  EXPECT_LT(dsl::max(w).value(), 1 + 1e-12);
  // Those that ended did so at the barrier, before the end.
  const double farthest =
      dsl::max(dsl::where(got.outcome == dsl::ode::outcome::event, abs(w - 1), 0.0)).value();
  EXPECT_LT(farthest, 1e-12);
}

// Crossings that an action leaves where they are: each is counted once, and then the next end of a
// step says on which side the path is.
TEST_P(noisy_ensemble, counts_a_crossing_once) {
  const std::int64_t n = 500;
  dsl::array<double> w = dsl::zeros<double>(n), crossed = dsl::zeros<double>(n);
  const auto counts = dsl::ode::event([](auto x, auto) { return x - 0.25; },
                                      [](auto x, auto count) { return std::tuple{x, count + 1}; });
  const auto got = dsl::ode::ensemble(
      [](auto x, auto) { return std::tuple{0 * x, 0 * x}; }, dsl::state(w, crossed), 0.0, 1.0, {},
      method::sde([](auto x, auto) { return std::tuple{0 * x + 1, 0 * x}; }, seed),
      dsl::ode::fixed_steps(64), counts);
  // A crossing cuts a step, so that it takes up to one more.
  const auto more = dsl::cast<double>(got.steps) - 64;
  EXPECT_TRUE(dsl::all(more >= 0 && more <= crossed).value());
  EXPECT_GT(dsl::mean(crossed).value(), 1);
  EXPECT_LT(dsl::max(crossed).value(), 64);
}

template <class X, class V>
struct particle {
  BOOST_HANA_DEFINE_STRUCT(particle, (X, position), (V, velocity));
};
// Langevin's equation of a struct: the velocity's variance becomes width^2 / (2 friction).
TEST_P(noisy_ensemble, takes_structs) {
  const std::int64_t n = simulated() ? 1000 : 50'000;
  particle<dsl::array<double>, dsl::array<double>> p{dsl::zeros<double>(n), dsl::zeros<double>(n)};
  const auto moves = [](auto q, auto friction, auto) {
    auto slope = q;
    slope.position = q.velocity;
    slope.velocity = -friction * q.velocity;
    return slope;
  };
  const auto kicks = [](auto q, auto, auto width) {
    auto noise = q;
    noise.position = 0 * q.position;
    noise.velocity = 0 * q.velocity + width;
    return noise;
  };
  dsl::ode::ensemble(moves, dsl::state(p), 0.0, 10.0, {}, 1.0, 2.0, method::platen(kicks, seed),
                     dsl::ode::fixed_steps(500));
  EXPECT_NEAR(dsl::mean(square(p.velocity)).value(), 2, 8 / std::sqrt(static_cast<double>(n)));
  EXPECT_NEAR(dsl::mean(p.position).value(), 0, 30 / std::sqrt(static_cast<double>(n)));
}

TEST_P(noisy_ensemble, goes_forward_alone) {
  dsl::array<double> y = dsl::ones<double>(3);
  const auto from = dsl::to_device(std::vector<double>{0, 2, 0});
  EXPECT_EQ(error_of([&] {
              dsl::ode::ensemble(drifts, dsl::state(y), 1.0, 0.0, {}, 0.5, 1.0,
                                 method::sde(diffuses, seed), dsl::ode::fixed_steps(4));
            }),
            "ensemble: t1 - t0 is -1, and is to be positive or 0: noise has no way back");
  EXPECT_EQ(error_of([&] {
              dsl::ode::ensemble(drifts, dsl::state(y), from, 1.0, {}, 0.5, 1.0,
                                 method::sde(diffuses, seed), dsl::ode::fixed_steps(4));
            }),
            "ensemble: the least t1 - t0 is -1, and is to be positive or 0: noise has no way back");
  EXPECT_EQ(y.copy_to_host(), (std::vector<double>{1, 1, 1}));
}

}  // namespace

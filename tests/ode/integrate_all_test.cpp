// Integration of more kinds of fields: complex and real ones together, without axes, in float.
#include "integrations.hpp"

#include <cmath>
#include <complex>
#include <numbers>

namespace {

using c64 = std::complex<double>;
using dsl::ode::outcome;

// F turns by a phase that N drives, and N decays; shift and the rate are the same for all elements.
constexpr auto phases = [](auto F, auto N, auto rate, auto shift) {
  return std::tuple{c64(0, 1) * (N + shift) * F, -rate * N};
};
TEST_P(integrate, errors_follow_the_tolerance) {
  const std::int64_t n = 40;
  const auto shift = dsl::eval(dsl::linspace(0.0, 2.0, n));
  double before = 1;
  for (const double tolerance : {1e-3, 1e-5, 1e-7, 1e-9, 1e-11}) {
    auto F = dsl::full<c64>(c64(0.5, 0.5), n);
    auto N = dsl::full<double>(3.0, n);
    const auto at = dsl::ode::integrate(phases, dsl::state(F, N), 1, 4,
                                        {.relative = tolerance, .absolute = tolerance},
                                        dsl::scalar<double>(0.75), shift);
    ASSERT_EQ(at.outcome(), outcome::reached);
    const auto f = F.copy_to_host();
    double worst = 0;
    for (std::size_t i = 0; i < f.size(); ++i) {
      const double angle = 4 * (1 - std::exp(-2.25)) + 3 * 2.0 * double(i) / double(n - 1);
      worst = std::max(worst, std::abs(f[i] - c64(0.5, 0.5) * std::polar(1.0, angle)));
    }
    EXPECT_LT(worst, 30 * tolerance);
    EXPECT_LT(worst, before / 30);
    before = worst;
  }
}

// A ring that cools, with one wave around it: each element needs its neighbours' stages.
constexpr auto conduct = [](auto u, auto rate) {
  return rate *
         (dsl::shift(u, 1, dsl::boundary::wrap) - 2 * u + dsl::shift(u, -1, dsl::boundary::wrap));
};
TEST_P(integrate, neighbours) {
  constexpr int n = 64;
  const double wave = 2 * std::numbers::pi / n, rate = 1.5, end = 40;
  dsl::array<double> u = sin(wave * dsl::arange<double>(n));
  const auto first = u.copy_to_host();
  const auto at = dsl::ode::integrate(conduct, dsl::state(u), 0, end,
                                      {.relative = 1e-9, .absolute = 1e-12}, rate);
  EXPECT_EQ(at.outcome(), outcome::reached);
  const auto last = u.copy_to_host();
  const double factor = std::exp(-4 * rate * end * std::pow(std::sin(wave / 2), 2));
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(last[i], factor * first[i], 1e-9) << i;
}

// y' is 0 before t = 1 and `after` from then on. One equation: its field has no axes.
constexpr auto jump =
    dsl::ode::with_time([](auto t, auto y, auto after) { return where(t < 1, 0 * y, after); });
TEST_P(integrate, a_jump_of_a_field_without_axes) {
  dsl::scalar<double> y = 3.0;
  const auto at =
      dsl::ode::integrate(jump, dsl::state(y), 0, 2, {.relative = 1e-8, .absolute = 1e-8}, 1.0);
  EXPECT_EQ(at.outcome(), outcome::reached);
  EXPECT_GT(at.rejected.value(), 5);
  EXPECT_LT(at.rejected.value(), at.steps.value());
  EXPECT_NEAR(y.value(), 4,
              1e-6);  // at the jump the error estimate does not hold
}

TEST_P(integrate, stops_where_the_right_hand_side_of_such_a_field_is_nan) {
  dsl::scalar<double> y = 3.0;
  const auto at = dsl::ode::integrate(jump, dsl::state(y), 0, 2, {}, std::nan(""));
  EXPECT_EQ(at.outcome(), outcome::step_too_small);
  EXPECT_EQ(at.h.value(), 0);
  EXPECT_NEAR(at.t.value(), 1, 1e-12);
  EXPECT_LT(at.t.value(), 1);
  EXPECT_EQ(y.value(), 3);

  const auto none = dsl::ode::integrate(jump, dsl::state(y), 1.5, 2, {}, std::nan(""));
  EXPECT_EQ(none.outcome(), outcome::step_too_small);
  EXPECT_EQ(none.t.value(), 1.5);
  EXPECT_GT(none.steps.value(), 0);
  EXPECT_EQ(none.steps.value(), none.rejected.value());
  EXPECT_EQ(y.value(), 3);
}

constexpr auto decay = [](auto y) { return -y; };
TEST_P(integrate, float_fields_stay_float_and_views_are_fields) {
  dsl::array<float, 2> m = dsl::full<float>(1.0f, 3, 6);
  auto part = m(dsl::slice(), dsl::slice(1, dsl::end, 2));
  const auto at =
      dsl::ode::integrate(decay, dsl::state(part), 0, 2, {.relative = 1e-5, .absolute = 1e-5});
  EXPECT_EQ(at.outcome(), outcome::reached);
  const auto got = m.copy_to_host();
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], i % 2 == 1 ? std::exp(-2.0f) : 1.0f, 1e-5f) << i;
}

}  // namespace

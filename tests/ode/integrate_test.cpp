// Integration with adaptive steps: against SciPy's steps and closed solutions, and for problems
// without a solution.
#include "integrations.hpp"

#include <cmath>
#include <limits>

namespace {

using dsl::ode::outcome;

ON_EVERY_DEVICE(integrate);

constexpr double always = std::numeric_limits<double>::infinity();
constexpr auto oscillator = dsl::ode::with_time(
    [](auto t, auto u, auto v) { return std::tuple{v, 5 * (1 - u * u) * v - u + cos(t)}; });
constexpr struct scipy_run {
  double t0, t1, relative, absolute, first_step, largest_step;
  std::int64_t steps, rejected;
  double arrived[6];
} scipy_runs[] = {
#include "../data/ode.inc"
};

TEST_P(integrate, takes_the_steps_that_scipy_takes) {
  for (const scipy_run& want : scipy_runs) {
    auto u = dsl::to_device(std::vector<double>{2, 0.5, -1}),
         v = dsl::to_device(std::vector<double>{0, 1, 0.25});
    const auto got =
        dsl::ode::integrate(oscillator, dsl::state(u, v), want.t0, want.t1,
                            {.relative = want.relative,
                             .absolute = want.absolute,
                             .first_step = want.first_step,
                             .largest_step = want.largest_step > 0 ? want.largest_step : always});
    EXPECT_EQ(got.outcome(), outcome::reached);
    EXPECT_EQ(got.t.value(), want.t1);
    EXPECT_EQ(got.h.value(), 0);
    EXPECT_EQ(got.steps.value(), want.steps)
        << want.t0 << ' ' << want.t1 << ' ' << want.largest_step;
    EXPECT_EQ(got.rejected.value(), want.rejected)
        << want.t0 << ' ' << want.t1 << ' ' << want.largest_step;
    const auto us = u.copy_to_host(), vs = v.copy_to_host();
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(us[i], want.arrived[i], 1e-9 * std::abs(want.arrived[i]));
      EXPECT_NEAR(vs[i], want.arrived[3 + i], 1e-9 * std::abs(want.arrived[3 + i]));
    }
  }
}

// y' = rate y before `until`, and `after` from then on.
constexpr auto changing =
    dsl::ode::with_time([](auto t, auto y, auto rate, auto until, auto after) {
      return where(t < until, rate * y, after);
    });
auto integrate_decay(dsl::array<double>& y, double t0, double t1,
                     const dsl::ode::tolerance& wanted = {}) {
  return dsl::ode::integrate(changing, dsl::state(y), t0, t1, wanted, -1.0, always, 0.0);
}
auto integrate_jump(dsl::array<double>& y, double t0, double t1, const dsl::ode::tolerance& wanted,
                    double after) {
  return dsl::ode::integrate(changing, dsl::state(y), t0, t1, wanted, 0.0, 1.0, after);
}

TEST_P(integrate, a_jump_costs_rejections_and_nothing_else) {
  auto y = dsl::to_device(std::vector<double>{3.0});
  const auto at = integrate_jump(y, 0, 2, {.relative = 1e-8, .absolute = 1e-8}, 1.0);
  EXPECT_EQ(at.outcome(), outcome::reached);
  EXPECT_GT(at.rejected.value(), 5);
  EXPECT_LT(at.rejected.value(), at.steps.value());
  EXPECT_NEAR(y(0).value(), 4,
              1e-6);  // at the jump the error estimate does not hold
}

TEST_P(integrate, stops_where_the_right_hand_side_is_nan) {
  auto y = dsl::to_device(std::vector<double>{3.0});
  const auto at = integrate_jump(y, 0, 2, {}, std::nan(""));
  EXPECT_EQ(at.outcome(), outcome::step_too_small);
  EXPECT_EQ(at.h.value(), 0);
  EXPECT_NEAR(at.t.value(), 1, 1e-12);
  EXPECT_LT(at.t.value(), 1);
  EXPECT_EQ(y(0).value(), 3);

  const auto none = integrate_jump(y, 1.5, 2, {}, std::nan(""));
  EXPECT_EQ(none.outcome(), outcome::step_too_small);
  EXPECT_EQ(none.t.value(), 1.5);
  EXPECT_GT(none.steps.value(), 0);
  EXPECT_EQ(none.steps.value(), none.rejected.value());
  EXPECT_EQ(y(0).value(), 3);
}

TEST_P(integrate, ends_at_t1_exactly_in_either_direction) {
  for (const auto& [t0, t1] : {std::pair{0.1, 0.7},
                               {1. / 3, -2e-3},
                               {-1e9, -1e9 + 0.1},
                               {0.0, 1e-12},
                               {1.0, 1 + 0x1p-52}}) {
    auto y = dsl::to_device(std::vector<double>{1, 2});
    const auto there = integrate_decay(y, t0, t1, {.relative = 1e-9, .absolute = 1e-12});
    EXPECT_EQ(there.outcome(), outcome::reached);
    EXPECT_EQ(there.t.value(), t1);
    const double tolerance = 1e-8 + 0x1p-50 * std::abs(t0);  // t is rounded in each step
    EXPECT_NEAR(y.copy_to_host()[1], 2 * std::exp(t0 - t1), tolerance);
    const auto back = integrate_decay(y, t1, t0, {.relative = 1e-9, .absolute = 1e-12});
    EXPECT_EQ(back.t.value(), t0);
    EXPECT_NEAR(y.copy_to_host()[1], 2, tolerance);
  }
}

TEST_P(integrate, nothing_to_do) {
  auto y = dsl::to_device(std::vector<double>{1, 2});
  const auto at = integrate_decay(y, 4, 4, {});
  EXPECT_EQ(at.outcome(), outcome::reached);
  EXPECT_EQ(at.steps.value(), 0);
  EXPECT_EQ(y.copy_to_host(), (std::vector<double>{1, 2}));

  auto empty = dsl::zeros<double>(0);
  const auto none = integrate_decay(empty, 0, 5, {});
  EXPECT_EQ(none.outcome(), outcome::reached);
  EXPECT_EQ(none.t.value(), 5);

  dsl::array<double> without_memory;
  EXPECT_THROW(integrate_decay(without_memory, 0, 5, {}), dsl::memory_error);
}

TEST_P(integrate, refuses_what_cannot_be) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                   inf = std::numeric_limits<double>::infinity();
  const struct {
    double t0, t1;
    dsl::ode::tolerance wanted;
  } impossible[] = {{0, nan, {}},
                    {nan, 1, {}},
                    {0, inf, {}},
                    {-inf, 0, {}},
                    {-1.7e308, 1.7e308, {}},
                    {0, 1, {.relative = -1}},
                    {0, 1, {.relative = nan}},
                    {0, 1, {.relative = inf}},
                    {0, 1, {.absolute = -1}},
                    {0, 1, {.absolute = nan}},
                    {0, 1, {.absolute = inf}},
                    {0, 1, {.relative = 0, .absolute = 0}},
                    {0, 1, {.first_step = -1}},
                    {0, 1, {.first_step = nan}},
                    {0, 1, {.largest_step = -1}},
                    {0, 1, {.largest_step = 0}},
                    {0, 1, {.largest_step = nan}},
                    {0, 1, {.most_steps = -1}}};
  auto y = dsl::to_device(std::vector<double>{1, 2});
  for (const auto& [t0, t1, wanted] : impossible)
    EXPECT_THROW(integrate_decay(y, t0, t1, wanted), dsl::value_error)
        << t0 << ' ' << t1 << ' ' << wanted.relative;
  EXPECT_THROW(dsl::ode::integrate(oscillator, dsl::state(y, y), 0, 1), dsl::shape_error);
  EXPECT_EQ(y.copy_to_host(), (std::vector<double>{1, 2}));
}

// The fields keep their values at t.
TEST_P(integrate, takes_no_step_that_leaves_the_time_as_it_is) {
  const struct {
    double t0, t1;
    dsl::ode::tolerance wanted;
    outcome end;
  } runs[] = {{0, 1, {.most_steps = 0}, outcome::too_many_steps},
              {1, 1, {.most_steps = 0}, outcome::reached},
              {1e16, 1e16 + 2, {}, outcome::step_too_small},
              {1e16, 1e16 + 2, {.first_step = 1}, outcome::step_too_small},
              {1, 2, {.largest_step = 1e-20}, outcome::step_too_small}};
  for (const auto& [t0, t1, wanted, end] : runs) {
    auto y = dsl::to_device(std::vector<double>{1, 2});
    const auto at = integrate_decay(y, t0, t1, wanted);
    EXPECT_EQ(at.outcome(), end) << t0;
    EXPECT_EQ(at.t.value(), t0);
    EXPECT_EQ(at.steps.value(), at.rejected.value());
    EXPECT_EQ(y.copy_to_host(), (std::vector<double>{1, 2}));
  }
  auto y = dsl::to_device(std::vector<double>{1, 2});
  const auto at = integrate_decay(
      y, 1, 2, {.relative = 1e-6, .first_step = 1e-20});  // SciPy's is also 2e-15 then
  EXPECT_EQ(at.outcome(), outcome::reached);
  EXPECT_NEAR(y.copy_to_host()[0], std::exp(-1), 1e-5);
}

TEST_P(integrate, goes_on_where_its_fields_are) {
  auto y = dsl::to_device(std::vector<double>{1, 2});
  const dsl::device here = dsl::device::current();
  const dsl::device_guard elsewhere(
      dsl::device(here.kind == dsl::backend::host ? dsl::backend::sim : dsl::backend::host));
  const auto at = integrate_decay(y, 0, 1);
  EXPECT_EQ(at.outcome(), outcome::reached);
  EXPECT_EQ(at.t.where(), here);
  EXPECT_NEAR(y.copy_to_host()[0], std::exp(-1), 1e-3);
}

TEST_P(integrate, obeys_what_is_said_of_steps) {
  auto y = dsl::to_device(std::vector<double>{1, 2});
  const auto slow = integrate_decay(y, 0, 1, {.first_step = 0x1p-10, .largest_step = 0x1p-4});
  EXPECT_EQ(slow.outcome(), outcome::reached);
  EXPECT_EQ(slow.steps.value(),
            2 + 16);  // 2^-10, and ten times that; then 15 of 2^-4 leave less than another
  EXPECT_EQ(slow.rejected.value(), 0);

  const auto long_first =
      integrate_decay(y, 1, 0, {.relative = 1e-9, .absolute = 1e-9, .first_step = 100});
  EXPECT_EQ(long_first.t.value(), 0);
  EXPECT_NEAR(y.copy_to_host()[1], 2, 1e-6);

  y = 1;
  const auto cut = integrate_decay(y, 0, 1, {.largest_step = 0.125, .most_steps = 3});
  EXPECT_EQ(cut.outcome(), outcome::too_many_steps);
  EXPECT_EQ(cut.steps.value(), 3);
  const double reached = cut.t.value();
  EXPECT_NEAR(y.copy_to_host()[0], std::exp(-reached), 1e-6);
  EXPECT_LT(reached, 0.5);
  integrate_decay(y, reached, 1, {.relative = 1e-9, .absolute = 1e-9});  // continues
  EXPECT_NEAR(y.copy_to_host()[0], std::exp(-1), 1e-6);
}

}  // namespace

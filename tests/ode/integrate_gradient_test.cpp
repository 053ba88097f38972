// dsl::ode::integrate_gradient: every derivative beside central differences of the same steps in
// long doubles, on every device.
#include "../error_of.hpp"
#include "held_steps.hpp"

#include <limits>

namespace {

using namespace held_steps;

constexpr double always = std::numeric_limits<double>::infinity();

// Driven pendulums, whose acceleration is `after` from the time `until` on.
auto pendulums(std::int64_t n, double until = always, double after = 0) {
  return held_steps::integration{
      [=] {
        return std::pair{std::tuple{line(n, 1), line(n, 2)},
                         std::tuple{scalar<double>(1.7), line(n, 3, 0.5, 2), 0.3, until, after}};
      },
      dsl::ode::with_time(
          [](auto t, auto x, auto v, auto k, auto drive, auto drag, auto until, auto after) {
            return std::tuple{v, where(t < until, drive * cos(t) - k * sin(x) - drag * v, after)};
          }),
      // The weights of the sums are also the w of <J v, w>.
      [n](auto x, auto v) { return dsl::sum(line(n, 4) * x) + dsl::sum(line(n, 5) * v); },
      [until, after](long double t, const all_values& all) {
        all_values slopes{all[1], all[0]};
        for (std::size_t i = 0; i < all[0].size(); ++i)
          slopes[1][i] = t < until ? all[3][i] * std::cos(t) - all[2][0] * std::sin(all[0][i]) -
                                         all[4][0] * all[1][i]
                                   : wide(after);
        return slopes;
      },
      [w = numbers(n, 4), u = numbers(n, 5)](const all_values& all) {
        long double sum = 0;
        for (std::size_t i = 0; i < w.size(); ++i)
          sum += w[i] * all[0][i].real() + u[i] * all[1][i].real();
        return sum;
      }};
}

TEST(IntegrateGradient, OfTheStepsThatWereAccepted) {
  for (const std::int64_t n : {1, 13}) {
    auto of = pendulums(n);
    of.t0 = -1, of.t1 = 4;
    of.wanted = {.relative = 1e-6, .absolute = 1e-8};
    const steps accepted = check(of);
    EXPECT_GT(accepted.begins.size(), 10u);
    EXPECT_DOUBLE_EQ(accepted.begins.back() + accepted.sizes.back(), 4);
    of.t0 = 2, of.t1 = 0.5;  // backwards
    check(of);
  }
}

// Rejected steps are no part of the loop: the first is far too long.
TEST(IntegrateGradient, WithRejectedSteps) {
  auto of = pendulums(5, 1.25, -0.5);
  of.t1 = 3;
  of.wanted = {.relative = 1e-7, .absolute = 1e-9, .first_step = 3};
  check(of);
  for (const char* const name : devices) {
    const dsl::device_guard guard{dsl::device(name)};
    auto given = of.make();
    EXPECT_GT(of.gradient(given).rejected.value(), 5) << name;
  }
}

TEST(IntegrateGradient, OfAnIntegrationThatEndsEarly) {
  auto few = pendulums(3);
  few.t1 = 10;
  few.wanted = {.relative = 1e-8, .absolute = 1e-8, .most_steps = 5};
  EXPECT_LE(check(few, 1e-9, outcome::too_many_steps).begins.size(), 5u);
  few.wanted.most_steps = 0;
  EXPECT_EQ(check(few, 1e-9, outcome::too_many_steps).begins.size(), 0u);
  // The slopes of the rejected steps are NaN, and the derivatives are not.
  auto nan = pendulums(3, 1, std::nan(""));
  nan.t1 = 2;
  nan.wanted = {.relative = 1e-6, .absolute = 1e-6};
  EXPECT_GT(check(nan, 1e-9, outcome::step_too_small).begins.size(), 3u);
  nan.t0 = 1.5;
  EXPECT_EQ(check(nan, 1e-9, outcome::step_too_small).begins.size(), 0u);
}

TEST(IntegrateGradient, OfNothing) {
  auto of = pendulums(3);
  of.t1 = 0;
  EXPECT_EQ(check(of).begins.size(), 0u);
  auto none = pendulums(0);
  check(none);
}

// <J v, w> = <v, J^T w>: J v by differences along a direction, w the weights of the loss.
TEST(IntegrateGradient, AlongADirection) {
  auto of = pendulums(1031);
  of.t1 = 2;
  of.wanted = {.relative = 1e-5, .absolute = 1e-5};
  for (const char* const name : devices) {
    const dsl::device_guard guard{dsl::device(name)};
    const auto given = of.make();
    auto integrated = of.make(), changed = of.make();
    steps accepted;
    of.integrate(integrated, accepted);
    expect_change_along(given, of.loss_after(given, accepted),
                        found_in(given, of.gradient(changed)), 9, 1e-11, name);
  }
}

TEST(IntegrateGradient, HasTheSameBitsInEveryRun) {
  auto of = pendulums(500);
  of.t1 = 3;
  of.wanted = {.relative = 1e-6, .absolute = 1e-6};
  for (const char* const name : devices) {
    const dsl::device_guard guard{dsl::device(name)};
    const auto run = [&](const auto&... option) {
      auto given = of.make();
      return found_in(given, of.gradient(given, option...));
    };
    const derivatives all = run();
    EXPECT_EQ(run(), all) << name;
    for (const std::int64_t states : {0, 2, 3, 5})
      EXPECT_EQ(run(dsl::memory_limit(states * 8000)), all) << states << " states on " << name;
  }
}

TEST(IntegrateGradient, Errors) {
  for (const char* const name : devices) {
    const dsl::device_guard guard{dsl::device(name)};
    auto of = pendulums(5);
    auto given = of.make();
    const auto before = std::get<0>(given.first).copy_to_host();
    std::get<1>(given.second) = line(1, 3);
    EXPECT_EQ(error_of([&] { of.gradient(given); }),
              "iterate_gradient: parameter number 1 of shape (1): an array among the parameters "
              "has the shape of the loop's variables, (5)");
    std::get<1>(given.second) = line(5, 3);
    of.wanted.relative = -1;
    EXPECT_EQ(error_of([&] { of.gradient(given); }),
              "integrate: relative is -1, and is to be finite and not negative");
    EXPECT_EQ(std::get<0>(given.first).copy_to_host(), before);
  }
}

}  // namespace

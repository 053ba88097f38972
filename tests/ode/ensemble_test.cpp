// Ensembles: solutions known in closed form, the steps of `integrate`, and elements that end each
// in a way of its own.
#include "one_device.hpp"

#include <dsl/ode.hpp>

#include <cmath>
#include <limits>

namespace {

using dsl::ode::outcome;

struct ensemble : on_one_device {};
ON_EVERY_DEVICE(ensemble);

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr dsl::ode::tolerance fine{.relative = 1e-10, .absolute = 1e-12};
// y' = rate (cos t - y) - sin t: y = cos t if y(0) = 1, whatever the rate.
constexpr auto follows =
    dsl::ode::with_time([](auto t, auto y, auto rate) { return rate * (cos(t) - y) - sin(t); });

template <class T>
std::vector<double> doubles(const dsl::array<T>& a) {
  const auto all = a.copy_to_host();
  return {all.begin(), all.end()};
}

// Each element has its own times; all rows are saved that lie in an element's time.
TEST_P(ensemble, has_times_of_its_own_in_every_element) {
  for (const std::int64_t n : {0, 1, 31, 33, 64, 65, 129, 1000}) {
    std::vector<double> begin, end, y0, rates;
    for (std::int64_t i = 0; i < n; ++i) {
      begin.push_back(i % 7 == 0 ? 2 : 0.25 * static_cast<double>(i % 5));
      end.push_back(i % 7 == 0    ? 0.5
                    : i % 11 == 3 ? begin.back()
                                  : 2 + 0.001 * static_cast<double>(i));
      y0.push_back(std::cos(begin.back()));
      // Stable in the direction of the integration.
      rates.push_back((i % 7 == 0 ? -1 : 1) * (0.5 + 0.04 * static_cast<double>(i)));
    }
    const auto t0 = dsl::to_device(begin), t1 = dsl::to_device(end);
    auto y = dsl::to_device(y0);
    const auto rate = dsl::to_device(rates);
    const std::vector<double> times{0, 0.25, 1.5, 1.5, 2};
    const auto got =
        dsl::ode::ensemble(follows, dsl::state(y), t0, t1, fine, rate, dsl::ode::save_at(times));
    const auto values = y.copy_to_host(), reached = got.t.copy_to_host();
    const auto saved = got.saved<0>().copy_to_host();
    const auto steps = got.steps.copy_to_host();
    ASSERT_EQ(got.saved<0>().extent(0), 5);
    if (n == 0) continue;
    EXPECT_TRUE(dsl::all(got.outcome == outcome::reached).value());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(reached[i], end[i]);
      EXPECT_NEAR(values[i], std::cos(end[i]), 3e-9) << i << " of " << n;
      EXPECT_EQ(steps[i] == 0, begin[i] == end[i]);
      for (std::size_t k = 0; k < times.size(); ++k) {
        const double found = saved[k * values.size() + i];
        const bool is_inside = begin[i] < end[i] && times[k] >= begin[i] && times[k] <= end[i];
        if (!is_inside) EXPECT_TRUE(std::isnan(found)) << i << ' ' << k;
        else EXPECT_NEAR(found, std::cos(times[k]), 1e-7) << i << ' ' << k;
      }
    }
  }
}

// A ball that jumps: the times of its jumps are a geometric series, which ends: then it cannot go
// on. A jump leaves the height, or a part of it, as it was found: a rounding below the floor.
constexpr auto falls = [](auto, auto v, auto g, auto) { return std::tuple{v, -g + 0 * v}; };
constexpr auto floor_below =
    dsl::ode::event([](auto h, auto, auto, auto) { return h; },
                    [](auto h, auto v, auto, auto part) { return std::tuple{part * h, -0.5 * v}; });
TEST_P(ensemble, acts_at_every_event) {
  const double g = 9.81;
  auto h = dsl::to_device(std::vector<double>{1, 1, 2, 0, 1}),
       v = dsl::to_device(std::vector<double>{0, 0, 0, 3, 0});
  const auto part = dsl::to_device(std::vector<double>{1, 1, 1, 1, 0});
  auto until = dsl::to_device(std::vector<double>{0.4, 0.9, 1.2, 0.9, 5});
  const std::vector<double> times{0.2, 0.8};
  const auto got = dsl::ode::ensemble(falls, dsl::state(h, v), 0.0, until,
                                      {.relative = 1e-10, .absolute = 1e-12, .most_steps = 300}, g,
                                      part, floor_below, dsl::ode::save_at(times));
  const auto expected = [g](double h0, double v0, double t) {
    double at = 0;
    for (int jumps = 0; jumps < 200; ++jumps) {
      const double lands = (v0 + std::sqrt(v0 * v0 + 2 * g * h0)) / g;
      if (at + lands > t) break;
      at += lands;
      v0 = -0.5 * (v0 - g * lands);
      h0 = 0;
    }
    return h0 + (v0 - g * (t - at) / 2) * (t - at);
  };
  const auto hs = h.copy_to_host();
  EXPECT_NEAR(hs[0], expected(1, 0, 0.4), 1e-11);
  EXPECT_NEAR(hs[1], expected(1, 0, 0.9), 1e-11);
  EXPECT_NEAR(hs[2], expected(2, 0, 1.2), 1e-11);
  EXPECT_NEAR(hs[3], expected(0, 3, 0.9), 1e-11) << "a root at the beginning is none";
  const auto saved = got.saved<0>().copy_to_host();
  EXPECT_NEAR(saved[0], expected(1, 0, 0.2), 1e-11);
  EXPECT_NEAR(saved[6], expected(1, 0, 0.8), 1e-11);
  EXPECT_NEAR(saved[8], expected(0, 3, 0.8), 1e-11);
  const auto ends = doubles(got.t);
  EXPECT_EQ(got.outcome.copy_to_host()[4], static_cast<std::uint8_t>(outcome::too_many_steps));
  EXPECT_NEAR(ends[4], std::sqrt(2 / g) * 3, 1e-6) << "jumps without end";
}

// Several events: the first one to happen counts; those at one time happen in their order; one that
// resets its element happens again.
TEST_P(ensemble, has_several_events) {
  const auto leaks = [](auto v, auto fired, auto drive) {
    return std::tuple{drive - v, 0 * fired};
  };
  const auto fires =
      dsl::ode::event([](auto v, auto, auto) { return v - 1; },
                      [](auto v, auto fired, auto) { return std::tuple{0 * v, fired + 1}; },
                      dsl::ode::rising, dsl::ode::keep_times(2), dsl::ode::at_most(6));
  const auto never = dsl::ode::event(
      [](auto v, auto, auto) { return v - 0.5; },
      [](auto v, auto fired, auto) { return std::tuple{v, fired + 1000}; }, dsl::ode::falling);
  // Also at 4, after it in order: the action happens, although the element ends.
  const auto with_late =
      dsl::ode::event(dsl::ode::with_time([](auto t, auto, auto, auto) { return 8 - 2 * t; }),
                      [](auto v, auto fired, auto) { return std::tuple{v, fired + 0.25}; });
  const auto late = dsl::ode::event(
      dsl::ode::with_time([](auto t, auto, auto, auto) { return t - 4; }), dsl::ode::ends);
  const dsl::array<double> drive = dsl::to_device(std::vector<double>{1.5, 2, 4, 0.5});
  dsl::array<double> v = dsl::zeros<double>(4), fired = dsl::zeros<double>(4);
  const auto got = dsl::ode::ensemble(leaks, dsl::state(v, fired), 0.0, 10.0, fine, drive, fires,
                                      never, late, with_late);
  const std::vector<double> d{1.5, 2, 4, 0.5}, count = fired.copy_to_host(),
                                               t = got.t.copy_to_host(),
                                               fired_at = got.event_times<0>().copy_to_host();
  for (std::size_t i = 0; i < 4; ++i) {
    const double period = d[i] > 1 ? std::log(d[i] / (d[i] - 1)) : 1e9;
    EXPECT_EQ(count[i], std::min(6.0, std::floor(4 / period)) + 0.25) << i;
    for (std::size_t k = 0; k < 2; ++k) {
      const double at = static_cast<double>(k + 1) * period;
      if (at > 4) EXPECT_TRUE(std::isnan(fired_at[4 * k + i]));
      else EXPECT_NEAR(fired_at[4 * k + i], at, 1e-9);
    }
    EXPECT_NEAR(t[i], 4.0, 1e-12) << i;
  }
  EXPECT_TRUE(dsl::all(got.outcome == outcome::event).value());
}

TEST_P(ensemble, ends_each_element_by_itself) {
  auto y = dsl::to_device(std::vector<float>{1, nanf(""), 1, 1});
  const auto rate = dsl::to_device(std::vector<float>{1, 1, 1e30f, 2});
  const auto got =
      dsl::ode::ensemble([](auto at, auto r) { return where(r > 1e20f, sqrt(-at), -r * at); },
                         dsl::state(y), 0, 1, {.relative = 1e-5}, rate);
  const auto ends = got.outcome.copy_to_host();
  const auto ys = y.copy_to_host();
  EXPECT_EQ(ends, (std::vector<std::uint8_t>{0, 1, 1, 0}));
  EXPECT_NEAR(ys[0], std::exp(-1.0), 1e-5);
  EXPECT_NEAR(ys[3], std::exp(-2.0), 1e-5);
  EXPECT_EQ(ys[2], 1) << "the last accepted state";
  EXPECT_FALSE(dsl::all(got.outcome != outcome::step_too_small).value());
}

TEST_P(ensemble, refuses_impossible_calls_before_anything_changes) {
  dsl::array<double> y = dsl::ones<double>(4), other = dsl::ones<double>(5);
  const auto run = [&](double t0, double t1, const dsl::ode::tolerance& wanted,
                       const std::vector<double>& times) {
    dsl::ode::ensemble(follows, dsl::state(y), t0, t1, wanted, 1.0, dsl::ode::save_at(times));
  };
  EXPECT_THROW(run(nan, 1, {}, {}), dsl::value_error);
  EXPECT_THROW(run(0, std::numeric_limits<double>::infinity(), {}, {}), dsl::value_error);
  EXPECT_THROW(run(0, 1, {.relative = -1}, {}), dsl::value_error);
  EXPECT_THROW(run(0, 1, {.relative = nan}, {}), dsl::value_error);
  EXPECT_THROW(run(0, 1, {}, {0.5, 0.25}), dsl::value_error);
  EXPECT_THROW(run(0, 1, {}, {0.5, 2}), dsl::value_error);
  EXPECT_THROW(run(0, 1, {}, {nan}), dsl::value_error);
  EXPECT_THROW(run(1, 0, {}, {0.25, 0.5}), dsl::value_error);
  EXPECT_THROW(dsl::ode::ensemble(follows, dsl::state(y), 0.0, 1.0, {}, other,
                                  dsl::ode::save_at(std::vector<double>{})),
               dsl::shape_error);
  const auto run_each = [&](double t0, double t1, const std::vector<double>& times) {
    dsl::array<double> begin = dsl::zeros<double>(4), end = dsl::ones<double>(4);
    begin(3) = t0;
    end(0) = t1;
    dsl::ode::ensemble(follows, dsl::state(y), begin, end, fine, other(dsl::slice(0, 4)),
                       dsl::ode::save_at(times));
  };
  for (const double t : {nan, std::numeric_limits<double>::infinity(), -1e38}) {
    EXPECT_THROW(run_each(t, 1, {}), dsl::value_error);
    EXPECT_THROW(run_each(0, t, {}), dsl::value_error);
  }
  EXPECT_THROW(run_each(0, 1, {0.25, nan}), dsl::value_error);
  EXPECT_THROW(run_each(0, 1, {0.25, 0.5, 0.25}), dsl::value_error);
  EXPECT_EQ(y.copy_to_host(), (std::vector<double>{1, 1, 1, 1}));
  run(0, 1, {.most_steps = 0}, {});
  EXPECT_EQ(y.copy_to_host(), (std::vector<double>{1, 1, 1, 1}));
}

TEST(ensemble_on_several_devices, is_refused) {
  const dsl::device_guard guard{dsl::device("sim:0-1")};
  dsl::array<double> y = dsl::ones<double>(4);
  EXPECT_THROW(dsl::ode::ensemble(follows, dsl::state(y), 0.0, 1.0, {}, 1.0,
                                  dsl::ode::save_at(std::vector<double>{})),
               dsl::device_error);
  EXPECT_EQ(y.copy_to_host(), (std::vector<double>{1, 1, 1, 1}));
}
TEST(ensemble_on_several_devices, refuses_a_parameter_on_another_device) {
  dsl::array<double> rate;
  {
    const dsl::device_guard guard{dsl::device("sim")};
    rate = dsl::ones<double>(4);
  }
  const dsl::device_guard guard{dsl::device("host")};
  dsl::array<double> y = dsl::ones<double>(4), t = dsl::zeros<double>(4);
  EXPECT_THROW(dsl::ode::ensemble(follows, dsl::state(y), t, t + 1.0, {}, rate,
                                  dsl::ode::save_at(std::vector<double>{})),
               dsl::device_error);
  EXPECT_EQ(y.copy_to_host(), (std::vector<double>{1, 1, 1, 1}));
}

}  // namespace

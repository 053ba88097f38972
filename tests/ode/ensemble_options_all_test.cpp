// Ensembles: the options.
#include "one_device.hpp"

#include <dsl/ode.hpp>
#include <dsl/random.hpp>

#include <cmath>
#include <limits>

namespace {

using dsl::ode::outcome;

struct ensemble_options : on_one_device {};
ON_EVERY_DEVICE(ensemble_options);

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr dsl::ode::tolerance fine{.relative = 1e-9, .absolute = 1e-12};
struct at_most_one {
  DSL_FN double operator()(double x) const { return x < 1 ? x : 1; }
};
struct falls_by_half_its_square {
  template <class Y, class R>
  constexpr auto operator()(const Y& y, const R& rate) const {
    const auto half = dsl::vectorize([](auto a) { return 0.5 * a * a; });
    return -rate * half(y);
  }
};
constexpr auto decays = [](auto y, auto rate) { return -rate * y; };

// The rows of an element are its accepted steps: without rejected ones, in order, to its end.
TEST_P(ensemble_options, saves_every_step) {
  for (const std::int64_t n : {0, 1, 65, 300}) {
    const dsl::array<double> rate = dsl::linspace(1.0, 30.0, n);
    dsl::array<double> y = dsl::ones<double>(n);
    const auto got = dsl::ode::ensemble(decays, dsl::state(y), 0.0, 1.0, fine, rate,
                                        dsl::ode::save_every(1, 400));
    ASSERT_EQ(got.saved<0>().extents(), (std::array<std::int64_t, 2>{400, n}));
    ASSERT_EQ(got.saved_times().extents(), (std::array<std::int64_t, 2>{400, n}));
    if (n == 0) continue;
    const auto saved = got.saved<0>().copy_to_host(), times = got.saved_times().copy_to_host(),
               rates = rate.copy_to_host(), last = y.copy_to_host();
    const auto steps = got.steps.copy_to_host(), rejected = got.rejected.copy_to_host();
    const auto count = static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < count; ++i) {
      const auto accepted = static_cast<std::size_t>(steps[i] - rejected[i]);
      ASSERT_LT(accepted, 400u);
      double before = 0;
      for (std::size_t k = 0; k < 400; ++k) {
        const double t = times[k * count + i], value = saved[k * count + i];
        if (k >= accepted) {
          EXPECT_TRUE(std::isnan(t) && std::isnan(value));
          continue;
        }
        EXPECT_GT(t, before);
        EXPECT_NEAR(value, std::exp(-rates[i] * t), 1e-8);
        before = t;
      }
      EXPECT_EQ(before, 1.0);
      EXPECT_EQ(saved[(accepted - 1) * count + i], last[i]);
    }
  }
}
TEST_P(ensemble_options, saves_every_third_step_as_far_as_there_are_rows) {
  dsl::array<double> y = dsl::ones<double>(40), z = y, w = y;
  const dsl::array<double> rate = dsl::linspace(1.0, 8.0, 40);
  const auto all =
      dsl::ode::ensemble(decays, dsl::state(y), 0.0, 1.0, fine, rate, dsl::ode::save_every(1, 100));
  const auto some =
      dsl::ode::ensemble(decays, dsl::state(z), 0.0, 1.0, fine, rate, dsl::ode::save_every(3, 5));
  EXPECT_TRUE(dsl::all(y == z && all.steps == some.steps).value());
  EXPECT_GT(dsl::min(all.steps - all.rejected).value(), 15);
  const dsl::array<double, 2> expected = all.saved<0>()(dsl::slice(2, 15, 3)),
                              at = all.saved_times()(dsl::slice(2, 15, 3));
  EXPECT_TRUE(dsl::all(some.saved<0>() == expected && some.saved_times() == at).value());
  // Steps of a fixed size, whose number is known: the last row is the end.
  const auto fixed = dsl::ode::ensemble(decays, dsl::state(w), 0.0, 1.0, fine, rate,
                                        dsl::ode::fixed_steps(64), dsl::ode::save_every(16, 4));
  EXPECT_EQ(fixed.saved_times()(dsl::slice(0, 4), 7).copy_to_host(),
            (std::vector<double>{0.25, 0.5, 0.75, 1}));
  EXPECT_TRUE(dsl::all(fixed.saved<0>()(3) == w).value());
}
// A step that an event cuts is saved before the action.
TEST_P(ensemble_options, saves_steps_that_events_cut) {
  const auto halves =
      dsl::ode::event([](auto y, auto) { return y - 2; }, [](auto y, auto) { return y - 1; });
  dsl::array<double> y = dsl::ones<double>(3);
  const auto got = dsl::ode::ensemble([](auto, auto rate) { return rate; }, dsl::state(y), 0.0, 3.0,
                                      {.relative = 1e-9}, dsl::full<double>(2, 3), halves,
                                      dsl::ode::save_every(1, 60));
  const auto values = got.saved<0>()(dsl::slice(0, 60), 1).copy_to_host(),
             times = got.saved_times()(dsl::slice(0, 60), 1).copy_to_host();
  int at_events = 0;
  for (std::size_t k = 0; k < values.size() && !std::isnan(values[k]); ++k) {
    EXPECT_LE(values[k], 2 + 1e-12);
    if (std::abs(values[k] - 2) > 1e-12) continue;
    ++at_events;
    EXPECT_NEAR(times[k], 0.5 * at_events, 1e-12);
  }
  EXPECT_EQ(at_events, 6);
}
TEST_P(ensemble_options, refuses_impossible_rows) {
  dsl::array<double> y = dsl::ones<double>(4);
  const auto run = [&](std::int64_t steps, std::int64_t rows) {
    dsl::ode::ensemble(decays, dsl::state(y), 0.0, 1.0, fine, dsl::ones<double>(4),
                       dsl::ode::save_every(steps, rows));
  };
  EXPECT_THROW(run(0, 1), dsl::value_error);
  EXPECT_THROW(run(1, -1), dsl::value_error);
  EXPECT_TRUE(dsl::all(y == 1).value());
  run(1, 0);
  EXPECT_LT(dsl::max(y).value(), 1);
}

// Each element as in an ensemble of its own, whose tolerance has its limits.
TEST_P(ensemble_options, has_limits_of_its_own_in_every_element) {
  const std::vector<double> first{0, 0.001, 0.5, 0.01, 1e-60, nan},
      largest{1, 0.01, 1e300, 0.05, 0, nan};
  const std::vector<std::int64_t> most{1000, 50, 1000, 0, 5'000'000'000, 7};
  dsl::array<double> y = dsl::ones<double>(6), rate = dsl::linspace(1.0, 2.0, 6);
  const auto got = dsl::ode::ensemble(
      decays, dsl::state(y), 0.0, 1.0, fine, rate, dsl::ode::largest_step(dsl::to_device(largest)),
      dsl::ode::most_steps(dsl::to_device(most)), dsl::ode::first_step(dsl::to_device(first)));
  for (std::int64_t i = 0; i < 6; ++i) {
    const auto k = static_cast<std::size_t>(i);
    dsl::ode::tolerance wanted = fine;
    wanted.first_step = std::isnan(first[k]) ? 0 : first[k];
    if (largest[k] > 0) wanted.largest_step = largest[k];
    wanted.most_steps = most[k];
    dsl::array<double> alone = dsl::ones<double>(1), its_rate = rate(dsl::slice(i, i + 1));
    const auto expected = dsl::ode::ensemble(decays, dsl::state(alone), 0.0, 1.0, wanted, its_rate);
    EXPECT_EQ(y(i).value(), alone(0).value()) << i;
    EXPECT_EQ(got.steps(i).value(), expected.steps(0).value()) << i;
    EXPECT_EQ(got.outcome(i).value(), expected.outcome(0).value()) << i;
  }
  EXPECT_EQ(got.steps(5).value(), 7);
  EXPECT_EQ(got.steps(3).value(), 0);
  EXPECT_GE(got.steps(1).value(), 50);
}
TEST_P(ensemble_options, broadcasts_limits) {
  dsl::array<double, 2> y = dsl::ones<double>(3, 40), z = y;
  const dsl::array<std::int32_t> most = dsl::to_device(std::vector<std::int32_t>{3, 5, 1000});
  const auto got =
      dsl::ode::ensemble(decays, dsl::state(y), 0.0, 1.0, fine, dsl::linspace(1.0, 2.0, 40),
                         dsl::ode::most_steps(dsl::expand_dims(most, 1)),
                         dsl::ode::largest_step(0.01 + 0 * dsl::arange<double>(40)));
  EXPECT_EQ(dsl::max(got.steps(0)).value(), 3);
  EXPECT_EQ(dsl::min(got.steps(1)).value(), 5);
  EXPECT_GE(dsl::min(got.steps(2)).value(), 100);
  EXPECT_THROW(dsl::ode::ensemble(decays, dsl::state(z), 0.0, 1.0, fine,
                                  dsl::linspace(1.0, 2.0, 40), dsl::ode::most_steps(most)),
               dsl::shape_error);
  EXPECT_TRUE(dsl::all(z == 1).value());
}
TEST_P(ensemble_options, ends_at_an_elements_own_number_of_steps_also_behind_events) {
  const auto again =
      dsl::ode::event([](auto y, auto) { return y - 2; }, [](auto y, auto) { return y - 1; });
  dsl::array<double> y = dsl::ones<double>(4);
  const auto most = dsl::to_device(std::vector<std::int32_t>{1, 2, 5, 100'000});
  const auto got = dsl::ode::ensemble([](auto, auto rate) { return rate; }, dsl::state(y), 0.0, 3.0,
                                      {.relative = 1e-9}, dsl::full<double>(2, 4), again,
                                      dsl::ode::most_steps(most));
  EXPECT_EQ(got.steps(dsl::slice(0, 3)).copy_to_host(), (std::vector<std::int32_t>{1, 2, 5}));
  EXPECT_EQ(got.outcome(2).value(), static_cast<std::uint8_t>(outcome::too_many_steps));
  EXPECT_EQ(got.outcome(3).value(), static_cast<std::uint8_t>(outcome::reached));
}

// Arrays and expressions of times beside a number.
TEST_P(ensemble_options, refuses_times_that_are_not_finite) {
  dsl::array<double, 2> y = dsl::ones<double>(2, 3);
  const dsl::array<double, 2> rate = y;
  for (const double bad : {nan, -std::numeric_limits<double>::infinity(), 2e37}) {
    const auto t = dsl::to_device(std::vector<float>{0, 0, static_cast<float>(bad)});
    try {
      dsl::ode::ensemble(decays, dsl::state(y), t, 3.0, fine, rate);
      ADD_FAILURE() << bad;
    } catch (const dsl::value_error& e) {
      EXPECT_NE(std::string(e.what()).find("the largest magnitude of t0 and t1 is"),
                std::string::npos)
          << e.what();
    }
    EXPECT_THROW(dsl::ode::ensemble(decays, dsl::state(y), 0, 2.0 + t, fine, rate),
                 dsl::value_error);
  }
  EXPECT_TRUE(dsl::all(y == 1).value());
  dsl::ode::ensemble(decays, dsl::state(y), dsl::to_device(std::vector<float>{0, 1, 2}), 3.0, fine,
                     rate);
  EXPECT_LT(dsl::max(abs(y(0) - exp(dsl::arange<double>(3) - 3.0))).value(), 1e-8);
}

TEST_P(ensemble_options, of_the_page) {
  const dsl::array<double> rho = dsl::linspace(0.0, 21.0, 100);
  dsl::array<double> x = dsl::ones<double>(100), y = dsl::zeros<double>(100),
                     z = dsl::zeros<double>(100);
#include <docs/ensembles/one-call.inc>
  EXPECT_GT(mean_steps, 20);

#include <docs/ensembles/limits-of-the-steps.inc>
  EXPECT_TRUE(dsl::all(limited.steps <= dsl::arange<int>(100)).value());
  EXPECT_EQ(limited.outcome(99).value(), 0);
  EXPECT_GE(limited.steps(99).value(), 44);

#include <docs/ensembles/values-after-steps.inc>
  EXPECT_EQ(dsl::sum(dsl::isfinite(xs)).value(), dsl::sum(path.steps - path.rejected).value());
  EXPECT_TRUE(dsl::all(dsl::isfinite(xs) == dsl::isfinite(ts)).value());
}

// A class that is traced and calls what vectorize made, also where it is differentiated.
TEST_P(ensemble_options, calls_other_functions) {
  const dsl::array<double> rate = dsl::linspace(0.5, 2.0, 70);
  dsl::array<double> y = dsl::ones<double>(70), z = y, w = y;
  dsl::ode::ensemble(falls_by_half_its_square{}, dsl::state(y), 0.0, 1.0, fine, rate);
  dsl::ode::ensemble(falls_by_half_its_square{}, dsl::state(z), 0.0, 1.0, fine, rate,
                     dsl::ode::method::rodas5p);
  EXPECT_LT(dsl::max(abs(y - 1 / (1 + 0.5 * rate))).value(), 1e-7);
  EXPECT_LT(dsl::max(abs(z - 1 / (1 + 0.5 * rate))).value(), 1e-7);
  const auto bounded = dsl::vectorize(at_most_one{})(rate);
  dsl::ode::ensemble(decays, dsl::state(w), 0.0, 1.0, fine, bounded);
  EXPECT_LT(dsl::max(abs(w - exp(-bounded))).value(), 1e-7);
}
TEST_P(ensemble_options, has_random_numbers_of_its_own_in_every_element) {
#include <docs/ensembles/random-numbers-and-functors.inc>
  EXPECT_LT(dsl::max(abs(left - exp(-dsl::random::uniform<double>(k, 1000)))).value(), 1e-7);
  // A matrix, of which the fields are a part, takes the part's numbers.
  dsl::array<double, 2> all = dsl::ones<double>(6, 50);
  auto part = all(dsl::slice(2, 4));
  dsl::ode::ensemble(decay, dsl::state(part), 0.0, 1.0, fine,
                     dsl::random::uniform<double>(k, 6, 50)(dsl::slice(2, 4)));
  const dsl::array<double, 2> expected = exp(-dsl::random::uniform<double>(k, 6, 50));
  EXPECT_LT(dsl::max(abs(all(3) - expected(3))).value(), 1e-7);
  EXPECT_TRUE(dsl::all(all(4) == 1).value());
}

}  // namespace

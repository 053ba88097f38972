// Gradients of ensembles: a closed form, in elements with times of their own.
#include "one_device.hpp"

#include <dsl/ode.hpp>

#include <cmath>

namespace {

struct ensemble_gradient : on_one_device {};
ON_EVERY_DEVICE(ensemble_gradient);

constexpr dsl::ode::tolerance fine{.relative = 1e-11, .absolute = 1e-13};

// y = cos t + d exp(-rate scale (t - t0)), where d = y(t0) - cos t0.
constexpr auto follows = dsl::ode::with_time(
    [](auto t, auto y, auto rate, auto scale) { return rate * scale * (cos(t) - y) - sin(t); });

// Every element has its own times, some backwards, some none; rows that are not reached are NaN,
// which the loss leaves out.
TEST_P(ensemble_gradient, of_saved_rows) {
  const double scale = 1.25;
  for (const std::int64_t n : {0, 1, 33, 200}) {
    std::vector<double> begin, end, rates, d, y0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double at = static_cast<double>(i);
      begin.push_back(i % 7 == 0 ? 2 : 0.25 * static_cast<double>(i % 5));
      end.push_back(i % 7 == 0 ? 0.5 : i % 11 == 3 ? begin.back() : 2 + 0.001 * at);
      rates.push_back((i % 7 == 0 ? -1 : 1) * (0.5 + 0.02 * at));
      d.push_back(0.1 + 0.01 * at);
      y0.push_back(std::cos(begin.back()) + d.back());
    }
    const std::vector<double> times{0.25, 0.75, 1.5, 1.5, 2};
    const auto t0 = dsl::to_device(begin), t1 = dsl::to_device(end), rate = dsl::to_device(rates);
    const dsl::scalar<double> factor(scale);
    const dsl::array<double> weight = dsl::linspace(1.0, 5.0, 5);
    const auto loss = [&](auto rows) {
      return dsl::sum(where(rows == rows, dsl::expand_dims(weight, 1) * rows, 0.0));
    };
    const auto run = [&](auto... options) {
      auto y = dsl::to_device(y0);
      return dsl::ode::ensemble_gradient(follows, loss, dsl::state(y), t0, t1, fine, rate, factor,
                                         dsl::ode::save_at(times), options...);
    };
    const auto got = run();
    const auto of_y = got.state<0>().copy_to_host(), of_rate = got.parameter<0>().copy_to_host();
    double value = 0, of_scale = 0;
    for (std::size_t i = 0; i < d.size(); ++i) {
      double by_y = 0, by_rate = 0;
      for (std::size_t k = 0; k < times.size(); ++k) {
        const bool is_inside = begin[i] < end[i] && times[k] >= begin[i] && times[k] <= end[i];
        if (!is_inside) continue;
        const double w = static_cast<double>(k + 1), passed = times[k] - begin[i],
                     decay = std::exp(-rates[i] * scale * passed);
        value += w * (std::cos(times[k]) + d[i] * decay);
        by_y += w * decay;
        by_rate -= w * d[i] * scale * passed * decay;
        of_scale -= w * d[i] * rates[i] * passed * decay;
      }
      EXPECT_NEAR(of_y[i], by_y, 1e-7) << i << " of " << n;
      EXPECT_NEAR(of_rate[i], by_rate, 1e-7) << i << " of " << n;
    }
    EXPECT_NEAR(got.loss.value(), value, 1e-7 * (1 + std::abs(value)));
    EXPECT_NEAR(got.parameter<1>().value(), of_scale, 1e-6 * (1 + std::abs(of_scale)));
    // As many elements at a time as fit.
    const auto in_parts = run(dsl::memory_limit(20'000));
    EXPECT_EQ(in_parts.state<0>().copy_to_host(), of_y);
    EXPECT_EQ(in_parts.parameter<0>().copy_to_host(), of_rate);
    EXPECT_EQ(in_parts.steps.copy_to_host(), got.steps.copy_to_host());
  }
}

}  // namespace

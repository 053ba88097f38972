// Integrations and their derivatives by central differences of the same steps in long doubles, for
// tests of dsl::ode::integrate_gradient.
#pragma once

#include "../lang/wide_differences.hpp"

#include <dsl/ode.hpp>

namespace held_steps {

using namespace loop_differences;
using dsl::ode::outcome;

/// The accepted steps.
struct steps { std::vector<double> begins, sizes; };

/// An integration: what its fields and other arguments are when it begins, f, and the loss, as dsl
/// computes them; and f and the loss of long doubles.
template <class Make, class F, class Loss>
struct integration {
  Make make;  // returns std::pair of two tuples
  F f;
  Loss loss;
  std::function<all_values(long double t, const all_values&)> slopes;
  wide_loss loss_of;
  double t0 = 0, t1 = 1;
  dsl::ode::tolerance wanted{};

  template <class Given, class... Options>
  auto gradient(Given& given, const Options&... options) const {
    return std::apply(
        [&](auto&... y) {
          return std::apply(
              [&](const auto&... x) {
                return dsl::ode::integrate_gradient(f, loss, dsl::state(y...), t0, t1, wanted, x...,
                                                    options...);
              },
              given.second);
        },
        given.first);
  }
  /// What `integrate` does with the same, and its accepted steps.
  template <class Given>
  auto integrate(Given& given, steps& accepted) const {
    dsl::ode::detail::held_steps held;
    auto at = std::apply(
        [&](auto&... y) {
          return std::apply(
              [&](const auto&... x) {
                return dsl::ode::detail::integrate_fields<dsl::detail::unnamed, F>(
                    dsl::state(y...), t0, t1, wanted, held, x...);
              },
              given.second);
        },
        given.first);
    accepted = {held.begins.copy_to_host(), held.sizes.copy_to_host()};
    accepted.begins.resize(static_cast<std::size_t>(held.count));
    accepted.sizes.resize(static_cast<std::size_t>(held.count));
    return at;
  }
  /// The fields, then the other arguments, after the steps.
  all_values after(const steps& accepted, all_values all, std::size_t fields) const {
    constexpr auto& method = dsl::ode::detail::dopri5_method;
    for (std::size_t n = 0; n < accepted.begins.size(); ++n) {
      const long double h = accepted.sizes[n];
      std::vector<all_values> k;
      const auto moved = [&](const auto& coefficients) {
        all_values at = all;
        for (std::size_t j = 0; j < k.size(); ++j) {
          const long double by = h * static_cast<long double>(coefficients[j].numerator) /
                                 static_cast<long double>(coefficients[j].denominator);
          for (std::size_t y = 0; y < fields; ++y)
            for (std::size_t i = 0; i < at[y].size(); ++i) at[y][i] += by * k[j][y][i];
        }
        return at;
      };
      for (int stage = 0; stage < method.stages; ++stage)
        k.push_back(
            slopes(accepted.begins[n] + static_cast<long double>(method.c(stage).value()) * h,
                   moved(method.a[stage])));
      all = moved(method.b);
    }
    return all;
  }
  /// The loss after the steps.
  template <class... Y, class... X>
  wide_loss loss_after(const std::pair<std::tuple<Y...>, std::tuple<X...>>&,
                       const steps& accepted) const {
    return [this, &accepted](const all_values& all) {
      return loss_of(after(accepted, all, sizeof...(Y)));
    };
  }
};
template <class Make, class F, class Loss, class... Rest>
integration(Make, F, Loss, Rest...) -> integration<Make, F, Loss>;

/// Compares loss, derivatives, last state and the integration with the reference, on each device.
/// Returns the accepted steps, which may differ between devices by rounding.
template <class Problem>
steps check(const Problem& of, double within = 1e-9, outcome end = outcome::reached,
            const std::vector<const char*>& where_to = devices) {
  steps accepted;
  for (const char* const name : where_to) {
    const dsl::device_guard guard{dsl::device(name)};
    const auto given = of.make();
    auto integrated = of.make(), changed = of.make();
    const auto at = of.integrate(integrated, accepted);
    const auto found = of.gradient(changed);
    const std::string where = std::string(" on ") + name;
    EXPECT_EQ(found.outcome(), end) << where;
    EXPECT_EQ(found.t.value(), at.t.value()) << where;
    EXPECT_EQ(found.steps.value(), at.steps.value()) << where;
    EXPECT_EQ(found.rejected.value(), at.rejected.value()) << where;
    EXPECT_EQ(static_cast<std::int64_t>(accepted.begins.size()),
              at.steps.value() - at.rejected.value());

    const all_values begun = values_of(std::tuple_cat(given.first, given.second));
    constexpr std::size_t fields = std::tuple_size_v<decltype(given.first)>;
    const all_values last = of.after(accepted, begun, fields);
    const auto expected = static_cast<double>(of.loss_of(last));
    EXPECT_NEAR(static_cast<double>(found.loss.value()), expected,
                within * (1 + std::fabs(expected)))
        << where;
    expect_near(found_in(given, found), wide_differences(given, of.loss_after(given, accepted)),
                within, where);
    // The last state: the reference's, and that of `integrate`.
    const all_values replayed = values_of(changed.first),
                     of_integrate = values_of(integrated.first);
    for (std::size_t y = 0; y < fields; ++y)
      for (std::size_t i = 0; i < last[y].size(); ++i) {
        EXPECT_LE(std::abs(replayed[y][i] - last[y][i]), within * (1 + std::abs(last[y][i])))
            << where;
        EXPECT_LE(std::abs(replayed[y][i] - of_integrate[y][i]),
                  1e-5 * within * (1 + std::abs(last[y][i])))
            << where;
      }
  }
  return accepted;
}

}  // namespace held_steps

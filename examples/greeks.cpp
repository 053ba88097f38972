// A call option's price by Black and Scholes, and its Greeks: how the price changes with what it
// depends on. Only the price is written; its first derivatives are dsl::value_and_grad of it,
// the second one is a grad of a grad, and all six results are one kernel. The check has the closed
// forms, which are longer than the price itself.
#include <dsl/dsl.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <tuple>
#include <vector>

#include "example.hpp"

struct call_with_greeks;  // The kernel's name in profilers.

// F. Black and M. Scholes, Journal of Political Economy 81, 1973, equation 13.
static constexpr auto call = [](auto spot, auto strike, auto years, auto rate, auto volatility) {
  // The cumulative normal distribution.
  const auto below = [](auto d) { return 0.5 * erfc(-d / sqrt(dsl::constant(2.0))); };
  auto spread = volatility * sqrt(years);
  auto d = (log(spot / strike) + rate * years) / spread + spread / 2;
  return spot * below(d) - strike * exp(-rate * years) * below(d - spread);
};

static constexpr auto greeks = dsl::vectorize<call_with_greeks>(
    [](auto spot, auto strike, auto years, auto rate, auto volatility) {
      const auto [price, delta, by_years, rho, vega] =
          dsl::value_and_grad<0, 2, 3, 4>(call)(spot, strike, years, rate, volatility);
      auto gamma = dsl::grad<0>(dsl::grad<0>(call))(spot, strike, years, rate, volatility);
      return std::tuple{price, delta, gamma, vega, -by_years, rho};  // Theta: as time goes by.
    });

// The closed forms, in the same order.
static std::array<double, 6> by_hand(double spot, double strike, double years, double rate,
                                     double volatility) {
  const auto below = [](double d) { return std::erfc(-d / std::numbers::sqrt2) / 2; };
  const double spread = volatility * std::sqrt(years),
               d1 = (std::log(spot / strike) + (rate + volatility * volatility / 2) * years) /
                    spread,
               d2 = d1 - spread, paid = strike * std::exp(-rate * years),
               density = std::exp(-d1 * d1 / 2) / std::sqrt(2 * std::numbers::pi);
  return {spot * below(d1) - paid * below(d2),
          below(d1),
          density / (spot * spread),
          spot * density * std::sqrt(years),
          -spot * density * volatility / (2 * std::sqrt(years)) - rate * paid * below(d2),
          years * paid * below(d2)};
}

static bool run(const example& e) {
  const double strike = 100, rate = 0.02, volatility = 0.3;
  const std::int64_t n = e.size;
  const dsl::array<double> spot = dsl::linspace(50.0, 150.0, n),
                           years = 0.1 + 4.9 * abs(sin(dsl::arange<double>(n)));
  dsl::array<double> price(n), delta(n), gamma(n), vega(n), theta(n), rho(n);
  const double seconds = seconds_of([&] {
    dsl::tie(price, delta, gamma, vega, theta, rho) = greeks(spot, strike, years, rate, volatility);
  });
  const auto options = static_cast<double>(n);
  print_speed("price and Greeks", seconds, options, "options", 64 * options);

  const std::vector<double> spots = spot.copy_to_host(), times = years.copy_to_host();
  const std::array<std::vector<double>, 6> found{price.copy_to_host(), delta.copy_to_host(),
                                                 gamma.copy_to_host(), vega.copy_to_host(),
                                                 theta.copy_to_host(), rho.copy_to_host()};
  std::array<double, 6> worst{};
  for (std::size_t i = 0; i < spots.size(); ++i) {
    const std::array<double, 6> want = by_hand(spots[i], strike, times[i], rate, volatility);
    for (std::size_t k = 0; k < want.size(); ++k)
      worst[k] = std::max(worst[k], std::abs(found[k][i] - want[k]));
  }
  const std::array names{"price", "delta", "gamma", "vega", "theta", "rho"};
  bool right = true;
  for (std::size_t k = 0; k < names.size(); ++k) right = check(names[k], worst[k], 1e-11) && right;
  return right;
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "A call option's price and its Greeks, by derivatives of formulas.",
                      .size = 1'000'000,
                      .size_is = "options"},
                     run);
}

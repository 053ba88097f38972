// Prices of European options by Black and Scholes, a call and a put for each: one lambda with two
// results, one kernel. The normal distribution is computed with erfc; the rate and the volatility
// are passed by value in the kernel's parameters. The picture is the same formula on a row of
// prices and a column of times: operands broadcast as in NumPy.
#include <dsl/dsl.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "example.hpp"

struct black_scholes;  // The kernel's name in profilers.

// F. Black and M. Scholes, Journal of Political Economy 81, 1973, equations 13 and 27.
static constexpr auto price = dsl::vectorize<black_scholes>(
    [](auto spot, auto strike, auto years, auto rate, auto volatility) {
      // The cumulative normal distribution.
      const auto below = [](auto d) { return 0.5 * erfc(-d / sqrt(dsl::constant(2.0))); };
      auto spread = volatility * sqrt(years);
      auto d1 = (log(spot / strike) + (rate + volatility * volatility / 2) * years) / spread;
      auto d2 = d1 - spread;
      auto paid = strike * exp(-rate * years);
      auto call = spot * below(d1) - paid * below(d2);
      // The put follows from the call by put-call parity.
      return std::tuple{call, call + paid - spot};
    });

static std::vector<float> uniform(std::int64_t n, float low, float high, unsigned seed) {
  std::mt19937 bits(seed);
  std::uniform_real_distribution<float> draw(low, high);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& v : values) v = draw(bits);
  return values;
}

static void draw(const std::string& out) {
  const dsl::array<float> spots = dsl::linspace<float>(20, 80, 480),
                          strike = dsl::full<float>(50, 1);
  const dsl::array<float> years = dsl::linspace<float>(5, 0.01f, 320);
  dsl::array<float, 2> call(320, 480), put(320, 480);
  dsl::tie(call, put) = price(spots, strike, dsl::expand_dims(years, 1), 0.02f, 0.3f);
  write_png(out, 480, call.copy_to_host(), 0, 36, viridis(18));
}

static bool run(const example& e) {
  const float rate = 0.02f, volatility = 0.3f;
  const std::vector<float> spots = uniform(e.size, 5, 30, 1), strikes = uniform(e.size, 1, 100, 2),
                           times = uniform(e.size, 0.25f, 10, 3);
  const dsl::array<float> spot = dsl::to_device(spots), strike = dsl::to_device(strikes),
                          years = dsl::to_device(times);
  dsl::array<float> call(e.size), put(e.size);

  const double seconds =
      seconds_of([&] { dsl::tie(call, put) = price(spot, strike, years, rate, volatility); });
  const auto n = static_cast<double>(e.size);
  print_speed("calls and puts", seconds, 2 * n, "prices", 20 * n);
  if (!e.out.empty()) draw(e.out);

  const std::vector<float> calls = call.copy_to_host(), puts = put.copy_to_host();
  double worst = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const double s = spots[i], x = strikes[i], t = times[i], r = rate, v = volatility,
                 spread = v * std::sqrt(t);
    const double d1 = (std::log(s / x) + (r + v * v / 2) * t) / spread, d2 = d1 - spread,
                 paid = x * std::exp(-r * t);
    const double want_call =
        (s * std::erfc(-d1 / std::sqrt(2)) - paid * std::erfc(-d2 / std::sqrt(2))) / 2;
    const double want_put =
        (paid * std::erfc(d2 / std::sqrt(2)) - s * std::erfc(d1 / std::sqrt(2))) / 2;
    worst = std::max({worst, std::abs(calls[i] - want_call), std::abs(puts[i] - want_put)});
  }
  return check("worst error of a price", worst, 4e-5);
}

int main(int argc, char** argv) {
  return run_example(
      argc, argv,
      {.shows = "Prices of European options by Black and Scholes' formulas.",
       .size = 4'000'000,
       .size_is = "options",
       .picture = "draw a call's price over the share's (across) and the time left (down)"},
      run);
}

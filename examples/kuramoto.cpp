// Kuramoto oscillators: each has its own rate and is pulled towards the mean of all, which is a
// reduction in the same step and is used by the next one. dsl::iterate runs the whole loop on the
// device and returns the mean after each step. If the rates have a Cauchy distribution, the modulus
// of the mean is known in closed form; every step is checked against it.
#include <dsl/dsl.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <tuple>
#include <vector>

#include "example.hpp"

using namespace std::complex_literals;
using c32 = std::complex<float>;

struct kuramoto;  // The kernel's name in profilers.

static constexpr auto step =
    dsl::vectorize<kuramoto>([](auto phase, auto z, auto rate, auto pull, auto h) {
      auto next = phase + h * (rate + pull * imag(z * exp(-1i * phase)));
      // Reduced to -pi ... pi, where floats are most accurate.
      next = next - 2 * std::numbers::pi * floor(next / (2 * std::numbers::pi) + 0.5);
      return std::tuple{next, dsl::mean(exp(1i * next))};
    });

struct oscillators { dsl::array<float> phase, rate; };

// Rates of a Cauchy distribution of width 1 in ascending order. Phases whose mean of exp(i phase)
// is `order`: a Moebius transformation of evenly spread phases (a Weyl sequence of squares), which
// are independent of the rates.
static oscillators begin_with(std::int64_t n, double order) {
  const auto count = static_cast<double>(n);
  const auto number = dsl::arange<double>(n);
  const auto turn = std::numbers::pi * (remainder(number * number * std::numbers::phi, 1.0) - 0.5);
  return {dsl::cast<float>(2 * atan((1 - order) / (1 + order) * tan(turn))),
          dsl::cast<float>(tan(std::numbers::pi * ((number + 0.5) / count - 0.5)))};
}

// Draws the cosines of phases relative to the mean for 480 oscillators, one column each, slow ones
// in the middle; time runs downwards. The fastest 5 % at either end are left out.
static void draw(const std::string& out, float pull, float h) {
  const std::int64_t n = 4800, rows = 320;
  auto [phase, rate] = begin_with(n, 0.1);
  dsl::scalar<c32> z = dsl::mean(exp(1i * phase));
  const auto [means, phases] =
      dsl::iterate(4 * rows, step, dsl::state(phase, z), rate, pull, h, dsl::every(4),
                   dsl::record(phase(dsl::slice(240, 4560, 9))));
  const dsl::array<float, 2> shades = cos(phases - dsl::expand_dims(arg(means), 1));
  write_png(out, 480, shades.copy_to_host(), -1, 1, viridis(24));
}

static bool run(const example& e) {
  const float pull = 3, h = 0.01f;  // Oscillators synchronise if the pull exceeds 2.
  const double order = 0.1;
  auto [phase, rate] = begin_with(e.size, order);
  dsl::scalar<c32> z = dsl::mean(exp(1i * phase));

  std::vector<c32> history;
  const double seconds = seconds_a_step(e.steps, [&](std::int64_t steps) {
    const std::vector<c32> part =
        dsl::iterate(steps, step, dsl::state(phase, z), rate, pull, h).copy_to_host();
    history.insert(history.end(), part.begin(), part.end());
  });
  print_speed("a step", seconds, static_cast<double>(e.size), "oscillators",
              12 * static_cast<double>(e.size));
  std::printf("order   |z| = %.4f after %lld steps\n", std::abs(history.back()),
              static_cast<long long>(e.steps));
  if (!e.out.empty()) draw(e.out, pull, h);

  // E. Ott and T. M. Antonsen, Chaos 18, 037113, 2008, equation 11: |z|^2 grows as a logistic
  // function.
  double worst = 0;
  const double last = 1 - 2.0 / pull;
  for (std::size_t k = 0; k < history.size(); ++k) {
    const double t = static_cast<double>(h) * static_cast<double>(k + 1);
    const double want =
        std::sqrt(last / (1 + (last / (order * order) - 1) * std::exp(-(pull - 2) * t)));
    worst = std::max(worst, std::abs(static_cast<double>(std::abs(history[k])) - want));
  }
  return check("|z|, worst difference from its limit for many oscillators", worst,
               1.5 * static_cast<double>(h) + 4 / std::sqrt(static_cast<double>(e.size)));
}

int main(int argc, char** argv) {
  return run_example(
      argc, argv,
      {.shows = "Kuramoto's oscillators: a mean that each step feeds back to the next.",
       .size = 1'000'000,
       .size_is = "oscillators",
       .steps = 1000,
       .picture = "draw the phases over time"},
      run);
}

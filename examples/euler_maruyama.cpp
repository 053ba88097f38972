// Geometric Brownian motion dx = a x dt + b x dW by the Euler-Maruyama method, with smaller and
// smaller steps. The mean distance of paths from their exact solutions (the strong error) falls as
// the square root of the step, the error of the paths' mean (the weak error) as the step. The noise
// is a formula of the numbers of path and step, so no array of random numbers is stored.
#include <dsl/ode.hpp>
#include <dsl/random.hpp>

#include <cmath>
#include <tuple>
#include <vector>

#include "chart.hpp"
#include "example.hpp"

struct brownian_motion;  // The kernel's name in profilers.

// The second field is the Brownian motion W, driven by the same noise. The exact solution is a
// formula of W.
static constexpr auto step = dsl::ode::sde<brownian_motion>(
    [](auto x, auto, auto a, auto) { return std::tuple{a * x, dsl::constant(0.0)}; },
    [](auto x, auto, auto, auto b) { return std::tuple{b * x, dsl::constant(1.0)}; });

struct errors { double strong, weak; };
static errors errors_after(std::int64_t steps, double a, double b, std::int64_t paths) {
  const dsl::random::key key{2026};
  const auto noise = dsl::random::normal<double>(key.fold(steps).fold(dsl::step), paths);
  dsl::array<double> x = dsl::ones<double>(paths), w = dsl::zeros<double>(paths);
  dsl::iterate(steps, step, dsl::state(x, w), a, b, 1.0 / static_cast<double>(steps), noise, noise);
  const auto exact = exp((a - b * b / 2) + b * w);
  return {dsl::mean(abs(x - exact)).value(), std::abs(dsl::mean(x).value() - std::exp(a))};
}

static void draw(const std::string& out, const std::vector<double>& power,
                 const std::vector<double>& strong, const std::vector<double>& weak) {
  const auto through_last = [&](const std::vector<double>& error, double order) {
    std::vector<double> y;
    for (const double p : power) y.push_back(error.back() + order * (power.back() - p));
    return y;
  };
  write_svg(out, {.title = "Errors of Euler and Maruyama's method",
                  .subtitle = "dx = a x dt + b x dW from 1 to time 1",
                  .x_label = "log2 of the number of steps",
                  .y_label = "log2 of the error",
                  .x = power,
                  .lines = {{"order 1/2", "#bbb", 5, through_last(strong, 0.5)},
                            {"order 1", "#ddd", 5, through_last(weak, 1)},
                            {"strong: a = 0.1, b = 1", "#d55e00", 2, strong},
                            {"weak: a = 2, b = 0.05", "#0072b2", 2, weak}}});
}

static bool run(const example& e) {
  std::vector<double> power, strong, weak;
  std::int64_t all = 0;
  const double seconds = seconds_of([&] {
    power.clear(), strong.clear(), weak.clear(), all = 0;
    for (std::int64_t steps = 8; steps <= e.steps; steps *= 2) {
      power.push_back(std::log2(steps));
      strong.push_back(std::log2(errors_after(steps, 0.1, 1, e.size).strong));
      weak.push_back(std::log2(errors_after(steps, 2, 0.05, e.size).weak));
      all += 2 * steps;
    }
  });
  print_speed("a step", seconds / static_cast<double>(all), static_cast<double>(e.size), "paths");
  const double doublings = power.back() - power.front();
  const double strong_order = (strong.front() - strong.back()) / doublings,
               weak_order = (weak.front() - weak.back()) / doublings;
  std::printf("orders  %.2f strong, %.2f weak\n", strong_order, weak_order);
  if (!e.out.empty()) draw(e.out, power, strong, weak);
  return check("orders, off by", std::max(std::abs(strong_order - 0.5), std::abs(weak_order - 1)),
               0.15);
}

int main(int argc, char** argv) {
  return run_example(
      argc, argv,
      {.shows = "A stochastic differential equation, and the orders of the method that solves it.",
       .size = 200'000,
       .size_is = "paths",
       .steps = 512,
       .steps_are = "steps at most",
       .picture = "draw the errors over the number of steps, as SVG"},
      run);
}

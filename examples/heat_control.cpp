// Optimal control of heat: where must a plate be heated so that it shows a given picture in the
// end? dsl::iterate_gradient runs the heat equation and its adjoint, and so gives the derivative of
// the loss with respect to the source in every cell. The loss is quadratic, so its derivative at a
// direction is the product with its Hessian, and conjugate gradients find the best source. The
// check is exact: it has the best source's share of some modes of the plate in closed form.
#include <dsl/dsl.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

#include "example.hpp"

using field = dsl::array<double, 2>;

struct heated_step;  // The kernel's name in profilers.

// The edges are cold. A step's length times the conductivity is a fifth of a cell's area.
static constexpr auto heat = dsl::vectorize<heated_step>([](auto u, auto source) {
  const auto cold = dsl::boundary::zero;
  auto around = dsl::shift(u, 1, cold, 0) + dsl::shift(u, -1, cold, 0) + dsl::shift(u, 1, cold, 1) +
                dsl::shift(u, -1, cold, 1);
  return u + 0.2 * (around - 4 * u) + source;
});

// A source costs this times half its square, the picture half the square of its error.
static constexpr double cost = 20;

// The target: 1 in a heart, 0 around it.
static field heart(std::int64_t n) {
  const auto shape = dsl::vectorize([](auto x, auto y) {
    auto disc = x * x + y * y - 1;
    return where(disc * disc * disc < x * x * y * y * y, 1.0, 0.0);
  });
  const dsl::array<double> x = dsl::linspace(-1.5, 1.5, n), y = dsl::linspace(1.5, -1.5, n);
  return shape(x, dsl::expand_dims(y, 1));
}

struct outcome { field u, slope; };  // The last temperatures, the derivatives of the loss.
static outcome heated(const field& source, const field& target, std::int64_t steps) {
  field u = dsl::zeros<double>(source.extent(0), source.extent(1));
  const auto found = dsl::iterate_gradient(
      steps, heat, [&](auto last) { return 0.5 * dsl::sum(square(last - target)); }, dsl::state(u),
      source);
  return {u, dsl::eval(found.template parameter<0>() + cost * source)};
}

// The best source, and how many directions conjugate gradients took.
struct solution {
  field source;
  std::int64_t directions;
};
static solution best_source(const field& target, std::int64_t steps) {
  const field nothing = dsl::eval(0 * target);
  solution found{nothing, 0};
  field residual = dsl::eval(-heated(nothing, target, steps).slope), direction = residual;
  dsl::scalar<double> squares = dsl::sum(residual * residual), alpha, beta;
  const double enough = 1e-16 * squares.value();
  for (; squares.value() > enough; ++found.directions) {
    const field curved = heated(direction, nothing, steps).slope;
    alpha = squares / dsl::sum(direction * curved);
    found.source += alpha * direction;
    residual -= alpha * curved;
    beta = dsl::sum(residual * residual) / squares;
    squares = beta * squares;
    direction = residual + beta * direction;
  }
  return found;
}

// The largest error of the source's share of the 5 x 5 slowest modes, relative to the largest
// share. A mode's temperature is multiplied by `fades` in each step, so that a source of 1 heats it
// to `gain` in all steps.
static double worst_share(const field& source, const field& target, std::int64_t steps) {
  const std::int64_t n = source.extent(0), modes = 5;
  const double angle = std::numbers::pi / static_cast<double>(n + 1);
  double worst = 0, largest = 0;
  for (std::int64_t a = 1; a <= modes; ++a)
    for (std::int64_t b = 1; b <= modes; ++b) {
      const auto wave = [&](std::int64_t k) {
        return sin(angle * static_cast<double>(k) * dsl::arange<double>(1, n + 1));
      };
      const auto share = [&](const field& of) {
        return dsl::sum(of * wave(b) * dsl::expand_dims(wave(a), 1)).value();
      };
      const auto slow = [&](std::int64_t k) {
        return std::pow(std::sin(angle * static_cast<double>(k) / 2), 2);
      };
      const double fades = 1 - 0.8 * (slow(a) + slow(b)),
                   gain = (1 - std::pow(fades, static_cast<double>(steps))) / (1 - fades),
                   want = share(target) * gain / (gain * gain + cost);
      worst = std::max(worst, std::abs(share(source) - want));
      largest = std::max(largest, std::abs(want));
    }
  return worst / largest;
}

// The source and the last temperatures, each from its lowest to its highest value.
static void draw(const std::string& out, const field& source, const field& u) {
  const std::int64_t n = u.extent(0), side = 240, gap = 4, width = 2 * side + gap;
  const std::vector<colour> palette = inferno();
  std::vector<colour> pixels(static_cast<std::size_t>(width * side), white);
  std::int64_t from = 0;
  for (const field* each : {&source, &u}) {
    const std::vector<double> values = each->copy_to_host();
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    for (std::int64_t i = 0; i < side; ++i)
      for (std::int64_t j = 0; j < side; ++j) {
        const double v = values[static_cast<std::size_t>(i * n / side * n + j * n / side)];
        pixels[static_cast<std::size_t>(i * width + from + j)] =
            palette[static_cast<std::size_t>(255 * (v - *low) / (*high - *low))];
      }
    from += side + gap;
  }
  write_png(out, width, pixels);
}

static bool run(const example& e) {
  const field target = heart(e.size);
  heated(target, target, e.steps);  // Loads the kernels.
  wait_for_device();
  const double begin = seconds_now();
  const solution found = best_source(target, e.steps);
  print_speed("a direction", (seconds_now() - begin) / static_cast<double>(found.directions),
              static_cast<double>(e.steps * target.size()), "cells");

  const field u = heated(found.source, target, e.steps).u;
  const dsl::scalar<double> error = dsl::norm(u - target) / dsl::norm(target);
  std::printf("heart   %lld directions, error %.1f %%\n", static_cast<long long>(found.directions),
              100 * error.value());
  if (!e.out.empty()) draw(e.out, found.source, u);
  return check("source of the slowest modes, error", worst_share(found.source, target, e.steps),
               1e-6);
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "Optimal control of heat: a source that leads to a given picture.",
                      .size = 64,
                      .size_is = "the plate has N x N cells",
                      .steps = 100,
                      .picture = "draw the source and what it leads to"},
                     run);
}

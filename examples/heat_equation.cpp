// Heat flow in a plate with cold edges: du/dt = laplacian(u), from the differences between a cell
// and its four neighbours. dsl::shift reads a neighbour, which is 0 beyond the edges; dsl::iterate
// runs the steps on the device, and none waits for the host. The check is exact: the plate's
// slowest mode decays by the same known factor in each step, from any initial state.
#include <dsl/dsl.hpp>

#include <cmath>
#include <numbers>

#include "example.hpp"

struct heat_step;  // The kernel's name in profilers.

static constexpr auto flow = dsl::vectorize<heat_step>([](auto u, auto rate) {
  const auto cold = dsl::boundary::zero;
  auto around = dsl::shift(u, 1, cold, 0) + dsl::shift(u, -1, cold, 0) + dsl::shift(u, 1, cold, 1) +
                dsl::shift(u, -1, cold, 1);
  return (1 - 4 * rate) * u + rate * around;
});

// The initial temperatures: 1 in a ring, a disc and a bar, 0 elsewhere.
static dsl::array<float, 2> hot_places(std::int64_t rows, std::int64_t columns) {
  const auto shapes = dsl::vectorize([](auto x, auto y) {
    auto ring = abs(hypot(x - 0.9, y - 1.0) - 0.5) < 0.12;
    auto disc = hypot(x - 0.9, y - 1.0) < 0.16;
    auto bar = abs(x - 2.2) < 0.15 && abs(y - 1.0) < 0.7;
    return where(ring || disc || bar, 1.0f, 0.0f);
  });
  return shapes(dsl::linspace<float>(0, 3, columns),
                dsl::expand_dims(dsl::linspace<float>(0, 2, rows), 1));
}

static bool run(const example& e) {
  const std::int64_t columns = e.size, rows = 2 * e.size / 3 + 1;
  // Time step times conductivity, for cells of width 1. Stable up to 1/4.
  const float rate = 0.2f;
  dsl::array<float, 2> u = hot_places(rows, columns);

  const double to_right = std::numbers::pi / static_cast<double>(columns + 1),
               down = std::numbers::pi / static_cast<double>(rows + 1);
  const dsl::array<double, 2> mode =
      sin(to_right * dsl::arange<double>(1, columns + 1)) *
      dsl::expand_dims(sin(down * dsl::arange<double>(1, rows + 1)), 1);
  const double before = dsl::sum(mode * u).value();

  const auto run_steps = [&](std::int64_t steps) {
    dsl::iterate(steps, flow, dsl::state(u), rate);
  };
  const double seconds = seconds_a_step(e.steps, run_steps);
  const auto cells = static_cast<double>(u.size());
  print_speed("a step", seconds, cells, "cells", 8 * cells);
  if (!e.out.empty()) write_png(e.out, columns, u.copy_to_host(), 0, 1, inferno(24));

  const double fades =
      1 - 4 * rate * (std::pow(std::sin(to_right / 2), 2) + std::pow(std::sin(down / 2), 2));
  const double want = before * std::pow(fades, static_cast<double>(e.steps));
  return check("slowest mode, relative error", std::abs(dsl::sum(mode * u).value() - want) / want,
               1e-4);
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "The heat equation on a plate with cold edges.",
                      .size = 3072,
                      .size_is = "the plate is N cells wide, 2N/3 high",
                      .steps = 1000,
                      .picture = "draw the temperatures"},
                     run);
}

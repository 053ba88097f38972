// Waves through two slits: d2u/dt2 = laplacian(u), and u is 0 on a wall with two openings and at
// the basin's edges. A loop on the device runs a lambda with two results: each cell needs its four
// neighbours and its own value one step before. The check is the energy, which the leapfrog method
// conserves: after many steps it is that of the first state.
#include <dsl/dsl.hpp>

#include <cmath>
#include <tuple>

#include "example.hpp"

using field = dsl::array<float, 2>;

static constexpr auto around = [](auto u) {
  const auto edge = dsl::boundary::zero;
  return dsl::shift(u, 1, edge, 0) + dsl::shift(u, -1, edge, 0) + dsl::shift(u, 1, edge, 1) +
         dsl::shift(u, -1, edge, 1);
};

struct wave_step;  // The kernel's name in profilers.

// `rate` is the square of (time step / cell width); `open` is 0 on the wall, else 1.
static constexpr auto move =
    dsl::vectorize<wave_step>([](auto u, auto before, auto open, auto rate) {
      return std::tuple{open * (2 * u - before + rate * (around(u) - 4 * u)), u};
    });

// The energy between two states: kinetic, and potential as the product of their gradients.
static constexpr auto energy_of = dsl::vectorize([](auto u, auto before, auto rate) {
  auto speed = dsl::cast<double>(u) - before;
  return dsl::sum(speed * speed - rate * before * (dsl::cast<double>(around(u)) - 4 * u));
});

// 0 on a wall with two openings, at a third of the width, else 1.
static field wall_with_slits(std::int64_t rows, std::int64_t columns) {
  const auto open = dsl::vectorize([](auto x, auto y) {
    auto wall = abs(x - 1) < 0.012;
    auto slit = abs(abs(y - 1) - 0.2) < 0.05;
    return where(wall && !slit, 0.0f, 1.0f);
  });
  return open(dsl::linspace<float>(0, 3, columns),
              dsl::expand_dims(dsl::linspace<float>(0, 2, rows), 1));
}

// The height at x of a packet of six waves, which moves to the right and has not met the wall yet.
static constexpr auto packet = dsl::vectorize([](auto x, auto open) {
  auto from_middle = (x - 0.55f) / 0.3f;
  return open * where(abs(from_middle) < 1, sin(40 * x) * (1 - from_middle * from_middle), 0.0f);
});

static bool run(const example& e) {
  const std::int64_t columns = e.size, rows = 2 * e.size / 3 + 1;
  const float rate = 0.25f, width = 3.0f / static_cast<float>(columns - 1);
  const field open = wall_with_slits(rows, columns);
  const dsl::array<float> x = dsl::linspace<float>(0, 3, columns);
  field u = packet(x, open), before = packet(x + std::sqrt(rate) * width, open);

  const double first = energy_of(u, before, rate).value();
  const auto run_steps = [&](std::int64_t steps) {
    dsl::iterate(steps, move, dsl::state(u, before), open, rate);
  };
  const double seconds = seconds_a_step(e.steps, run_steps);
  const auto cells = static_cast<double>(u.size());
  print_speed("a step", seconds, cells, "cells", 20 * cells);
  if (!e.out.empty())
    write_png(e.out, columns, dsl::eval(where(open == 0, 1.0f, u)).copy_to_host(), -0.3f, 0.3f,
              viridis());
  return check("energy, relative error",
               std::abs(energy_of(u, before, rate).value() - first) / first, 1e-4);
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "Waves through two slits.",
                      .size = 1536,
                      .size_is = "the basin is N cells wide, 2N/3 high",
                      .steps = 1300,
                      .picture = "draw the waves"},
                     run);
}

// The Gray-Scott reaction: u is fed and consumed by v, v decays, both diffuse. Spots, stripes and
// waves grow from a few drops of v. One lambda with two results, in a loop on the device;
// dsl::shift reads neighbours, with periodic boundaries (boundary::wrap). The feed rate is a column
// and the kill rate a row, so each point of the picture has its own pair of rates: Pearson's map.
#include <dsl/dsl.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "example.hpp"

struct gray_scott;  // The kernel's name in profilers.

static constexpr auto laplacian = [](auto x) {
  const auto ring = dsl::boundary::wrap;
  return dsl::shift(x, 1, ring, 0) + dsl::shift(x, -1, ring, 0) + dsl::shift(x, 1, ring, 1) +
         dsl::shift(x, -1, ring, 1) - 4 * x;
};
// J. E. Pearson, Complex Patterns in a Simple System, Science 261, 1993.
static constexpr auto react = dsl::vectorize<gray_scott>([](auto u, auto v, auto feed, auto kill) {
  auto eaten = u * v * v;
  return std::tuple{u + 0.16f * laplacian(u) - eaten + feed * (1 - u),
                    v + 0.08f * laplacian(v) + eaten - (feed + kill) * v};
});

using field = dsl::array<float, 2>;

// Drops of v: one cell in 150, with its neighbours to the right, below, and diagonally between.
static field drops(std::int64_t rows, std::int64_t columns) {
  std::mt19937 bits(1);
  std::vector<float> v(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (bits() % 150 != 0) continue;
    for (const std::size_t at : {i, i + 1, i + static_cast<std::size_t>(columns),
                                 i + static_cast<std::size_t>(columns) + 1})
      v[at % v.size()] = 0.5f;
  }
  return dsl::reshape(dsl::to_device(v), rows, columns);
}

static bool run(const example& e) {
  const std::int64_t columns = e.size, rows = 2 * e.size / 3 + 1;
  field v = drops(rows, columns), u = 1 - v;
  const dsl::array<float> kill = dsl::linspace<float>(0.055f, 0.068f, columns);
  const field feed = dsl::expand_dims(dsl::linspace<float>(0.065f, 0.02f, rows), 1);

  const auto run_steps = [&](std::int64_t steps) {
    dsl::iterate(steps, react, dsl::state(u, v), feed, kill);
  };
  const double seconds = seconds_a_step(e.steps, run_steps);
  const auto cells = static_cast<double>(u.size());
  print_speed("a step", seconds, cells, "cells", 16 * cells);
  if (!e.out.empty()) write_png(e.out, columns, v.copy_to_host(), 0, 0.4f, viridis(32));

  // One more step, compared with a plain loop.
  const std::vector<float> U = u.copy_to_host(), V = v.copy_to_host();
  run_steps(1);
  const std::vector<float> got_u = u.copy_to_host(), got_v = v.copy_to_host();
  double worst = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto at = [&](const std::vector<float>& x, std::int64_t row, std::int64_t column) {
        return static_cast<double>(x[static_cast<std::size_t>((row + rows) % rows * columns +
                                                              (column + columns) % columns)]);
      };
      const auto spread = [&](const std::vector<float>& x) {
        return at(x, i - 1, j) + at(x, i + 1, j) + at(x, i, j - 1) + at(x, i, j + 1) -
               4 * at(x, i, j);
      };
      const double f = 0.065 - 0.045 * static_cast<double>(i) / static_cast<double>(rows - 1),
                   k = 0.055 + 0.013 * static_cast<double>(j) / static_cast<double>(columns - 1);
      const double a = at(U, i, j), b = at(V, i, j), eaten = a * b * b;
      worst =
          std::max({worst, std::abs(at(got_u, i, j) - (a + 0.16 * spread(U) - eaten + f * (1 - a))),
                    std::abs(at(got_v, i, j) - (b + 0.08 * spread(V) + eaten - (f + k) * b))});
    }
  }
  return check("a step, worst error", worst, 1e-6);
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "Gray and Scott's reaction and diffusion, over its two rates.",
                      .size = 960,
                      .size_is = "the field is N cells wide, 2N/3 high",
                      .steps = 5000,
                      .picture = "draw v, with the kill rate across and the feed rate upwards"},
                     run);
}

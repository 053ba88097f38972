// Conjugate gradients: the temperature of a plate with insulating discs, -div(c grad u) = 1. The
// solver is a lambda of eight lines: its step uses two sums of its own, the second one of what the
// first has changed, and neighbours of its state. It ends on the device. Dividing by the diagonal,
// Jacobi's preconditioner, saves most of the steps, as the conductivities c differ by a factor of
// 1000. The check computes the residual with loops in C++.
#include <dsl/dsl.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <vector>

#include "chart.hpp"
#include "example.hpp"

using field = dsl::array<double, 2>;
constexpr auto zero = dsl::boundary::zero;

// A cell conducts through `right` to the cell on its right and through `down` to the one below;
// beyond these two edges of the plate the temperature is 0, and the other two are insulated.
static constexpr auto diagonal = [](auto right, auto down) {
  return right + down + dsl::shift(right, 1, zero, 1) + dsl::shift(down, 1, zero, 0);
};
static constexpr auto conduct = [](auto u, auto right, auto down) {
  return diagonal(right, down) * u - right * dsl::shift(u, -1, zero, 1) -
         dsl::shift(right * u, 1, zero, 1) - down * dsl::shift(u, -1, zero, 0) -
         dsl::shift(down * u, 1, zero, 0);
};

struct plain_step;  // The kernels' names in profilers.
struct preconditioned_step;

static constexpr auto plain =
    dsl::vectorize<plain_step>([](auto x, auto r, auto p, auto rz, auto, auto right, auto down) {
      auto q = conduct(p, right, down);
      auto alpha = rz / dsl::sum(p * q);
      auto next = r - alpha * q;
      auto next_rz = dsl::sum(next * next);
      return std::tuple{x + alpha * p, next, next + next_rz / rz * p, next_rz, sqrt(next_rz)};
    });
static constexpr auto preconditioned = dsl::vectorize<preconditioned_step>(
    [](auto x, auto r, auto p, auto rz, auto, auto right, auto down) {
      auto q = conduct(p, right, down);
      auto alpha = rz / dsl::sum(p * q);
      auto next = r - alpha * q;
      auto z = next / diagonal(right, down);
      auto next_rz = dsl::sum(next * z);
      return std::tuple{x + alpha * p, next, z + next_rz / rz * p, next_rz, dsl::norm(next)};
    });

struct plate { field right, down; };
// Discs that conduct a thousandth; between two cells the conductivity is their harmonic mean.
static plate make_plate(std::int64_t n) {
  const auto conductivity = dsl::vectorize([](auto row, auto column) {
    auto y = 5 * row - floor(5 * row) - 0.5, x = 5 * column - floor(5 * column) - 0.5;
    return where(hypot(x, y) < 0.3, 0.001, 1.0);
  });
  const auto between =
      dsl::vectorize([](auto c, auto other) { return 2 * c * other / (c + other); });
  const auto at = (dsl::arange<double>(n) + 0.5) / static_cast<double>(n);
  const field c = conductivity(dsl::expand_dims(at, 1), at);
  const auto wall = dsl::boundary::clamp;
  return {dsl::eval(between(c, dsl::shift(c, -1, wall, 1))),
          dsl::eval(between(c, dsl::shift(c, -1, wall, 0)))};
}

struct solution {
  field u;
  std::vector<double> residuals;  // The norm after each step, relative to the right-hand side's.
};
template <class Step>
static solution solve(const char* name, const Step& step, const plate& c, const field& b,
                      const field& first, std::int64_t most_steps) {
  const double enough = 1e-10 * dsl::norm(b).value();
  field x, r, p;
  dsl::scalar<double> rz, residual;
  dsl::scalar<std::int64_t> ran;
  const auto run = [&](std::int64_t steps) {
    x = 0 * b;
    r = b;
    p = first;
    rz = dsl::sum(r * p);
    return dsl::iterate(steps, step, dsl::state(x, r, p, rz, residual), c.right, c.down,
                        dsl::until(residual < enough, ran));
  };
  run(1);  // Loads the kernels.
  wait_for_device();
  const double start = seconds_now();
  const dsl::array<double> history = std::get<1>(run(most_steps));
  const auto steps = static_cast<std::size_t>(ran.value());  // Waits.
  const double seconds = seconds_now() - start;
  std::printf("%s: %zu steps\n", name, steps);
  print_speed("a step", seconds / static_cast<double>(steps), static_cast<double>(b.size()),
              "cells");
  std::vector<double> residuals = history.copy_to_host();
  residuals.resize(steps);
  for (double& each : residuals) each *= 1e-10 / enough;
  return {x, residuals};
}

// The largest residual, cell by cell.
static double largest_residual(const field& u, const plate& c) {
  const std::int64_t n = u.extent(0);
  const std::vector<double> x = u.copy_to_host(), right = c.right.copy_to_host(),
                            down = c.down.copy_to_host();
  const auto at = [n](const std::vector<double>& of, std::int64_t i, std::int64_t j) {
    return i < 0 || j < 0 || i >= n || j >= n ? 0 : of[static_cast<std::size_t>(i * n + j)];
  };
  double worst = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const double mine = at(x, i, j), flow = at(right, i, j) * (mine - at(x, i, j + 1)) +
                                              at(right, i, j - 1) * (mine - at(x, i, j - 1)) +
                                              at(down, i, j) * (mine - at(x, i + 1, j)) +
                                              at(down, i - 1, j) * (mine - at(x, i - 1, j));
      worst = std::max(worst, std::abs(flow - 1));
    }
  return worst;
}

static bool run(const example& e) {
  const std::int64_t n = e.size;
  const plate c = make_plate(n);
  const field b = dsl::ones<double>(n, n),
              first = dsl::eval(b / dsl::vectorize(diagonal)(c.right, c.down));
  const solution without = solve("plain", plain, c, b, b, e.steps),
                 with = solve("preconditioned", preconditioned, c, b, first, e.steps);
  if (!e.out.empty()) {
    chart picture{"Conjugate gradients on a plate with insulating discs",
                  "",
                  "step",
                  "residual, power of ten",
                  {},
                  {{"plain", "#E69F00", 2, {}}, {"preconditioned", "#0072B2", 2, {}}}};
    for (std::size_t k = 0; k < without.residuals.size(); ++k) {
      picture.x.push_back(static_cast<double>(k + 1));
      picture.lines[0].y.push_back(std::log10(without.residuals[k]));
      picture.lines[1].y.push_back(k < with.residuals.size() ? std::log10(with.residuals[k]) : NAN);
    }
    write_svg(e.out, picture);
  }
  const bool fewer = with.residuals.size() < without.residuals.size();
  const double worst = std::max(largest_residual(without.u, c), largest_residual(with.u, c));
  return check("residual of any cell", worst, 1e-6) && fewer;
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "Conjugate gradients, plain and preconditioned by the diagonal.",
                      .size = 512,
                      .size_is = "the plate has N x N cells",
                      .steps = 100'000,
                      .steps_are = "the largest number of steps",
                      .picture = "draw the residuals over the steps, as SVG"},
                     run);
}

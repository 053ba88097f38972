// The Lorenz equations for a million starting points. The right-hand side is a lambda, from which
// dsl::ode::rk4 makes a Runge-Kutta step. dsl::iterate runs all steps in one kernel; elements do
// not depend on each other, so each thread keeps its own in registers. The points start in a small
// cube; after a few turns they are spread over the attractor, because the equations are chaotic.
#include <dsl/dsl.hpp>
#include <dsl/ode.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <vector>

#include "example.hpp"

struct lorenz;  // The kernel's name in profilers.

// E. N. Lorenz, Deterministic Nonperiodic Flow, Journal of the Atmospheric Sciences 20, 1963, with
// his parameters.
static constexpr auto equations = [](auto x, auto y, auto z) {
  return std::tuple{10 * (y - x), x * (28 - z) - y, x * y - dsl::constant(8.0) / 3 * z};
};
static constexpr auto step = dsl::ode::rk4<lorenz>(equations);

struct ensemble { dsl::array<float> x, y, z; };

// Starting points in a cube around (1, 1, 20) with edges of length 2: a low-discrepancy sequence,
// which fills the cube evenly. Its factors are powers of 1/p with p^4 = p + 1.
static ensemble starts(std::int64_t n) {
  const auto at = [&](double share) {
    return dsl::cast<float>(2 * remainder(share * dsl::arange<double>(n), 1.0));
  };
  return {at(0.8191725133961645), at(0.6710436067037893), 19 + at(0.5497004779019703)};
}

// Draws the number of points in each pixel on a logarithmic scale, x from -22 to 22 to the right
// and z from 0 to 50 upwards.
static void draw(const std::string& out, const ensemble& e) {
  const std::int64_t width = 480, height = 400;
  const std::vector<float> x = e.x.copy_to_host(), z = e.z.copy_to_host();
  std::vector<float> points(static_cast<std::size_t>(width * height));
  for (std::size_t k = 0; k < x.size(); ++k) {
    const auto column = static_cast<std::int64_t>((x[k] + 22) / 44 * width),
               row = static_cast<std::int64_t>((50 - z[k]) / 50 * height);
    if (column >= 0 && column < width && row >= 0 && row < height)
      points[static_cast<std::size_t>(row * width + column)] += 1;
  }
  const float most = *std::max_element(points.begin(), points.end());
  for (float& p : points) p = std::log(1 + p);
  write_png(out, width, points, 0, std::log(1 + most), inferno());
}

// The same steps by a plain loop in double.
static std::array<double, 3> by_hand(std::array<double, 3> p, std::int64_t steps, double h) {
  const auto slope = [](const std::array<double, 3>& q) {
    return std::array<double, 3>{10 * (q[1] - q[0]), q[0] * (28 - q[2]) - q[1],
                                 q[0] * q[1] - 8.0 / 3 * q[2]};
  };
  const auto moved = [](std::array<double, 3> q, double by, const std::array<double, 3>& d) {
    for (std::size_t i = 0; i < 3; ++i) q[i] += by * d[i];
    return q;
  };
  for (; steps > 0; --steps) {
    const auto k1 = slope(p), k2 = slope(moved(p, h / 2, k1)), k3 = slope(moved(p, h / 2, k2)),
               k4 = slope(moved(p, h, k3));
    p = moved(moved(moved(moved(p, h / 6, k1), h / 3, k2), h / 3, k3), h / 6, k4);
  }
  return p;
}

static bool run(const example& e) {
  const float h = 0.01f;
  const std::int64_t compared =
      std::min<std::int64_t>(e.steps, 100);  // Later, rounding errors have grown too large.
  auto [x, y, z] = starts(e.size);
  const std::array<std::vector<float>, 3> first{x.copy_to_host(), y.copy_to_host(),
                                                z.copy_to_host()};
  dsl::iterate(compared, step, dsl::state(x, y, z), h);
  const std::array<std::vector<float>, 3> then{x.copy_to_host(), y.copy_to_host(),
                                               z.copy_to_host()};

  double worst = 0;
  for (std::size_t k = 0; k < first[0].size(); k += 1 + first[0].size() / 1000) {
    const auto want =
        by_hand({first[0][k], first[1][k], first[2][k]}, compared, static_cast<double>(h));
    for (std::size_t i = 0; i < 3; ++i) worst = std::max(worst, std::abs(then[i][k] - want[i]));
  }

  if (e.steps > compared) {
    const double seconds = seconds_a_step(
        e.steps - compared, [&](std::int64_t k) { dsl::iterate(k, step, dsl::state(x, y, z), h); });
    print_speed("a step", seconds, static_cast<double>(e.size), "points");
  }
  if (!e.out.empty()) draw(e.out, {x, y, z});
  return check("after the first steps, worst error", worst, 1e-3);
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "Lorenz' equations for many starting points at once.",
                      .size = 1'000'000,
                      .size_is = "points",
                      .steps = 1000,
                      .picture = "draw where the points are in the end"},
                     run);
}

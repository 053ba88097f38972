// The shape of a hanging rope: beads on springs between two fixed ends, at rest where the energy is
// least. Only the energy is written; the force is its derivative, through a sum and neighbours. The
// beads move with friction until no force is left, the heavy ball method, all steps in one loop on
// the device. The check finds the same rope from the balance of tension and weight.
#include <dsl/dsl.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <vector>

#include "example.hpp"

struct rope_step;  // The kernel's name in profilers.

// The rope is 1.5 long without load and weighs 1; its ends are 1 apart. Pulled by a force f, it
// becomes longer by the share f / stiffness.
static constexpr double length = 1.5, stiffness = 20;

// The springs' energy and that of the height, for beads at (x, y) with a link after each.
static constexpr auto energy = [](auto x, auto y, auto links) {
  const auto last = dsl::boundary::clamp;
  auto longer = hypot(dsl::shift(x, -1, last) - x, dsl::shift(y, -1, last) - y) - length / links;
  return dsl::sum(0.5 * stiffness / length * links * longer * longer + y / links);
};

static constexpr auto swing = dsl::vectorize<rope_step>(
    [](auto x, auto y, auto u, auto v, auto, auto is_free, auto links, auto h, auto friction) {
      const auto [by_x, by_y] = dsl::grad<0, 1>(energy)(x, y, links);
      auto fx = where(is_free, -by_x, 0.0), fy = where(is_free, -by_y, 0.0);
      u = (1 - friction) * u + h * fx;
      v = (1 - friction) * v + h * fy;
      return std::tuple{x + h * u, y + h * v, u, v, dsl::max(hypot(fx, fy))};
    });

struct shape { std::vector<double> x, y; };

// The pull along x is the same in all links, that along y differs between neighbours by a bead's
// weight. Bisects for the pull along x with which the ends are 1 apart.
static shape by_balance(std::int64_t links) {
  const auto n = static_cast<double>(links);
  const auto hung = [&](double along) {
    shape s{{0}, {0}};
    for (std::int64_t k = 0; k < links; ++k) {
      const double down = (static_cast<double>(k) + 0.5 - n / 2) / n,
                   pull = std::hypot(along, down), l = length / n * (1 + pull / stiffness);
      s.x.push_back(s.x.back() + l * along / pull);
      s.y.push_back(s.y.back() + l * down / pull);
    }
    return s;
  };
  double low = 0, high = stiffness;
  for (int k = 0; k < 60; ++k) {
    const double middle = (low + high) / 2;
    (hung(middle).x.back() < 1 ? low : high) = middle;
  }
  return hung(low);
}

static bool run(const example& e) {
  const std::int64_t links = e.size;
  const auto n = static_cast<double>(links);
  const dsl::array<double> start = dsl::linspace(0.0, 1.0, links + 1);
  const dsl::array<std::int64_t> bead = dsl::arange<std::int64_t>(links + 1);
  const dsl::array<bool> is_free = bead > 0 && bead < links;

  // A step is stable up to 2 / (the highest frequency); the friction is that of the slowest swing.
  const double h = 0.9 / std::sqrt(n * stiffness / length), friction = 4 * h / std::sqrt(n);
  dsl::array<double> x, y, u, v;
  dsl::scalar<double> force;
  dsl::scalar<std::int64_t> ran;
  const auto drop = [&](std::int64_t steps) {
    x = start;
    y = 0 * start;
    u = 0 * start;
    v = 0 * start;
    dsl::iterate(steps, swing, dsl::state(x, y, u, v, force), is_free, n, h, friction,
                 dsl::until(force < 1e-10, ran));
  };
  drop(1);  // Loads the kernels.
  wait_for_device();
  const double begin = seconds_now();
  drop(e.steps);
  const std::int64_t steps = ran.value();  // Waits.
  print_speed("a step", (seconds_now() - begin) / static_cast<double>(steps), n + 1, "beads");

  const shape want = by_balance(links), got{x.copy_to_host(), y.copy_to_host()};
  double worst = 0, lowest = 0;
  for (std::size_t k = 0; k < want.x.size(); ++k) {
    worst = std::max(worst, std::hypot(got.x[k] - want.x[k], got.y[k] - want.y[k]));
    lowest = std::min(lowest, got.y[k]);
  }
  std::printf("rope    at rest after %lld steps, lowest point %.4f below the ends\n",
              static_cast<long long>(steps), -lowest);
  return check("beads, off by", worst, 1e-6);
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "The shape of a hanging rope, by minimising its energy.",
                      .size = 100,
                      .size_is = "links of the rope",
                      .steps = 1'000'000,
                      .steps_are = "the largest number of steps"},
                     run);
}

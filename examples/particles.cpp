// Particles as a struct: two galaxies pass each other, and tides pull the stars of one into a
// bridge and a tail. A star has a position and a velocity; each member is an array, and a formula
// of `star.x` is evaluated for all stars in one kernel. The other galaxy's centre follows a
// parabola, which is known at any time, so dsl::iterate runs all steps in one kernel.
#include <dsl/dsl.hpp>
#include <dsl/hana.hpp>

#include <boost/hana.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "example.hpp"

template <class X, class V>
struct star {
  BOOST_HANA_DEFINE_STRUCT(star, (X, x), (X, y), (V, vx), (V, vy));
};
using stars = star<dsl::array<float>, dsl::array<float>>;

struct galaxies;  // The kernel's name in profilers.

// After A. Toomre and J. Toomre, Galactic Bridges and Tails, Astrophysical Journal 178, 1972.
// Lengths are in units of the closest distance; times are such that G times the mass of the first
// galaxy is 1. Its centre is the origin. The other galaxy moves on a parabola (Barker's equation,
// solved with sinh) and also accelerates the origin.
static constexpr auto move =
    dsl::vectorize<galaxies>([](auto star, auto t, auto h, auto other_mass) {
      // Half a step of the positions, a step of the velocities, half a step of the positions.
      star.x = star.x + h / 2 * star.vx;
      star.y = star.y + h / 2 * star.vy;
      // The tangent of half the angle from the closest point.
      auto w = 2 * sinh(asinh(1.5 * sqrt((1 + other_mass) / 2) * t) / 3);
      auto other_x = 1 - w * w, other_y = 2 * w, distance = 1 + w * w;
      // 1 / distance^3, softened at distances below `soft`.
      auto towards = [](auto dx, auto dy, auto soft) {
        auto r2 = dx * dx + dy * dy + soft * soft;
        return 1 / (r2 * sqrt(r2));
      };
      auto own = towards(star.x, star.y, 0.0),
           others = other_mass * towards(other_x - star.x, other_y - star.y, 0.2);
      auto frame = other_mass / (distance * distance * distance);
      star.vx = star.vx + h * (others * (other_x - star.x) - own * star.x - frame * other_x);
      star.vy = star.vy + h * (others * (other_y - star.y) - own * star.y - frame * other_y);
      star.x = star.x + h / 2 * star.vx;
      star.y = star.y + h / 2 * star.vy;
      return star;
    });

// Stars on circular orbits of radii from 0.15 to 0.75, spread evenly over the disc (a Weyl sequence
// of squares).
static stars disc(std::int64_t n) {
  const auto number = dsl::arange<double>(n) + 0.5;
  const auto radius = sqrt(0.0225 + 0.54 * number / static_cast<double>(n));
  const auto angle = 2 * std::numbers::pi * remainder(number * number * std::numbers::phi, 1.0);
  return {dsl::cast<float>(radius * cos(angle)), dsl::cast<float>(radius * sin(angle)),
          dsl::cast<float>(-sin(angle) / sqrt(radius)),
          dsl::cast<float>(cos(angle) / sqrt(radius))};
}

static void draw(const std::string& out, const stars& s) {
  const std::int64_t width = 480, height = 400;
  const std::vector<float> x = s.x.copy_to_host(), y = s.y.copy_to_host();
  std::vector<float> light(static_cast<std::size_t>(width * height));
  for (std::size_t k = 0; k < x.size(); ++k) {
    const auto column = static_cast<std::int64_t>(280 + 38 * x[k]),
               row = static_cast<std::int64_t>(200 - 38 * y[k]);
    if (column >= 0 && column < width && row >= 0 && row < height)
      light[static_cast<std::size_t>(row * width + column)] += 1;
  }
  for (float& l : light) l = std::log(1 + l);
  write_png(out, width, light, 0, *std::max_element(light.begin(), light.end()), inferno());
}

static bool run(const example& e) {
  const double h = 8.0 / static_cast<double>(e.steps), begin = -4;
  const auto pass = [&](stars& s, std::int64_t from, std::int64_t steps, double other_mass) {
    dsl::iterate(steps, move, dsl::state(s), begin + h * (dsl::step + 0.5), h, other_mass,
                 dsl::from_step(from));
  };
  stars s = disc(e.size);
  std::int64_t done = 0;
  const double seconds = seconds_a_step(e.steps, [&](std::int64_t steps) {
    pass(s, done, steps, 1);
    done += steps;
  });
  print_speed("a step", seconds, static_cast<double>(e.size), "stars");
  if (!e.out.empty()) draw(e.out, s);

  // Without the other galaxy (mass 0), stars keep their energy and their orbit.
  stars alone = disc(e.size);
  pass(alone, 0, e.steps, 0);
  const auto radius = sqrt(alone.x * alone.x + alone.y * alone.y);
  const auto energy = (alone.vx * alone.vx + alone.vy * alone.vy) / 2 - 1 / radius;
  const double off = dsl::max(abs(-2 * energy * radius - 1)).value();
  const double apart = dsl::max(hypot(s.x, s.y)).value();
  return check("undisturbed, energy times radius off by", apart > 1.5 ? off : 1,
               2000 * h * h + 1e-4);
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "Stars as a struct of arrays: a galaxy disturbed by another one.",
                      .size = 200'000,
                      .size_is = "stars",
                      .steps = 4000,
                      .picture = "draw the stars"},
                     run);
}

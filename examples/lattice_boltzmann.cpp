// Flow in a cavity whose lid slides to the right, by the lattice Boltzmann method: D2Q9, or D3Q19
// with --three-dimensions, where the cavity repeats along z. Populations are slices of one array;
// dsl::shift moves them, and walls are cells that send back what they get.
#include <dsl/dsl.hpp>
#include <dsl/scan.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <utility>
#include <vector>

#include "example.hpp"

// Directions as steps along x, y and z. Those at 2k - 1 and 2k are opposite.
struct d2q9 {
  static constexpr int dimensions = 2, directions = 9;
  static constexpr int c[9][3] = {{},     {1, 0},   {-1, 0}, {0, 1}, {0, -1},
                                  {1, 1}, {-1, -1}, {1, -1}, {-1, 1}};
  static constexpr double rest = 4.0 / 9, straight = 1.0 / 9, diagonal = 1.0 / 36;
};
struct d3q19 {
  static constexpr int dimensions = 3, directions = 19;
  static constexpr int c[19][3] = {{},         {1, 0, 0},   {-1, 0, 0},  {0, 1, 0},   {0, -1, 0},
                                   {0, 0, 1},  {0, 0, -1},  {1, 1, 0},   {-1, -1, 0}, {1, -1, 0},
                                   {-1, 1, 0}, {1, 0, 1},   {-1, 0, -1}, {1, 0, -1},  {-1, 0, 1},
                                   {0, 1, 1},  {0, -1, -1}, {0, 1, -1},  {0, -1, 1}};
  static constexpr double rest = 1.0 / 3, straight = 1.0 / 18, diagonal = 1.0 / 36;
};
template <class Lattice>
constexpr double weight(int k) {
  return k == 0                         ? Lattice::rest
         : k <= 2 * Lattice::dimensions ? Lattice::straight
                                        : Lattice::diagonal;
}
constexpr int opposite(int k) { return k == 0 ? 0 : k % 2 == 1 ? k + 1 : k - 1; }

static constexpr std::uint8_t fluid = 0, wall = 1, lid = 2;

// Populations are stored less their values at rest, the weights: rounding then changes them less.
// Returns the density, less 1, and the momentum along each axis.
template <class Lattice>
static constexpr auto moments = [](const auto& f) {
  auto excess = f[0];
  for (int k = 1; k < Lattice::directions; ++k) excess = excess + f[k];
  std::array<decltype(excess), Lattice::dimensions> momentum;
  for (int axis = 0; axis < Lattice::dimensions; ++axis) {
    momentum[axis] = f[2 * axis + 1] - f[2 * axis + 2];
    for (int k = 2 * Lattice::dimensions + 1; k < Lattice::directions; ++k) {
      if (Lattice::c[k][axis] > 0) momentum[axis] = momentum[axis] + f[k];
      if (Lattice::c[k][axis] < 0) momentum[axis] = momentum[axis] - f[k];
    }
  }
  return std::pair{excess, momentum};
};

// The velocity along an odd direction, whose first step is forwards.
template <class Lattice>
static constexpr auto velocity_along = [](const auto& u, int k) {
  int axis = 0;
  while (Lattice::c[k][axis] == 0) ++axis;
  auto sum = u[axis];
  while (++axis < Lattice::dimensions) {
    if (Lattice::c[k][axis] > 0) sum = sum + u[axis];
    if (Lattice::c[k][axis] < 0) sum = sum - u[axis];
  }
  return sum;
};

// A step: populations arrive from the cells that they have left, and relax towards equilibrium at
// `rate`. Walls send them back; the lid, which moves at `speed`, adds its momentum.
template <class Lattice>
static constexpr auto advanced = [](auto f, auto cell, auto speed, auto rate) {
  constexpr int dimensions = Lattice::dimensions;
  for (int k = 0; k < Lattice::directions; ++k)
    for (int axis = 0; axis < dimensions; ++axis)
      if (const int step = Lattice::c[k][axis]; step != 0)
        f[k] =
            dsl::shift(f[k], step, axis == 2 ? dsl::boundary::wrap : dsl::boundary::zero, 2 - axis);
  auto [excess, u] = moments<Lattice>(f);
  auto density = 1 + excess;
  for (auto& component : u) component = component / density;
  auto squares = u[0] * u[0];
  for (int axis = 1; axis < dimensions; ++axis) squares = squares + u[axis] * u[axis];

  auto next = f;
  for (int k = 0; k < Lattice::directions; ++k) {
    const double w = weight<Lattice>(k);
    auto shape = -1.5 * squares;
    if (k > 0) {
      const bool is_odd = k % 2 == 1;
      auto along = velocity_along<Lattice>(u, is_odd ? k : k - 1);
      shape = shape + 4.5 * along * along + (is_odd ? 3 : -3) * along;
    }
    auto back = f[opposite(k)];
    if (const int c = Lattice::c[k][0]; c != 0)
      back = back + where(cell == lid, 6 * w * c * speed, 0);
    auto relaxed = f[k] + rate * (w * (excess + density * shape) - f[k]);
    next[k] = where(cell == fluid, relaxed, back);
  }
  return next;
};

template <class Lattice>
static constexpr auto step = dsl::vectorize<Lattice>([](auto... given) {
  // The populations, then the parameters.
  const std::tuple all{given...};
  constexpr std::size_t q = Lattice::directions;
  const auto f = [&]<std::size_t... K>(std::index_sequence<K...>) {
    return std::array{std::get<K>(all)...};
  }(std::make_index_sequence<q>{});
  return std::apply(
      [](auto... next) { return std::tuple{next...}; },
      advanced<Lattice>(f, std::get<q>(all), std::get<q + 1>(all), std::get<q + 2>(all)));
});
// The velocity along x and y in units of the lid's speed, and the mass of the fluid.
template <class Lattice>
static constexpr auto flow = dsl::vectorize([](auto cell, auto speed, auto... f) {
  const auto [excess, momentum] = moments<Lattice>(std::array{f...});
  auto density = 1 + excess, scale = 1 / (density * speed);
  return std::tuple{scale * momentum[0], scale * momentum[1],
                    dsl::sum<double>(where(cell == fluid, density, 0))};
});

// U. Ghia, K. N. Ghia, C. T. Shin, High-Re solutions for incompressible flow using the
// Navier-Stokes equations and a multigrid method, J. Comput. Phys. 48, 1982, table I: u / lid's
// speed at heights on the vertical line through the middle, for a Reynolds number of 100.
constexpr float reynolds = 100;
constexpr struct {
  double y, u;
} of_ghia[] = {{1.0000, 1.00000},  {0.9766, 0.84123},  {0.9688, 0.78871},  {0.9609, 0.73722},
               {0.9531, 0.68717},  {0.8516, 0.23151},  {0.7344, 0.00332},  {0.6172, -0.13641},
               {0.5000, -0.20581}, {0.4531, -0.21090}, {0.2813, -0.15662}, {0.1719, -0.10150},
               {0.1016, -0.06434}, {0.0703, -0.04775}, {0.0625, -0.04192}, {0.0547, -0.03717},
               {0.0000, 0.00000}};

// The largest difference from their table of the mean of two columns of u, from the bottom to the
// top, which is linear between the middles of cells.
static double difference_from_ghia(const std::vector<float>& left,
                                   const std::vector<float>& right) {
  std::vector<double> y{0}, u{0};
  for (std::size_t i = 0; i < left.size(); ++i) {
    y.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(left.size()));
    u.push_back((static_cast<double>(left[i]) + static_cast<double>(right[i])) / 2);
  }
  y.push_back(1);
  u.push_back(1);
  double worst = 0;
  for (const auto& [at, want] : of_ghia) {
    std::size_t i = 1;
    while (y[i] < at) ++i;
    const double got = std::lerp(u[i - 1], u[i], (at - y[i - 1]) / (y[i] - y[i - 1]));
    worst = std::max(worst, std::abs(got - want));
  }
  return worst;
}

// Draws the speed, and stream lines. u and v are in units of the lid's speed, from the bottom up.
static void draw(const std::string& out, const dsl::array<float, 2>& u,
                 const dsl::array<float, 2>& v) {
  const std::int64_t n = u.extent(0);
  // Stream lines are the contours of the stream function; they are closer in slow regions.
  const dsl::array<float, 2> stream = dsl::cumsum(u, dsl::axis(0));
  const dsl::array<float, 2> level = floor(48 * sqrt(abs(stream) / static_cast<float>(n)));
  const auto edge = dsl::boundary::clamp;
  const auto line =
      level != dsl::shift(level, 1, edge, 0) || level != dsl::shift(level, 1, edge, 1);
  const dsl::array<float, 2> picture = where(line, 1.0f, min(0.99f, sqrt(hypot(u, v))));
  std::vector<colour> palette = viridis(255);
  palette.push_back(white);
  write_png(out, n, dsl::flip(picture, 0).copy_to_host(), 0, 1, palette);
}

template <class Lattice>
static bool run_in(const example& e) {
  constexpr std::size_t q = Lattice::directions;
  // Around the fluid are walls, one cell thick.
  const std::int64_t n = e.size, side = n + 2,
                     planes = Lattice::dimensions == 2 ? 1 : std::max<std::int64_t>(12, n / 8);
  const float speed = 0.1f, viscosity = speed * static_cast<float>(n) / reynolds,
              rate = 1 / (3 * viscosity + 0.5f);
  const dsl::slice inside(1, -1), all;
  dsl::array<std::uint8_t, 3> cell = dsl::full<std::uint8_t>(wall, planes, side, side);
  cell(all, inside, inside) = fluid;
  cell(all, -1, all) = lid;

  // Each direction's populations are a slice. At first everything is at rest.
  dsl::array<float, 4> f = dsl::zeros<float>(q, planes, side, side);
  std::array part = [&]<std::size_t... K>(std::index_sequence<K...>) {
    return std::array{f(K)...};
  }(std::make_index_sequence<q>{});
  dsl::array<float, 3> u(planes, side, side), v = u;
  const auto look = [&] {
    dsl::scalar<double> mass;
    std::apply([&](auto&... x) { dsl::tie(u, v, mass) = flow<Lattice>(cell, speed, x...); }, part);
    return mass.value();
  };
  const double before = look();

  const double seconds = seconds_a_step(e.steps, [&](std::int64_t steps) {
    std::apply(
        [&](auto&... x) {
          dsl::iterate(steps, step<Lattice>, dsl::state(x...), cell, speed, rate);
        },
        part);
  });
  const auto cells = static_cast<double>(cell.size());
  print_speed("a step", seconds, cells, "cells", (8 * q + 1) * cells);

  const double mass = look();
  const dsl::array<float, 2> across = u(planes / 2, inside, inside),
                             up = v(planes / 2, inside, inside);
  if (!e.out.empty()) draw(e.out, across, up);
  const bool right = check("mass, relative error", std::abs(mass - before) / before, 1e-4);
  if (const std::int64_t least = 150 * n; e.steps < least) {
    std::printf("steady after %lld steps, when the flow is compared\n",
                static_cast<long long>(least));
    return right;
  }
  // The middle of an even number of columns is between two of them.
  const double off = difference_from_ghia(across(all, (n - 1) / 2).copy_to_host(),
                                          across(all, n / 2).copy_to_host());
  return check("u, from the table of Ghia et al. off by", off, 0.01) && right;
}

static bool run(const example& e) { return e.chosen ? run_in<d3q19>(e) : run_in<d2q9>(e); }

int main(int argc, char** argv) {
  return run_example(
      argc, argv,
      {.shows = "Flow in a cavity with a moving lid, by the lattice Boltzmann method.",
       .size = 256,
       .size_is = "the cavity is N cells wide and high",
       .steps = 40'000,
       .picture = "draw the speed and stream lines",
       .option = "--three-dimensions",
       .option_is = "D3Q19 in place of D2Q9; the flow is the same along z"},
      run);
}

// Pi from random points: of those in the unit square a share of pi / 4 lies within the circle. One kernel, which reads no memory.
// The random numbers are a formula too: the i-th number of SplitMix64 is a hash of i, in integer operations that are traced like
// any other. So each element draws its own, in any order, and the result is the same on every device.
#include <dsl/dsl.hpp>

#include <cmath>
#include <numbers>
#include <tuple>
#include <vector>

#include "example.hpp"

// G. L. Steele, D. Lea and C. H. Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014: the i-th number, i from 0
// on.
static constexpr auto random_bits = [](auto i, auto seed) {
  auto z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
};
// From 0 to 1, of 24 bits.
static constexpr auto uniform = [](auto i, auto seed) { return dsl::cast<float>(random_bits(i, seed) >> 40) * 0x1p-24f; };

struct points;  // the kernels' names in profilers
struct count_inside;

static constexpr auto point =
    dsl::vectorize<points>([](auto i, auto seed) { return std::tuple{uniform(2 * i, seed), uniform(2 * i + 1, seed)}; });
static constexpr auto inside = dsl::vectorize<count_inside>([](auto i, auto seed) {
  auto x = uniform(2 * i, seed), y = uniform(2 * i + 1, seed);
  return dsl::count_nonzero(x * x + y * y < 1);
});

static void draw(const std::string& out, std::uint64_t seed) {
  const std::int64_t pixels = 480, n = 4000;
  dsl::array<float> x(n), y(n);
  dsl::tie(x, y) = point(dsl::arange<std::uint64_t>(n), seed);
  const std::vector<float> xs = x.copy_to_host(), ys = y.copy_to_host();
  std::vector<std::uint8_t> picture(static_cast<std::size_t>(pixels * pixels));
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const auto column = static_cast<std::int64_t>(xs[k] * (pixels - 3)),
               row = static_cast<std::int64_t>((1 - ys[k]) * (pixels - 3));
    for (std::int64_t i = row; i < row + 3; ++i)
      for (std::int64_t j = column; j < column + 3; ++j)
        picture[static_cast<std::size_t>(i * pixels + j)] = xs[k] * xs[k] + ys[k] * ys[k] < 1 ? 1 : 2;
  }
  write_png(out, pixels, picture, {white, blue, orange});
}

static bool run(const example& e) {
  const std::uint64_t seed = 1234567;
  dsl::scalar<std::int64_t> hits;
  const double seconds = seconds_of([&] { hits = inside(dsl::arange<std::uint64_t>(e.size), seed); });
  const auto n = static_cast<double>(e.size), pi = 4 * static_cast<double>(hits.value()) / n;
  print_speed("points drawn and counted", seconds, n, "points");
  std::printf("pi      %.6f\n", pi);
  if (!e.out.empty()) draw(e.out, seed);

  // The first numbers of the reference implementation for this seed, and then five standard deviations.
  dsl::array<std::uint64_t> first = dsl::vectorize(random_bits)(dsl::arange<std::uint64_t>(3), seed);
  const bool same =
      first.copy_to_host() == std::vector<std::uint64_t>{6457827717110365317u, 3203168211198807973u, 9817491932198370423u};
  const double deviation = 4 * std::sqrt(std::numbers::pi / 4 * (1 - std::numbers::pi / 4) / n);
  return check("pi, off by", same ? std::abs(pi - std::numbers::pi) : 1, 5 * deviation);
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "Pi by the Monte Carlo method, random numbers by a traced hash.",
                      .size = 100'000'000,
                      .size_is = "points",
                      .picture = "draw the first 4000 points"},
                     run);
}

// Pi from random points: a share of pi / 4 of the points in the unit square lies within the circle.
// One kernel, which reads no memory: a random number is a formula of a key and of the element's
// position, so each element computes its own, and the result is the same on every device.
#include <dsl/random.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "example.hpp"

struct count_inside;  // The kernel's name in profilers.

static constexpr auto inside = dsl::vectorize<count_inside>(
    [](auto x, auto y) { return dsl::count_nonzero(x * x + y * y < 1); });

template <class E> static void draw(const std::string& out, const E& x, const E& y) {
  const std::int64_t pixels = 480;
  const std::vector<float> xs = dsl::eval(x).copy_to_host(), ys = dsl::eval(y).copy_to_host();
  std::vector<std::uint8_t> picture(static_cast<std::size_t>(pixels * pixels));
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const auto column = static_cast<std::int64_t>(xs[k] * (pixels - 3)),
               row = static_cast<std::int64_t>((1 - ys[k]) * (pixels - 3));
    for (std::int64_t i = row; i < row + 3; ++i)
      for (std::int64_t j = column; j < column + 3; ++j)
        picture[static_cast<std::size_t>(i * pixels + j)] =
            xs[k] * xs[k] + ys[k] * ys[k] < 1 ? 1 : 2;
  }
  write_png(out, pixels, picture, {white, blue, orange});
}

static bool run(const example& e) {
  const dsl::random::key key{2026};
  const auto x = dsl::random::uniform<float>(key.fold(0), e.size),
             y = dsl::random::uniform<float>(key.fold(1), e.size);
  dsl::scalar<std::int64_t> hits;
  const double seconds = seconds_of([&] { hits = inside(x, y); });
  const auto n = static_cast<double>(e.size), pi = 4 * static_cast<double>(hits.value()) / n;
  print_speed("points drawn and counted", seconds, n, "points");
  std::printf("pi      %.6f\n", pi);
  const dsl::slice first(0, std::min<std::int64_t>(e.size, 4000));
  if (!e.out.empty()) draw(e.out, x(first), y(first));

  const double deviation = 4 * std::sqrt(std::numbers::pi / 4 * (1 - std::numbers::pi / 4) / n);
  return check("pi, off by", std::abs(pi - std::numbers::pi), 5 * deviation);
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "Pi by the Monte Carlo method, a formula of random numbers.",
                      .size = 100'000'000,
                      .size_is = "points",
                      .picture = "draw the first 4000 points"},
                     run);
}

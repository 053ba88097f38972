// The demo's coupled fields with every strategy, against float64: random fields over a thousand
// steps, and the three steps from ones that stay finite.
#include "../on_device.hpp"
#include "../rk4.hpp"

#include <array>
#include <cmath>
#include <random>

namespace {

using dsl::strategy;
using c64 = std::complex<double>;

struct coupled_loop : on_device {
  static std::vector<strategy> strategies() {
    if (!has_grid()) return {strategy::launches};
    std::vector<strategy> all{strategy::launches, strategy::one_block, strategy::cooperative,
                              strategy::streamed};
    if (!simulated()) all.push_back(strategy::graph);
    return all;
  }
};
ON_EVERY_DEVICE(coupled_loop);

constexpr auto step = dsl::vectorize([](auto F, auto G, auto d, auto h, auto scale) {
  const auto [Fn, Gn] = rk4_fields(F, G, d, h);
  return std::tuple{Fn, Gn, dsl::sum(scale * Fn)};
});

struct fields { std::vector<c64> F, G; };

// As in the demo: F Hermitian and near 0, G real and near 1, so that nothing grows.
fields random_fields(std::size_t n) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> noise(-1, 1);
  fields f{std::vector<c64>(n * n), std::vector<c64>(n * n)};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) {
      const c64 each(0.02 * (1 + noise(random)), i == j ? 0 : 0.02 * noise(random));
      f.F[i * n + j] = c32(each);
      f.F[j * n + i] = std::conj(c64(c32(each)));
      f.G[i * n + j] = f.G[j * n + i] = static_cast<float>(0.9 + 0.1 * noise(random));
    }
  return f;
}

// Returns delta after each step.
std::vector<c64> reference(fields f, c64 delta, double h, c64 scale, int steps) {
  const auto slope = [](c64 F, c64 G, c64 d) {
    return std::array{c64(0, -2) * F - c64(0, 1) * d * (2.0 * G - 1.0),
                      c64(0, -1) * (std::conj(d) * F - d * std::conj(F))};
  };
  std::vector<c64> history;
  for (int k = 0; k < steps; ++k) {
    c64 sum = 0;
    for (std::size_t i = 0; i < f.F.size(); ++i) {
      const c64 F = f.F[i], G = f.G[i];
      const auto a = slope(F, G, delta), b = slope(F + h / 2 * a[0], G + h / 2 * a[1], delta),
                 c = slope(F + h / 2 * b[0], G + h / 2 * b[1], delta),
                 d = slope(F + h * c[0], G + h * c[1], delta);
      f.F[i] += h / 6 * (a[0] + 2.0 * b[0] + 2.0 * c[0] + d[0]);
      f.G[i] += h / 6 * (a[1] + 2.0 * b[1] + 2.0 * c[1] + d[1]);
      sum += f.F[i];
    }
    history.push_back(delta = scale * sum);
  }
  return history;
}

dsl::array<c32> to_device(const std::vector<c64>& values) {
  return dsl::to_device(std::vector<c32>(values.begin(), values.end()));
}

// Few threads, so that every strategy has enough rows.
const dsl::launch few{.block = 32, .grid = 4};

TEST_P(coupled_loop, a_thousand_steps) {
  const std::size_t n = simulated() ? 20 : 50;
  const fields start = random_fields(n);
  const c64 scale = c64(c32(1.0f / static_cast<float>(n * n)));
  const float h = 1e-3f;
  const c64 first(0.02, 0.001);
  const auto want = reference(start, c32(first), h, scale, 1000);
  for (const strategy s : strategies()) {
    auto F = to_device(start.F), G = to_device(start.G);
    dsl::scalar<c32> delta = c32(first);
    const auto got =
        dsl::iterate(1000, step, dsl::state(F, G, delta), h, c32(scale), s, few).copy_to_host();
    double worst = 0;
    for (std::size_t k = 0; k < 1000; ++k)
      worst = std::max(worst, std::abs(c64(got[k]) - want[k]) / std::abs(want[k]));
    EXPECT_LT(worst, 5e-5) << int(s);
    RecordProperty("error_" + std::to_string(int(s)), std::to_string(worst));
  }
}

TEST_P(coupled_loop, three_steps_from_ones) {
  const std::size_t n = simulated() ? 20 : 60;
  const fields ones{std::vector<c64>(n * n, 1), std::vector<c64>(n * n, 1)};
  const auto want = reference(ones, 1, 1e-4f, 1, 3);
  for (const strategy s : strategies()) {
    auto F = to_device(ones.F), G = to_device(ones.G);
    dsl::scalar<c32> delta = c32(1);
    const auto got =
        dsl::iterate(3, step, dsl::state(F, G, delta), 1e-4f, c32(1), s, few).copy_to_host();
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_LT(std::abs(c64(got[k]) - want[k]) / std::abs(want[k]), 2e-5) << int(s) << ' ' << k;
  }
}

}  // namespace

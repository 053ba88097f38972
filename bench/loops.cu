// Time loops on the GPU: coupled fields with a sum fed back, by every strategy, and an ensemble without. Wall time of a call of iterate,
// waiting included; median of 15. For the ensemble the arithmetic that this GPU does is measured beside it.
#include "measure.hpp"

#include "../tests/rk4.hpp"

#include <chrono>
#include <string>

#include <dsl/ode.hpp>

struct coupled_loop;
static constexpr auto coupled = dsl::vectorize<coupled_loop>([](auto F, auto G, auto d, auto h, auto scale) {
  const auto [Fn, Gn] = rk4_fields(F, G, d, h);
  return std::tuple{Fn, Gn, dsl::sum(scale * Fn)};
});

struct lorenz_loop;
static constexpr auto lorenz = dsl::ode::rk4<lorenz_loop>([](auto x, auto y, auto z) {
  return std::tuple{10.0f * (y - x), x * (28.0f - z) - y, x * y - (8.0f / 3.0f) * z};
});

template <class Start, class Run>
static double median_wall_ms(Start&& start, Run&& run) {
  std::vector<double> times;
  for (int k = 0; k < 18; ++k) {
    start();
    dsl::device::current().synchronize();
    const auto begin = std::chrono::steady_clock::now();
    run();
    dsl::device::current().synchronize();
    if (k >= 3) times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + 7, times.end());
  return times[7];
}

// Independent chains of fused multiplications and additions, as many as keep every unit busy.
__global__ void multiply_add(float* out, float a, float b, int steps) {
  float x[8];
  for (int i = 0; i < 8; ++i) x[i] = static_cast<float>(threadIdx.x + i);
  for (int k = 0; k < steps; ++k)
#pragma unroll
    for (int r = 0; r < 16; ++r)
#pragma unroll
      for (int i = 0; i < 8; ++i) x[i] = fmaf(x[i], a, b);
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += x[i];
  if (sum == 12345.678f) *out = sum;
}

static double peak_flops() {
  constexpr int steps = 2000, block = 256;
  const int grid = 8 * dsl::properties(dsl::device::current()).multiprocessors;
  dsl::array<float> out(1);
  const float ms = median_ms([&] { multiply_add<<<grid, block>>>(out.data(), 0.999f, 0.001f, steps); });
  check(cudaGetLastError());
  return 2.0 * grid * block * steps * 16 * 8 / ms * 1e3;
}

static void coupled_fields_row(std::int64_t n, const char* name, dsl::strategy how) {
  auto F = dsl::full<c32>(c32(0.01f, 0.02f), n, n), G = dsl::full<c32>(c32(0.9f), n, n);
  dsl::scalar<c32> delta;
  const c32 scale(1.0f / static_cast<float>(n * n));
  try {
    const double ms = median_wall_ms([&] { F = c32(0.01f, 0.02f), G = c32(0.9f), delta = c32(0.01f); },
                                     [&] { dsl::iterate(100, coupled, dsl::state(F, G, delta), 1e-3f, scale, how); });
    const std::string plan = dsl::plan_of(coupled, dsl::state(F, G, delta), 1e-3f, scale, how).describe().c_str();
    std::printf("%4lld x %-4lld %-12s %9.4f ms   %s\n", static_cast<long long>(n), static_cast<long long>(n), name, ms, plan.c_str());
  } catch (const dsl::device_error& e) {
    std::printf("%4lld x %-4lld %-12s %s\n", static_cast<long long>(n), static_cast<long long>(n), name, e.what());
  }
}

int main() {
  if (dsl::device::current().kind != dsl::backend::cuda) return std::puts("no GPU"), 0;
  std::puts("100 steps of the coupled fields");
  for (const std::int64_t n : {4, 64, 512, 1024, 2048, 3162}) {
    coupled_fields_row(n, "automatic", dsl::strategy::automatic);
    coupled_fields_row(n, "launches", dsl::strategy::launches);
    coupled_fields_row(n, "graph", dsl::strategy::graph);
    if (n <= 64) coupled_fields_row(n, "one block", dsl::strategy::one_block);
    if (n >= 64 && n <= 1024) coupled_fields_row(n, "cooperative", dsl::strategy::cooperative);
    if (n >= 512) coupled_fields_row(n, "streamed", dsl::strategy::streamed);
  }

  constexpr std::int64_t members = 10'000'000;
  constexpr int steps = 1000;
  dsl::array<float> x, y, z;
  const double ms = median_wall_ms([&] { x = dsl::full<float>(1.0f, members), y = dsl::full<float>(1.0f, members), z = dsl::full<float>(20.0f, members); },
                                   [&] { dsl::iterate(steps, lorenz, dsl::state(x, y, z), 1e-3f); });
  const dsl::plan p = dsl::plan_of(lorenz, dsl::state(x, y, z), 1e-3f);
  const double flops = static_cast<double>(p.per_element.flops) * members * steps / ms * 1e3, peak = peak_flops();
  std::printf("%d RK4 steps of 10^7 Lorenz systems: %.3f ms, %.1f TFLOP/s, %.0f %% of %.1f TFLOP/s of multiply-adds measured beside it\n%s\n", steps, ms, 1e-12 * flops,
              100 * flops / peak, 1e-12 * peak, p.describe().c_str());
}

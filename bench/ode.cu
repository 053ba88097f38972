// Measures steps of differential equations, with kernels by hand as peers, and the GPU's peak rate
// of arithmetic.
#include <dsl/ode.hpp>

#include "check.cuh"
#include "rk4_by_hand.hpp"
#include "works.hpp"

namespace bench {
namespace {

struct rk4_map;
struct rk4_map_and_sum;
constexpr auto rk4_step = dsl::vectorize<rk4_map>(rk4_fields);
constexpr auto rk4_step_and_sum =
    dsl::vectorize<rk4_map_and_sum>([](auto F, auto G, auto d, auto h) {
      auto [Fn, Gn] = rk4_fields(F, G, d, h);
      return std::tuple{Fn, Gn, dsl::sum(Fn)};
    });

/// A step of the coupled fields, in place.
template <class Step> std::function<job()> of_fields(std::int64_t side, Step step) {
  return [=] {
    const auto x = std::make_shared<fields>(side);
    return job{[=] { step(*x); }, x->F, [=] { x->start(); }};
  };
}

struct lorenz_rk4;
constexpr float sigma = 10, rho = 28, beta = 8.0f / 3;
constexpr auto lorenz = dsl::ode::rk4<lorenz_rk4>([](auto x, auto y, auto z) {
  return std::tuple{sigma * (y - x), x * (rho - z) - y, x * y - beta * z};
});

struct lorenz_state {
  explicit lorenz_state(std::int64_t n) : x(n), y(n), z(n) {}
  void start() {
    x = 1.0f;
    y = 1.0f;
    z = 20.0f;
  }
  dsl::array<float> x, y, z;
};

__global__ void lorenz_by_hand(float* x, float* y, float* z, float h, int steps, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto slope = [](float3 p) {
    return float3{sigma * (p.y - p.x), p.x * (rho - p.z) - p.y, p.x * p.y - beta * p.z};
  };
  const auto ahead = [](float3 p, float h, float3 k) {
    return float3{p.x + h * k.x, p.y + h * k.y, p.z + h * k.z};
  };
  float3 p{x[i], y[i], z[i]};
  for (int s = 0; s < steps; ++s) {
    const float3 k1 = slope(p), k2 = slope(ahead(p, h / 2, k1)), k3 = slope(ahead(p, h / 2, k2)),
                 k4 = slope(ahead(p, h, k3));
    p = ahead(p, h / 6,
              {k1.x + 2 * k2.x + 2 * k3.x + k4.x, k1.y + 2 * k2.y + 2 * k3.y + k4.y,
               k1.z + 2 * k2.z + 2 * k3.z + k4.z});
  }
  x[i] = p.x;
  y[i] = p.y;
  z[i] = p.z;
}

// 16 times as many blocks as 132 multiprocessors run at once.
constexpr int chains = 8, unrolled = 16, chain_steps = 250, chain_blocks = 132 * 8 * 16,
              chain_threads = chain_blocks * 256;

// Independent chains of fused multiply-adds, enough to keep every unit busy.
__global__ void multiply_add(float* out, float a, float b) {
  float x[chains];
  for (int i = 0; i < chains; ++i) x[i] = static_cast<float>(threadIdx.x + i);
  for (int k = 0; k < chain_steps; ++k)
#pragma unroll
    for (int r = 0; r < unrolled; ++r)
#pragma unroll
      for (int i = 0; i < chains; ++i) x[i] = fmaf(x[i], a, b);
  float sum = 0;
  for (int i = 0; i < chains; ++i) sum += x[i];
  if (sum == 12345.678f) *out = sum;
}

const rows steps([] {
  for (const std::int64_t side : {1021, 1024, 4093, 4096}) {
    const double bytes = 32.0 * static_cast<double>(side * side);
    work("ode", dsl::dtype::complex64, shape_of(side, side), "RK4 step", bytes)
        .by("dsl", of_fields(side,
                             [](fields& x) {
                               dsl::tie(x.F, x.G) = rk4_step(x.F, x.G, x.delta, step_size);
                             }))
        .by("hand", of_fields(side, [](fields& x) {
              launch_rk4_by_hand(x.F.data(), x.G.data(), x.delta.data(), step_size, x.F.size());
            }));
    work("ode", dsl::dtype::complex64, shape_of(side, side), "RK4 step with sum(F)", bytes)
        .by("dsl", of_fields(side, [](fields& x) {
              const auto total = target<c32, 0>(slot::out, 1);
              dsl::tie(x.F, x.G, total) = rk4_step_and_sum(x.F, x.G, x.delta, step_size);
            }));
  }

  static constexpr int count = 1000;
  for (const std::int64_t members : {10'000'000, 9'999'991}) {
    const auto of_lorenz = [members](auto run) {
      return [=] {
        const auto p = std::make_shared<lorenz_state>(members);
        return job{[=] { run(*p); }, p->x, [=] { p->start(); }};
      };
    };
    // Operations a step: 4 slopes of 8, 3 intermediate points of 6, and a weighted sum of 21.
    work("ode", dsl::dtype::float32, std::to_string(members), "1000 RK4 steps of Lorenz",
         24.0 * static_cast<double>(members), timing::call)
        .within(1e-2)
        .flops(71.0 * count * static_cast<double>(members))
        .by("dsl", of_lorenz([](lorenz_state& p) {
              dsl::iterate(count, lorenz, dsl::state(p.x, p.y, p.z), step_size);
            }))
        .by("hand", of_lorenz([](lorenz_state& p) {
              const std::int64_t n = p.x.size();
              lorenz_by_hand<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream()>>>(
                  p.x.data(), p.y.data(), p.z.data(), step_size, count, n);
            }));
  }
  work("ode", dsl::dtype::float32, std::to_string(chain_threads), "multiply-adds", 0)
      .flops(2.0 * chain_threads * chain_steps * unrolled * chains)
      .by("hand", [] {
        const auto out = target<float>(slot::out, 1);
        return job{
            [=] { multiply_add<<<chain_blocks, 256, 0, stream()>>>(out.data(), 0.999f, 0.001f); },
            out};
      });
});

}  // namespace
}  // namespace bench

// Measures sums over pairs, which are not stored. Peer: a kernel that passes a tile of bodies
// through shared memory.
#include "check.cuh"
#include "works.hpp"

namespace bench {
namespace {

// The attraction between two bodies along axis K.
template <int K>
constexpr auto pull = dsl::vectorize(
    [](auto xi, auto yi, auto zi, auto xj, auto yj, auto zj, auto mj, auto softening) {
      auto dx = xj - xi, dy = yj - yi, dz = zj - zi;
      auto r = rsqrt(dx * dx + dy * dy + dz * dz + softening);
      auto w = mj * r * r * r;
      if constexpr (K == 0) return dx * w;
      else if constexpr (K == 1) return dy * w;
      else return dz * w;
    });

constexpr int bodies_a_tile = 256;

// Bodies are packed, four floats each; one thread for each body (L. Nyland, M. Harris, J. Prins,
// Fast N-Body Simulation with CUDA, GPU Gems 3, 2007).
__global__ void __launch_bounds__(bodies_a_tile)
    pull_by_hand(float* out, const float4* bodies, int n, float softening) {
  __shared__ float4 tile[bodies_a_tile];
  const int i = static_cast<int>(blockIdx.x * bodies_a_tile + threadIdx.x);
  const float4 mine = bodies[i];
  float x = 0, y = 0, z = 0;
  for (int first = 0; first < n; first += bodies_a_tile) {
    __syncthreads();
    tile[threadIdx.x] = bodies[first + static_cast<int>(threadIdx.x)];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < bodies_a_tile; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - mine.x, dy = other.y - mine.y, dz = other.z - mine.z;
      const float r = rsqrtf(dx * dx + dy * dy + dz * dz + softening), w = other.w * r * r * r;
      x += dx * w;
      y += dy * w;
      z += dz * w;
    }
  }
  out[i] = x;
  out[n + i] = y;
  out[2 * n + i] = z;
}

__global__ void pack(float4* bodies, const float* x, const float* y, const float* z,
                     const float* m) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  bodies[i] = {x[i], y[i], z[i], m[i]};
}

const rows of_pairs([] {
  static constexpr float softening = 1e-4f;
  struct bodies {
    explicit bodies(std::int64_t count)
        : n(count),
          all(operand<float>(slot::a, 2 * n)),
          x(all(dsl::slice(0, n))),
          m(all(dsl::slice(n, 2 * n))),
          y(operand<float>(slot::b, n)),
          z(operand<float>(slot::c, n)),
          out(target<float>(slot::out, 3 * n)) {}
    std::int64_t n;
    dsl::view<const float> all, x, m, y, z;
    dsl::view<float> out;
  };
  for (const std::int64_t n : {65'536, 65'521}) {
    const auto count = static_cast<double>(n);
    work w("pairs", dsl::dtype::float32, std::to_string(n), "n-body accelerations", 28.0 * count);
    w.flops(20.0 * count * count).within(1e-4).by("dsl", [n] {
      const bodies b(n);
      return job{[b, n] {
                   const auto x = dsl::reshape(b.x, n, 1), y = dsl::reshape(b.y, n, 1),
                              z = dsl::reshape(b.z, n, 1);
                   const auto along = [&]<int K>(std::integral_constant<int, K>) {
                     return dsl::sum(pull<K>(x, y, z, b.x, b.y, b.z, b.m, softening), dsl::axis(1));
                   };
                   auto ax = b.out(dsl::slice(0, n)), ay = b.out(dsl::slice(n, 2 * n)),
                        az = b.out(dsl::slice(2 * n, 3 * n));
                   dsl::tie(ax, ay, az) = std::tuple{along(std::integral_constant<int, 0>{}),
                                                     along(std::integral_constant<int, 1>{}),
                                                     along(std::integral_constant<int, 2>{})};
                 },
                 b.out};
    });
    if (n % bodies_a_tile == 0)
      w.by("hand", [n] {
        const bodies b(n);
        auto* const packed = reinterpret_cast<float4*>(bytes_of(slot::second_out, 16 * n).data());
        const auto tiles = static_cast<unsigned>(n / bodies_a_tile);
        pack<<<tiles, bodies_a_tile, 0, stream()>>>(packed, b.x.data(), b.y.data(), b.z.data(),
                                                    b.m.data());
        return job{[=] {
                     pull_by_hand<<<tiles, bodies_a_tile, 0, stream()>>>(
                         b.out.data(), packed, static_cast<int>(n), softening);
                   },
                   b.out};
      });
  }
});

}  // namespace
}  // namespace bench

// Measures a step of the lattice Boltzmann method D3Q19 on a periodic cube. Each population is read
// at one neighbour, and is a slice of one array. Peer: a kernel by hand, a thread a cell.
#include <array>
#include <utility>

#include "check.cuh"
#include "works.hpp"

namespace bench {
namespace {

constexpr int directions = 19, straight = 6;

/// Steps along x, y and z: none, then pairs of opposite directions, straight ones first.
constexpr int step_of[directions][3] = {
    {0, 0, 0},  {1, 0, 0},   {-1, 0, 0},  {0, 1, 0},  {0, -1, 0}, {0, 0, 1},   {0, 0, -1},
    {1, 1, 0},  {-1, -1, 0}, {1, -1, 0},  {-1, 1, 0}, {1, 0, 1},  {-1, 0, -1}, {1, 0, -1},
    {-1, 0, 1}, {0, 1, 1},   {0, -1, -1}, {0, 1, -1}, {0, -1, 1}};
constexpr float weight_of(int k) {
  return k == 0 ? 1.0f / 3 : k <= straight ? 1.0f / 18 : 1.0f / 36;
}
constexpr float rate = 1.2f;  // Of relaxation towards the equilibrium.

// ---- by dsl

struct d3q19;
constexpr auto step = dsl::vectorize<d3q19>([](auto... populations) {
  std::array f{populations...};
  for (int k = 0; k < directions; ++k)
    for (int axis = 0; axis < 3; ++axis)
      if (step_of[k][axis] != 0)
        f[k] = dsl::shift(f[k], step_of[k][axis], dsl::boundary::wrap, 2 - axis);
  auto density = f[0];
  for (int k = 1; k < directions; ++k) density = density + f[k];
  std::array u{density, density, density};
  for (int axis = 0; axis < 3; ++axis) {
    auto momentum = f[2 * axis + 1] - f[2 * axis + 2];
    for (int k = straight + 1; k < directions; ++k) {
      if (step_of[k][axis] > 0) momentum = momentum + f[k];
      if (step_of[k][axis] < 0) momentum = momentum - f[k];
    }
    u[axis] = momentum / density;
  }
  auto rest = 1 - 1.5f * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  // The velocity along an odd direction, whose first step is forwards.
  const auto along = [&](int k) {
    int axis = 0;
    while (step_of[k][axis] == 0) ++axis;
    auto sum = u[axis];
    while (++axis < 3) {
      if (step_of[k][axis] > 0) sum = sum + u[axis];
      if (step_of[k][axis] < 0) sum = sum - u[axis];
    }
    return sum;
  };
  const auto relaxed = [&](int k) {
    auto shape = rest;
    if (k > 0) {
      const bool is_odd = k % 2 == 1;
      auto c = along(is_odd ? k : k - 1);
      shape = shape + 4.5f * c * c + (is_odd ? 3.0f : -3.0f) * c;
    }
    return f[k] + rate * (weight_of(k) * density * shape - f[k]);
  };
  return [&]<int... K>(std::integer_sequence<int, K...>) {
    return std::tuple{relaxed(K)...};
  }(std::make_integer_sequence<int, directions>{});
});

// ---- by hand

/// A cell's neighbours along one axis: before, itself, behind.
struct around {
  int at[3];
  __device__ around(int i, int n) : at{i == 0 ? n - 1 : i - 1, i, i == n - 1 ? 0 : i + 1} {}
};

template <int K>
__device__ float arriving(const float* in, const around& x, const around& y, const around& z,
                          int n) {
  constexpr int right = step_of[K][0], up = step_of[K][1], deep = step_of[K][2];
  const std::int64_t line = (static_cast<std::int64_t>(K) * n + z.at[1 - deep]) * n + y.at[1 - up];
  return in[line * n + x.at[1 - right]];
}
/// A value times a direction's step along an axis: itself, its negative, or 0.
template <int K, int Axis>
__device__ float signed_by_step(float value) {
  constexpr int sign = step_of[K][Axis];
  return sign > 0 ? value : sign < 0 ? -value : 0;
}
template <int K>
__device__ float relaxed(float f, float density, float3 u) {
  const float c = signed_by_step<K, 0>(u.x) + signed_by_step<K, 1>(u.y) + signed_by_step<K, 2>(u.z);
  constexpr float weight = weight_of(K);
  const float equilibrium =
      weight * density * (1 + 3 * c + 4.5f * c * c - 1.5f * (u.x * u.x + u.y * u.y + u.z * u.z));
  return f + rate * (equilibrium - f);
}

template <int... K>
__global__ void step_by_hand(float* out, const float* in, int n, std::integer_sequence<int, K...>) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const around x(i, n), y(blockIdx.y, n), z(blockIdx.z, n);
  const float f[] = {arriving<K>(in, x, y, z, n)...};
  const float density = (f[K] + ...);
  const float3 u{(signed_by_step<K, 0>(f[K]) + ...) / density,
                 (signed_by_step<K, 1>(f[K]) + ...) / density,
                 (signed_by_step<K, 2>(f[K]) + ...) / density};
  const std::int64_t cells = static_cast<std::int64_t>(n) * n * n,
                     here = (static_cast<std::int64_t>(blockIdx.z) * n + blockIdx.y) * n + i;
  ((out[K * cells + here] = relaxed<K>(f[K], density, u)), ...);
}

// ---- rows

const rows steps([] {
  using every = std::make_integer_sequence<int, directions>;
  for (const std::int64_t n : {256, 257, 384}) {
    const std::int64_t cells = n * n * n;
    const auto populations = [=](const auto& line) {
      return dsl::reshape(line, directions, n, n, n);
    };
    work("stencil", dsl::dtype::float32, std::to_string(n) + "x" + shape_of(n, n),
         "lattice Boltzmann D3Q19", 8.0 * directions * static_cast<double>(cells))
        .within(1e-4)
        .by("dsl",
            [=] {
              const auto in = populations(operand<float>(slot::a, directions * cells));
              const auto out = target<float>(slot::out, directions * cells);
              const auto run = [in, to = populations(out)] {
                [&]<int... K>(std::integer_sequence<int, K...>) {
                  std::array part{to(K)...};
                  std::apply([&](auto&... next) { dsl::tie(next...) = step(in(K)...); }, part);
                }(every{});
              };
              return job{run, out};
            })
        .by("hand", [=] {
          const auto in = operand<float>(slot::a, directions * cells);
          const auto out = target<float>(slot::out, directions * cells);
          const auto side = static_cast<unsigned>(n);
          return job{[=] {
                       step_by_hand<<<dim3((side + 127) / 128, side, side), 128, 0, stream()>>>(
                           out.data(), in.data(), static_cast<int>(n), every{});
                       check(cudaGetLastError());
                     },
                     out};
        });
  }
});

}  // namespace
}  // namespace bench

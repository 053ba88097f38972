#include "rk4_by_hand.hpp"

#include <cooperative_groups.h>
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_reduce.cuh>

#include <algorithm>

#include "check.cuh"

namespace bench {

namespace {

#include "../tests/codegen/by_hand.cu"

struct add {
  __device__ c32 operator()(c32 x, c32 y) const { return x + y; }
};
struct times {
  float factor;
  __device__ c32 operator()(c32 x) const { return factor * x; }
};

cudaError_t mean(void* memory, std::size_t& size, const std::complex<float>* F,
                 std::complex<float>* to, std::int64_t n) {
  return cub::DeviceReduce::TransformReduce(
      memory, size, reinterpret_cast<const c32*>(F), reinterpret_cast<c32*>(to), n, add{},
      times{1.0f / static_cast<float>(n)}, c32{0, 0}, stream());
}

constexpr int loop_block = 512;

/// Each thread keeps E elements. Blocks exchange their sums in one of two sets of places, since a
/// block may be a step ahead of another.
template <int E>
__global__ void __launch_bounds__(loop_block, 2)
    rk4_loop(c32* F, c32* G, c32* delta, c32* sums, float h, int n, int steps) {
  using reduction = cub::BlockReduce<c32, loop_block>;
  __shared__ typename reduction::TempStorage memory;
  __shared__ c32 mean;
  const int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  c32 f[E], g[E], d = *delta;
#pragma unroll
  for (int k = 0; k < E; ++k)
    if (first + k * stride < n) {
      f[k] = F[first + k * stride];
      g[k] = G[first + k * stride];
    }
  for (int s = 0; s < steps; ++s) {
    c32 sum{0, 0};
#pragma unroll
    for (int k = 0; k < E; ++k)
      if (first + k * stride < n) {
        rk4(f[k], g[k], d, h);
        sum = sum + f[k];
      }
    sum = reduction(memory).Reduce(sum, add{});
    float2* const places = reinterpret_cast<float2*>(sums) + s % 2 * gridDim.x;
    if (threadIdx.x == 0) places[blockIdx.x] = {sum.re, sum.im};
    cooperative_groups::this_grid().sync();
    sum = {0, 0};
    if (threadIdx.x < gridDim.x) {  // A grid has fewer blocks than a block has threads.
      const float2 of_block = __ldcg(places + threadIdx.x);
      sum = {of_block.x, of_block.y};
    }
    sum = reduction(memory).Reduce(sum, add{});
    if (threadIdx.x == 0) mean = 1.0f / static_cast<float>(n) * sum;
    __syncthreads();
    d = mean;
  }
#pragma unroll
  for (int k = 0; k < E; ++k)
    if (first + k * stride < n) {
      F[first + k * stride] = f[k];
      G[first + k * stride] = g[k];
    }
  if (first == 0) *delta = d;
}

}  // namespace

void launch_rk4_loop_by_hand(std::complex<float>* F, std::complex<float>* G,
                             std::complex<float>* delta, std::complex<float>* sums, float h, int n,
                             int steps) {
  auto *f = reinterpret_cast<c32*>(F), *g = reinterpret_cast<c32*>(G),
       *d = reinterpret_cast<c32*>(delta), *s = reinterpret_cast<c32*>(sums);
  void* arguments[] = {&f, &g, &d, &s, &h, &n, &steps};
  const int blocks =
      std::min((n + loop_block - 1) / loop_block, static_cast<int>(sums_in_registers) / 2);
  const auto kernel = n <= blocks * loop_block ? rk4_loop<1> : rk4_loop<2>;
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                    dim3(static_cast<unsigned>(blocks)), dim3(loop_block),
                                    arguments, 0, stream()));
}

void launch_rk4_by_hand(std::complex<float>* F, std::complex<float>* G,
                        const std::complex<float>* delta, float h, std::int64_t n) {
  const unsigned grid = static_cast<unsigned>((n / 2 + 1 + 255) / 256);
  rk4_by_hand<<<grid, 256, 0, stream()>>>(reinterpret_cast<float4*>(F),
                                          reinterpret_cast<float4*>(G),
                                          reinterpret_cast<const c32*>(delta), h, n);
}

rk4_by_hand_sum::rk4_by_hand_sum(std::int64_t n) : n_(n) {
  check(mean(nullptr, size_, nullptr, nullptr, n));
  check(cudaMalloc(&memory_, size_));
}
rk4_by_hand_sum::~rk4_by_hand_sum() { cudaFree(memory_); }

void rk4_by_hand_sum::launch(const std::complex<float>* F, std::complex<float>* to) {
  check(mean(memory_, size_, F, to, n_));
}

}  // namespace bench

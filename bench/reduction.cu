// Measures reductions of all elements, with CUB's DeviceReduce as peer.
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/zip_function.h>
#include <cub/device/device_reduce.cuh>

#include <tuple>

#include "works.hpp"
#include "workspace.cuh"

namespace bench {

/// Welford's variance: an accumulator of three values.
struct moments { float n, mean, squares; };
struct moments_of_one {
  DSL_FN moments operator()(float x) const { return {1, x, 0}; }
};
struct join_moments {
  DSL_FN moments operator()(moments a, moments b) const {
    const float n = a.n + b.n, share = b.n / n, apart = b.mean - a.mean;
    return {n, a.mean + apart * share, a.squares + b.squares + apart * apart * (a.n * share)};
  }
};
struct variance_of {
  DSL_FN float operator()(moments a) const { return a.squares / a.n; }
};

namespace {

struct plus {
  __device__ float operator()(float x, float y) const { return x + y; }
};
struct product_with_exponential {
  __device__ float operator()(float a, float b) const { return a * expf(b); }
};
struct product {
  __device__ float operator()(float a, float b) const { return a * b; }
};
struct larger {
  __device__ float operator()(float x, float y) const { return fabsf(x) > fabsf(y) ? x : y; }
};

/// Each thread adds vectors that are a grid apart; then each warp and each block add their threads'
/// sums. Blocks add to the result in any order.
__global__ void sum_by_hand(float* out, const float* a, std::int64_t n) {
  __shared__ float warps[32];
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x,
                     first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 4
  for (std::int64_t i = first; i < n / 4; i += stride) {
    const float4 v = reinterpret_cast<const float4*>(a)[i];
    sum += (v.x + v.y) + (v.z + v.w);
  }
  for (std::int64_t i = n / 4 * 4 + first; i < n; i += stride) sum += a[i];
  for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(~0u, sum, k);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
    for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(~0u, sum, k);
    if (threadIdx.x == 0) atomicAdd(out, sum);
  }
}

/// CUB's sum of a formula of two operands.
template <class F> auto cub_sum_of_two(F f) {
  return [f](const reduced<float>& x) {
    const auto both = thrust::make_zip_iterator(x.a.data(), x.b.data());
    return with_workspace([=](void* memory, std::size_t& size) {
      return cub::DeviceReduce::TransformReduce(memory, size, both, x.out.data(), x.n, plus{},
                                                thrust::make_zip_function(f), 0.0f, stream());
    });
  };
}

const rows whole_arrays([] {
  using x_t = reduced<float>;
  using place = reduced<float, std::int64_t>;
  for (const std::int64_t n : swept_sizes()) {
    sum<float>(n)
        .within(1e-4)
        .by("CUB",
            [](const x_t& x) {
              return with_workspace([=](void* memory, std::size_t& size) {
                return cub::DeviceReduce::Sum(memory, size, x.a.data(), x.out.data(), x.n,
                                              stream());
              });
            })
        .by("hand", [](const x_t& x) {
          check(cudaMemsetAsync(x.out.data(), 0, sizeof(float), stream()));
          const int blocks = 4 * dsl::properties(dsl::device::current()).multiprocessors;
          sum_by_hand<<<static_cast<unsigned>(std::min<std::int64_t>(blocks, x.n / 4 / 512 + 1)),
                        512, 0, stream()>>>(x.out.data(), x.a.data(), x.n);
        });
  }
  for (const std::int64_t n : {1 << 27, (1 << 27) + 1}) {
    reduction_work<float>("sum(a * exp(b))", n, 2)
        .within(1e-4)
        .by("dsl", [](const x_t& x) { x.out = dsl::sum(x.a * exp(x.b)); })
        .by("CUB", cub_sum_of_two(product_with_exponential{}));
    dot(n).within(1e-4).by("CUB", cub_sum_of_two(product{}));
    reduction_work<float>("norm(a)", n, 1).by("dsl", [](const x_t& x) { x.out = dsl::norm(x.a); });
    variance(n);
    reduction_work<float>("Welford's variance(a)", n, 1)
        .within(1e-4)
        .by("dsl",
            [](const x_t& x) {
              constexpr auto welford =
                  dsl::reduce(join_moments{}, moments{}, moments_of_one{}, variance_of{});
              x.out = welford(x.a);
            })
        .by("dsl lambda",
            [](const x_t& x) {
              constexpr auto welford = dsl::reduce(
                  [](auto a, auto b) {
                    auto [n_a, mean_a, squares_a] = a;
                    auto [n_b, mean_b, squares_b] = b;
                    auto n = n_a + n_b, share = n_b / n, apart = mean_b - mean_a;
                    return std::tuple{n, mean_a + apart * share,
                                      squares_a + squares_b + apart * apart * (n_a * share)};
                  },
                  std::tuple{0.0f, 0.0f, 0.0f}, [](auto e) { return std::tuple{1, e, 0}; },
                  [](auto a) { return std::get<2>(a) / std::get<0>(a); });
              x.out = welford(x.a);
            })
        .by("CUB", [](const x_t& x) {
          return with_workspace([=](void* memory, std::size_t& size) {
            return cub::DeviceReduce::TransformReduce(
                memory, size, x.a.data(),
                thrust::make_transform_output_iterator(x.out.data(), variance_of{}), x.n,
                join_moments{}, moments_of_one{}, moments{}, stream());
          });
        });
    reduction_work<float>("skew(a), kurtosis(a)", n, 1).by("dsl", [](const x_t& x) {
      auto tailed = target<float, 0>(slot::second_out, 1);
      dsl::tie(x.out, tailed) = std::tuple{dsl::skew(x.a), dsl::kurtosis(x.a)};
    });
    largest_at(n).by("CUB", [](const place& x) {
      const auto most = target<float, 0>(slot::second_out, 1);
      return with_workspace([=](void* memory, std::size_t& size) {
        return cub::DeviceReduce::ArgMax(memory, size, x.a.data(), most.data(), x.out.data(), x.n,
                                         stream());
      });
    });
    reduction_work<float>("min(a), max(a), mean(a)", n, 1).by("dsl", [](const x_t& x) {
      const auto more = target<float>(slot::second_out, 2);
      auto most = more(0), mean = more(1);
      dsl::tie(x.out, most, mean) = std::tuple{dsl::min(x.a), dsl::max(x.a), dsl::mean(x.a)};
    });
    reduction_work<float>("larger magnitude", n, 1)
        .by("dsl",
            [](const x_t& x) {
              constexpr auto larger_magnitude =
                  dsl::reduce([](auto x, auto y) { return where(abs(x) > abs(y), x, y); }, 0.0f);
              x.out = larger_magnitude(x.a);
            })
        .by("CUB", [](const x_t& x) {
          return with_workspace([=](void* memory, std::size_t& size) {
            return cub::DeviceReduce::Reduce(memory, size, x.a.data(), x.out.data(), x.n, larger{},
                                             0.0f, stream());
          });
        });
  }
  for (const std::int64_t n : {100'000'000, 99'999'989})
    reduction_work<double>("correlation of a and b", n, 2)
        .within(1e-5)  // of independent elements: a small difference of two means
        .by("dsl", [](const reduced<double>& x) {
          using dsl::mean, dsl::var;
          x.out = (mean(x.a * x.b) - mean(x.a) * mean(x.b)) / sqrt(var(x.a) * var(x.b));
        });
  for (const std::int64_t n : {1 << 16, 1 << 20, 1 << 27, (1 << 27) + 1}) {
    const auto inside = [n](const char* name, auto call) {
      map<float>(name, n, 2, "reduction").by("dsl", call);
    };
    inside("a / norm(a)", [](const arrays<float>& x) { x.out = x.a / dsl::norm(x.a); });
    inside("softmax(a)", [](const arrays<float>& x) {
      x.out = exp(x.a - dsl::max(x.a)) / dsl::sum(exp(x.a - dsl::max(x.a)));
    });
  }
});

}  // namespace
}  // namespace bench

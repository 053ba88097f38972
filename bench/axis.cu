// Measures reductions along axes, and formulas that use them. Peers: CUB's DeviceSegmentedReduce,
// and kernels that keep a row in registers.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include "works.hpp"
#include "workspace.cuh"

namespace bench {
namespace {

struct times {
  std::int64_t by;
  __host__ __device__ std::int64_t operator()(std::int64_t i) const { return i * by; }
};

constexpr int row_block = 1024, row_width = 8192;

/// Combines the values of a block's threads; each thread gets the result.
template <class F> __device__ float of_block(float value, F f) {
  using reduction = cub::BlockReduce<float, row_block>;
  __shared__ typename reduction::TempStorage memory;
  __shared__ float all;
  const float combined = reduction(memory).Reduce(value, f);
  if (threadIdx.x == 0) all = combined;
  __syncthreads();
  const float result = all;
  __syncthreads();
  return result;
}
struct add {
  __device__ float operator()(float x, float y) const { return x + y; }
};
struct larger {
  __device__ float operator()(float x, float y) const { return fmaxf(x, y); }
};

/// A block for each row of 8192 floats; each thread keeps two vectors.
struct row_of_block {
  float4 v[2];
  __device__ explicit row_of_block(const float* m) {
    for (int k = 0; k < 2; ++k) v[k] = reinterpret_cast<const float4*>(m)[at(k)];
  }
  __device__ static std::int64_t at(int k) {
    return static_cast<std::int64_t>(blockIdx.x) * (row_width / 4) + k * row_block + threadIdx.x;
  }
  template <class F> __device__ void each(F f) {
#pragma unroll
    for (float4& x : v) {
      f(x.x);
      f(x.y);
      f(x.z);
      f(x.w);
    }
  }
  __device__ float sum() {
    float here = 0;
    each([&](float& x) { here += x; });
    return of_block(here, add{});
  }
  __device__ void store(float* out) {
    for (int k = 0; k < 2; ++k) reinterpret_cast<float4*>(out)[at(k)] = v[k];
  }
};

__global__ void __launch_bounds__(row_block) softmax_by_hand(float* out, const float* m) {
  row_of_block row(m);
  float most = -INFINITY;
  row.each([&](float& x) { most = fmaxf(most, x); });
  most = of_block(most, larger{});
  row.each([&](float& x) { x = expf(x - most); });
  const float total = row.sum();
  row.each([&](float& x) { x /= total; });
  row.store(out);
}
__global__ void __launch_bounds__(row_block) layer_norm_by_hand(float* out, const float* m) {
  row_of_block row(m);
  const float mean = row.sum() / row_width;
  row.each([&](float& x) { x -= mean; });
  float squares = 0;
  row.each([&](float& x) { squares += x * x; });
  const float deviation = sqrtf(of_block(squares, add{}) / row_width + 1e-5f);
  row.each([&](float& x) { x /= deviation; });
  row.store(out);
}

/// A warp for each point.
__global__ void pairs_by_hand(float* out, const float* x, const float* y, int n) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (i >= n) return;
  const float xi = x[i], yi = y[i];
  float sum = 0;
  for (int j = threadIdx.x % 32; j < n; j += 32) {
    const float dx = xi - x[j], dy = yi - y[j];
    sum += 1.0f / (1.0f + dx * dx + dy * dy);
  }
  for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(~0u, sum, k);
  if (threadIdx.x % 32 == 0) out[i] = sum;
}

const rows along_axes([] {
  add_copy("axis", shape_of(8192, 8192), 8192 * 8192);
  add_copy("axis", shape_of(4096, 4096), 4096 * 4096);
  add_copy("axis", shape_of(odd_shape.rows, odd_shape.columns), odd_shape.rows * odd_shape.columns);
  for (const auto [rows, columns] : {shape{8192, 8192},
                                     odd_shape,
                                     {4096, 4096},
                                     {4099, 4093},
                                     {10'000'000, 8},
                                     {8, 10'000'000},
                                     {1'000'000, 100},
                                     {999'983, 101},
                                     {10'000'000, 3},
                                     {100, 1'000'000},
                                     {101, 999'983},
                                     {1000, 3}}) {
    sum_of_rows(rows, columns).within(1e-4).by("CUB", [](const matrix& x) {
      const auto begins = thrust::make_transform_iterator(
          thrust::make_counting_iterator(std::int64_t{0}), times{x.width});
      return with_workspace([=](void* memory, std::size_t& size) {
        return cub::DeviceSegmentedReduce::Sum(memory, size, x.m.data(), x.of_rows.data(), x.height,
                                               begins, begins + 1, stream());
      });
    });
    sum_of_columns(rows, columns);
    largest_of_rows(rows, columns);
    work_on_matrix("axis", "m - mean of rows", rows, columns, 2 * bytes_of_matrix(rows, columns),
                   whole)
        .by("dsl",
            [](const matrix& x) { x.out = x.m - dsl::mean(x.m, dsl::axis(1), dsl::keep_dims); });
  }
  // Rows of one block's registers, of several blocks', and more than the chip holds.
  const auto row = [](const char* name, shape of, auto call) {
    return work_on_matrix("axis", name, of.rows, of.columns,
                          2 * bytes_of_matrix(of.rows, of.columns), whole)
        .by("dsl", call);
  };
  constexpr shape square{row_width, row_width};
  for (const shape of : {square, {100'003, 257}, {513, 70'001}, {16, 4'000'037}}) {
    auto softmax = row("softmax of rows", of, [](const matrix& x) {
      const auto most = dsl::max(x.m, dsl::axis(1), dsl::keep_dims);
      x.out = exp(x.m - most) / dsl::sum(exp(x.m - most), dsl::axis(1), dsl::keep_dims);
    });
    if (of.columns == row_width)
      softmax.by("hand", [](const matrix& x) {
        softmax_by_hand<<<row_width, row_block, 0, stream()>>>(x.out.data(), x.m.data());
      });
  }
  for (const shape of : {square, {70'001, 513}}) {
    const auto layer_norm = [](int axis) {
      return [axis](const matrix& x) {
        x.out = (x.m - dsl::mean(x.m, dsl::axis(axis), dsl::keep_dims)) /
                sqrt(dsl::var(x.m, dsl::axis(axis), dsl::keep_dims) + 1e-5f);
      };
    };
    auto of_rows = row("layer norm of rows", of, layer_norm(1));
    of_rows.within(1e-4);
    if (of.columns == row_width)
      of_rows.by("hand", [](const matrix& x) {
        layer_norm_by_hand<<<row_width, row_block, 0, stream()>>>(x.out.data(), x.m.data());
      });
    row("layer norm of columns", of, layer_norm(0));
    row("RMS norm of rows", of, [](const matrix& x) {
      x.out = x.m / sqrt(dsl::mean(x.m * x.m, dsl::axis(1), dsl::keep_dims) + 1e-5f);
    });
  }
  for (const std::int64_t n : {16'384, 16'381})
    work("axis", dsl::dtype::float32, shape_of(n, n), "vector times matrix",
         bytes_of_matrix(n, n, 2 * n))
        .within(1e-4)
        .by("dsl", [n] {
          const rectangle<float> x(n, n);
          const auto product = target<float>(slot::second_out, n);
          return job{[=] { product = dsl::sum(x.column * x.m, dsl::axis(0)); }, product};
        });

  for (const std::int64_t points : {8192, 8191}) {
    work("axis", dsl::dtype::float32, std::to_string(points),
         "sum over j of 1 / (1 + (xi - xj)^2 + (yi - yj)^2)", 12.0 * static_cast<double>(points))
        .within(1e-4)
        .by("dsl",
            [points] {
              const arrays<float> x(points);
              const auto xi = dsl::reshape(x.a, points, 1), yi = dsl::reshape(x.b, points, 1);
              return job{[=] {
                           x.out = dsl::sum(1 / (1 + dsl::square(xi - x.a) + dsl::square(yi - x.b)),
                                            dsl::axis(1));
                         },
                         x.out};
            })
        .by("hand", [points] {
          const arrays<float> x(points);
          return job{[=] {
                       pairs_by_hand<<<static_cast<unsigned>((points + 7) / 8), 256, 0, stream()>>>(
                           x.out.data(), x.a.data(), x.b.data(), static_cast<int>(points));
                     },
                     x.out};
        });
  }
});

}  // namespace
}  // namespace bench

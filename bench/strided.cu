// Measures operands of a square that are broadcast, shifted, transposed or have gaps, and stencils.
#include "check.cuh"
#include "works.hpp"

namespace bench {
namespace {

__global__ void row_and_column(float4* out, const float4* m, const float4* row, const float* column,
                               int side) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (4 * j >= side) return;
  const float4 x = m[static_cast<std::int64_t>(i) * (side / 4) + j], r = row[j];
  const float c = column[i];
  out[static_cast<std::int64_t>(i) * (side / 4) + j] = {x.x * r.x + c, x.y * r.y + c, x.z * r.z + c,
                                                        x.w * r.w + c};
}

constexpr int tile = 32, tile_rows = 8;

/// Transposes tiles in shared memory. Rows of a tile have an extra element, so that a column lies
/// in 32 banks.
__global__ void transposed(float* out, const float* m, int side) {
  __shared__ float part[tile][tile + 1];
  const int x = blockIdx.x * tile, y = blockIdx.y * tile;
  for (int k = threadIdx.y; k < tile; k += tile_rows)
    part[k][threadIdx.x] = m[static_cast<std::int64_t>(y + k) * side + x + threadIdx.x];
  __syncthreads();
  for (int k = threadIdx.y; k < tile; k += tile_rows)
    out[static_cast<std::int64_t>(x + k) * side + y + threadIdx.x] = part[threadIdx.x][k];
}

__device__ float heat(const float* m, int i, int j, int up, int down, int left, int right,
                      int side) {
  const float here = m[i * side + j];
  return here + 0.1f * (m[up * side + j] + m[down * side + j] + m[i * side + left] +
                        m[i * side + right] - 4 * here);
}
__global__ void heat_inside(float* out, const float* m, int side) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i > 0 && j > 0 && i + 1 < side && j + 1 < side)
    out[static_cast<std::int64_t>(i) * side + j] = heat(m, i, j, i - 1, i + 1, j - 1, j + 1, side);
}
__global__ void heat_clamped(float* out, const float* m, int side) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < side && j < side)
    out[static_cast<std::int64_t>(i) * side + j] = heat(
        m, i, j, max(i - 1, 0), min(i + 1, side - 1), max(j - 1, 0), min(j + 1, side - 1), side);
}

const rows squares([] {
  constexpr std::int64_t n = 8192;
  constexpr int side = n;
  using x_t = square<float>;
  const auto row = [](const char* name, double bytes, auto call) {
    return work_on_square<float>(name, n, bytes).by("dsl", call);
  };
  const auto first = dsl::slice(0, -1), last = dsl::slice(1, dsl::end),
             even = dsl::slice(0, dsl::end, 2), whole = dsl::slice();

  add_copy("strided", shape_of(n, n), n * n);
  row("m * row", 8, [](const x_t& x) { x.out = x.m * x.row; });
  row("m * col", 8, [](const x_t& x) { x.out = x.m * x.column; });
  row("m * row + col", 8, [](const x_t& x) {
    x.out = x.m * x.row + x.column;
  }).by("hand", [](const x_t& x) {
    const auto four = [](const auto& v) { return reinterpret_cast<const float4*>(v.data()); };
    row_and_column<<<dim3(side / 4 / 256, side), 256, 0, stream()>>>(
        reinterpret_cast<float4*>(x.out.data()), four(x.m), four(x.row), x.column.data(), side);
  });
  row("m * scalar", 8, [](const x_t& x) { x.out = x.m * x.row(dsl::slice(0, 1)); });
  row("row * col", 4, [](const x_t& x) { x.out = x.column * x.row; });
  row("transpose(m)", 8, [](const x_t& x) {
    x.out = dsl::transpose(x.m);
  }).by("hand", [](const x_t& x) {
    transposed<<<dim3(side / tile, side / tile), dim3(tile, tile_rows), 0, stream()>>>(
        x.out.data(), x.m.data(), side);
  });
  row("m + transpose(m)", 8, [](const x_t& x) { x.out = x.m + dsl::transpose(x.m); });
  row("out[:, :-1] = m[:, 1:] + 1", 8,
      [=](const x_t& x) { x.out(whole, first) = x.m(whole, last) + 1; });
  row("out[:, ::2] = m[:, ::2] + 1", 4,
      [=](const x_t& x) { x.out(whole, even) = x.m(whole, even) + 1; });
  const dim3 block(32, 8), grid(side / 32, side / 8);
  heat_by_slices<float>(n).by("hand", [=](const x_t& x) {
    heat_inside<<<grid, block, 0, stream()>>>(x.out.data(), x.m.data(), side);
  });
  heat_by_shift<float>(n).by("hand", [=](const x_t& x) {
    heat_clamped<<<grid, block, 0, stream()>>>(x.out.data(), x.m.data(), side);
  });

  work("strided", dsl::dtype::float32, std::to_string(n * n), "take(a, index)", 12.0 * n * n)
      .by("dsl", [] {
        const auto a = operand<float>(slot::a, n * n);
        const auto out = target<float>(slot::out, n * n);
        const auto index =
            dsl::array<std::int32_t>(n * n - 1 - dsl::arange<std::int32_t>(n * n)).view();
        return job{[=] { out = dsl::take(a, index); }, out};
      });
});

}  // namespace
}  // namespace bench

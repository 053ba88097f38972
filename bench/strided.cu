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
__global__ void transposed(float* out, const float* m, int rows, int columns) {
  __shared__ float part[tile][tile + 1];
  const int x = blockIdx.x * tile, y = blockIdx.y * tile, i = threadIdx.x;
  for (int k = threadIdx.y; k < tile; k += tile_rows)
    if (y + k < rows && x + i < columns)
      part[k][i] = m[static_cast<std::int64_t>(y + k) * columns + x + i];
  __syncthreads();
  for (int k = threadIdx.y; k < tile; k += tile_rows)
    if (x + k < columns && y + i < rows)
      out[static_cast<std::int64_t>(x + k) * rows + y + i] = part[i][k];
}

__device__ float heat(const float* m, int i, int j, int up, int down, int left, int right,
                      int columns) {
  const float here = m[i * columns + j];
  return here + 0.1f * (m[up * columns + j] + m[down * columns + j] + m[i * columns + left] +
                        m[i * columns + right] - 4 * here);
}
__global__ void heat_inside(float* out, const float* m, int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i > 0 && j > 0 && i + 1 < rows && j + 1 < columns)
    out[static_cast<std::int64_t>(i) * columns + j] =
        heat(m, i, j, i - 1, i + 1, j - 1, j + 1, columns);
}
__global__ void heat_clamped(float* out, const float* m, int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < rows && j < columns)
    out[static_cast<std::int64_t>(i) * columns + j] =
        heat(m, i, j, max(i - 1, 0), min(i + 1, rows - 1), max(j - 1, 0), min(j + 1, columns - 1),
             columns);
}

using x_t = rectangle<float>;

/// A peer: a kernel that takes the matrix in tiles of `block`.
auto by_tiles(void (*kernel)(float*, const float*, int, int), dim3 of_tile, dim3 block) {
  return [=](const x_t& x) {
    const auto tiles = [](std::int64_t n, unsigned size) {
      return static_cast<unsigned>((n + size - 1) / size);
    };
    const dim3 grid(tiles(x.columns, of_tile.x), tiles(x.rows, of_tile.y));
    kernel<<<grid, block, 0, stream()>>>(x.out.data(), x.m.data(), static_cast<int>(x.rows),
                                         static_cast<int>(x.columns));
  };
}

const rows matrices([] {
  const auto first = dsl::slice(0, -1), last = dsl::slice(1, dsl::end),
             even = dsl::slice(0, dsl::end, 2), whole = dsl::slice();
  constexpr shape square{8192, 8192};
  for (const shape of : {square, odd_shape}) {
    const auto row = [of](const char* name, double bytes, auto call) {
      return work_on_rectangle<float>(name, of, bytes).by("dsl", call);
    };
    add_copy("strided", shape_of(of.rows, of.columns), of.rows * of.columns);
    row("m * row", 8, [](const x_t& x) { x.out = x.m * x.row; });
    row("m * col", 8, [](const x_t& x) { x.out = x.m * x.column; });
    auto row_and_col =
        row("m * row + col", 8, [](const x_t& x) { x.out = x.m * x.row + x.column; });
    if (of.columns == square.columns)
      row_and_col.by("hand", [](const x_t& x) {
        const auto four = [](const auto& v) { return reinterpret_cast<const float4*>(v.data()); };
        const int side = square.columns;
        row_and_column<<<dim3(side / 4 / 256, side), 256, 0, stream()>>>(
            reinterpret_cast<float4*>(x.out.data()), four(x.m), four(x.row), x.column.data(), side);
      });
    row("m * scalar", 8, [](const x_t& x) { x.out = x.m * x.row(dsl::slice(0, 1)); });
    row("row * col", 4, [](const x_t& x) { x.out = x.column * x.row; });
    row("transpose(m)", 8, [](const x_t& x) {
      auto out = dsl::reshape(x.out, x.columns, x.rows);
      out = dsl::transpose(x.m);
    }).by("hand", by_tiles(transposed, dim3(tile, tile), dim3(tile, tile_rows)));
    if (of.rows == of.columns)
      row("m + transpose(m)", 8, [](const x_t& x) { x.out = x.m + dsl::transpose(x.m); });
    row("out[:, :-1] = m[:, 1:] + 1", 8,
        [=](const x_t& x) { x.out(whole, first) = x.m(whole, last) + 1; });
    row("out[:, ::2] = m[:, ::2] + 1", 4,
        [=](const x_t& x) { x.out(whole, even) = x.m(whole, even) + 1; });
    const dim3 block(32, 8);
    heat_by_slices<float>(of).by("hand", by_tiles(heat_inside, block, block));
    heat_by_shift<float>(of).by("hand", by_tiles(heat_clamped, block, block));
  }

  for (const std::int64_t n : {1 << 26, (1 << 26) + 1})
    work("strided", dsl::dtype::float32, std::to_string(n), "take(a, index)",
         12.0 * static_cast<double>(n))
        .by("dsl", [n] {
          const auto a = operand<float>(slot::a, n);
          const auto out = target<float>(slot::out, n);
          const auto index = dsl::array<std::int32_t>(n - 1 - dsl::arange<std::int32_t>(n)).view();
          return job{[=] { out = dsl::take(a, index); }, out};
        });

  for (const std::int64_t n : {512, 509})
    work("strided", dsl::dtype::float32, std::to_string(n) + "x" + shape_of(n, n),
         "permute(a, 2, 0, 1)", 8.0 * static_cast<double>(n * n * n))
        .by("dsl", [n] {
          const auto a = dsl::reshape(operand<float>(slot::a, n * n * n), n, n, n);
          const auto out = dsl::reshape(target<float>(slot::out, n * n * n), n, n, n);
          return job{[=] { out = dsl::permute(a, 2, 0, 1); }, out};
        });
});

}  // namespace
}  // namespace bench

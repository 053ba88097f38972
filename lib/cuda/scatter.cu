#include "cuda/scatter.hpp"

#include <dsl/ir/config.hpp>

#include "cuda/grid_stride.hpp"

namespace dsl::kernels {

template <class Word>
__global__ void scatter(detail::scatter_task task) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < task.count; i += stride) {
    const std::int64_t position = task.positions[i];
    const bool is_last = i + 1 == task.count || task.positions[i + 1] != position;
    if (is_last && position >= 0 && position < task.elements)
      static_cast<Word*>(task.target)[position * task.stride] =
          static_cast<const Word*>(task.values)[i];
  }
}

}  // namespace dsl::kernels

namespace dsl::detail::cuda {

const char* scatter_architectures() { return DSL_DETAIL_ARCHITECTURES; }

cudaError_t launch_scatter(const scatter_task& task, cudaStream_t stream) {
  constexpr std::int64_t most_blocks = 1 << 13;
  const unsigned grid = grid_stride_blocks(task.count, most_blocks);
  switch (task.bytes) {
    case 1: kernels::scatter<unsigned char><<<grid, grid_stride_block, 0, stream>>>(task); break;
    case 2: kernels::scatter<unsigned short><<<grid, grid_stride_block, 0, stream>>>(task); break;
    case 4: kernels::scatter<unsigned><<<grid, grid_stride_block, 0, stream>>>(task); break;
    case 8: kernels::scatter<uint2><<<grid, grid_stride_block, 0, stream>>>(task); break;
    default: kernels::scatter<double2><<<grid, grid_stride_block, 0, stream>>>(task); break;
  }
  return cudaGetLastError();
}

}  // namespace dsl::detail::cuda

// Fills memory with any value, which cudaMemsetAsync cannot do.
#include "cuda/fill.hpp"

#include <dsl/ir/config.hpp>

#include <cstring>

#include "cuda/grid_stride.hpp"

namespace dsl::kernels {

template <class Word>
__global__ void fill(Word* at, Word value, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    at[i] = value;
}

}  // namespace dsl::kernels

namespace dsl::detail::cuda {

namespace {

constexpr std::int64_t most_blocks = 1 << 16;

// Calls `launch` with a word of `size` bytes.
template <class Launch>
cudaError_t with_word(std::size_t size, const Launch& launch) {
  switch (size) {
    case 1: return launch(std::uint8_t{});
    case 2: return launch(std::uint16_t{});
    case 4: return launch(std::uint32_t{});
    case 8: return launch(std::uint64_t{});
    default: return launch(uint4{});
  }
}

}  // namespace

const char* fill_architectures() { return DSL_DETAIL_ARCHITECTURES; }

cudaError_t launch_fill(void* at, const void* value, std::size_t size, std::int64_t count,
                        cudaStream_t stream) {
  return with_word(size, [&](auto word) {
    using Word = decltype(word);
    std::memcpy(&word, value, sizeof word);
    auto* to = static_cast<Word*>(at);
    void* arguments[] = {&to, &word, &count};
    return cudaLaunchKernel(reinterpret_cast<const void*>(&kernels::fill<Word>),
                            dim3(grid_stride_blocks(count, most_blocks)), dim3(grid_stride_block),
                            arguments, 0, stream);
  });
}

}  // namespace dsl::detail::cuda

// Fills and strided copies, which cudaMemsetAsync and cudaMemcpyAsync cannot do.
#include "move.hpp"

namespace dsl::detail::cuda {

namespace {

template <class Word>
__global__ void fill_kernel(Word* at, Word value, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) at[i] = value;
}

// One element a thread: the way back from a temporary, not the fast path.
template <class Word>
__global__ void copy_kernel(const __grid_constant__ strided_copy c) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < c.elements; i += stride) {
    std::int64_t rest = i, to = 0, from = 0;
    for (int d = c.rank - 1; d >= 0; --d) {
      const std::int64_t at = rest % c.extents[d];
      rest /= c.extents[d], to += at * c.to_strides[d], from += at * c.from_strides[d];
    }
    static_cast<Word*>(c.to)[to] = static_cast<const Word*>(c.from)[from];
  }
}

constexpr int block = 256;
unsigned grid_for(std::int64_t count) {
  const std::int64_t blocks = (count + block - 1) / block, most = 1 << 16;
  return static_cast<unsigned>(blocks < most ? blocks : most);
}

// Calls `launch` with a word of `size` bytes.
template <class Launch>
void with_word(std::size_t size, const Launch& launch) {
  switch (size) {
    case 1: return launch(std::uint8_t{});
    case 2: return launch(std::uint16_t{});
    case 4: return launch(std::uint32_t{});
    case 8: return launch(std::uint64_t{});
    default: return launch(uint4{});
  }
}

}  // namespace

void launch_fill(void* at, const void* value, std::size_t size, std::int64_t count, cudaStream_t stream) {
  with_word(size, [&](auto word) {
    std::memcpy(&word, value, sizeof word);
    fill_kernel<<<grid_for(count), block, 0, stream>>>(static_cast<decltype(word)*>(at), word, count);
  });
}

void launch_copy(const strided_copy& c, std::size_t size, cudaStream_t stream) {
  with_word(size, [&](auto word) { copy_kernel<decltype(word)><<<grid_for(c.elements), block, 0, stream>>>(c); });
}

}  // namespace dsl::detail::cuda

// Fills device memory with values that cudaMemsetAsync cannot write.
#include <cstdint>

namespace dsl::detail::cuda {

namespace {

template <class Word>
__global__ void fill_kernel(Word* at, Word value, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) at[i] = value;
}

template <class Word>
void launch(void* at, const void* value, std::int64_t count, cudaStream_t stream) {
  constexpr int block = 256;
  const std::int64_t blocks = (count + block - 1) / block, most = 1 << 16;
  fill_kernel<<<static_cast<unsigned>(blocks < most ? blocks : most), block, 0, stream>>>(static_cast<Word*>(at),
                                                                                         *static_cast<const Word*>(value), count);
}

}  // namespace

void launch_fill(void* at, const void* value, std::size_t size, std::int64_t count, cudaStream_t stream) {
  alignas(16) unsigned char word[16];
  for (std::size_t i = 0; i < size; ++i) word[i] = static_cast<const unsigned char*>(value)[i];
  switch (size) {
    case 1: return launch<std::uint8_t>(at, word, count, stream);
    case 2: return launch<std::uint16_t>(at, word, count, stream);
    case 4: return launch<std::uint32_t>(at, word, count, stream);
    case 8: return launch<std::uint64_t>(at, word, count, stream);
    default: return launch<uint4>(at, word, count, stream);
  }
}

}  // namespace dsl::detail::cuda

#include "cuda/sort.hpp"

#include <cub/device/device_radix_sort.cuh>

#include <dsl/ir/config.hpp>

#include "cuda/grid_stride.hpp"
#include "exec/by_key/ordered_key.hpp"

namespace dsl::kernels {

template <class Key>
__global__ void keys_of_elements(detail::ordered_key keys, const void* elements, Key* to,
                                 bool joins_zeros, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    to[i] = static_cast<Key>(keys.to_key(keys.load(elements, i), joins_zeros));
}
template <class Key>
__global__ void elements_of_keys(detail::ordered_key keys, const Key* from, void* elements,
                                 std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    keys.store(elements, i, keys.to_bits(from[i]));
}
__global__ void positions(std::uint32_t* to, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    to[i] = static_cast<std::uint32_t>(i);
}
/// Writes the positions in sorted order, and the elements at these positions.
__global__ void sorted_order(detail::ordered_key keys, const std::uint32_t* from,
                             const void* elements, void* sorted, std::int64_t* order,
                             std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const std::uint32_t at = from[i];
    order[i] = at;
    if (sorted != nullptr) keys.store(sorted, i, keys.load(elements, at));
  }
}

}  // namespace dsl::kernels

namespace dsl::detail::cuda {

namespace {

constexpr std::int64_t most_blocks = 1 << 13;

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

// Two arrays of keys, two of values if there are values, and CUB's own memory.
template <class Key>
class radix_sort {
 public:
  radix_sort(std::int64_t count, bool has_values, int bits)
      : count_(count), has_values_(has_values), bits_(bits) {}

  // Bytes of the arrays; CUB's memory follows them.
  std::size_t array_bytes() const {
    return 2 * (aligned(sizeof(Key) * size()) +
                (has_values_ ? aligned(sizeof(std::uint32_t) * size()) : 0));
  }
  Key* keys(void* memory, std::size_t number) const {
    return reinterpret_cast<Key*>(static_cast<char*>(memory) +
                                  number * aligned(sizeof(Key) * size()));
  }
  std::uint32_t* values(void* memory, std::size_t number) const {
    return reinterpret_cast<std::uint32_t*>(static_cast<char*>(memory) +
                                            2 * aligned(sizeof(Key) * size()) +
                                            number * aligned(sizeof(std::uint32_t) * size()));
  }
  cudaError_t run(void* temporary, std::size_t& bytes, cub::DoubleBuffer<Key>& keys,
                  cub::DoubleBuffer<std::uint32_t>& values, cudaStream_t stream) const {
    if (has_values_)
      return cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, values, count_, 0, bits_,
                                             stream);
    return cub::DeviceRadixSort::SortKeys(temporary, bytes, keys, count_, 0, bits_, stream);
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(count_); }
  std::int64_t count_;
  bool has_values_;
  int bits_;
};

template <class Key>
cudaError_t sort_as(const sort_task& task, void* memory, std::size_t& bytes, cudaStream_t stream) {
  const ordered_key keys = ordered_key::of_type(task.type);
  const bool has_order = task.order != nullptr;
  const radix_sort<Key> sort(task.count, has_order, 8 * keys.bytes);
  const std::size_t arrays = sort.array_bytes();
  cub::DoubleBuffer<Key> key(sort.keys(memory, 0), sort.keys(memory, 1));
  cub::DoubleBuffer<std::uint32_t> at(sort.values(memory, 0), sort.values(memory, 1));
  std::size_t temporary = 0;
  if (const cudaError_t asked = sort.run(nullptr, temporary, key, at, stream); asked != cudaSuccess)
    return asked;
  if (memory == nullptr) {
    bytes = arrays + temporary;
    return cudaSuccess;
  }
  const unsigned grid = grid_stride_blocks(task.count, most_blocks);
  kernels::keys_of_elements<<<grid, grid_stride_block, 0, stream>>>(
      keys, task.elements, key.Current(), has_order, task.count);
  if (has_order)
    kernels::positions<<<grid, grid_stride_block, 0, stream>>>(at.Current(), task.count);
  const cudaError_t sorted =
      sort.run(static_cast<char*>(memory) + arrays, temporary, key, at, stream);
  if (sorted != cudaSuccess) return sorted;
  if (has_order)
    kernels::sorted_order<<<grid, grid_stride_block, 0, stream>>>(
        keys, at.Current(), task.elements, task.sorted, task.order, task.count);
  else
    kernels::elements_of_keys<<<grid, grid_stride_block, 0, stream>>>(keys, key.Current(),
                                                                      task.sorted, task.count);
  return cudaGetLastError();
}

}  // namespace

const char* sort_architectures() { return DSL_DETAIL_ARCHITECTURES; }

cudaError_t launch_sort(const sort_task& task, void* memory, std::size_t& bytes,
                        cudaStream_t stream) {
  return size_of(task.type) <= 4 ? sort_as<std::uint32_t>(task, memory, bytes, stream)
                                 : sort_as<std::uint64_t>(task, memory, bytes, stream);
}

cudaError_t launch_sort(const pair_sort_task& task, void* memory, std::size_t& bytes,
                        cudaStream_t stream) {
  if (task.values == nullptr)
    return cub::DeviceRadixSort::SortKeys(memory, bytes, task.keys, task.sorted_keys, task.count,
                                          task.first_bit, task.last_bit, stream);
  return cub::DeviceRadixSort::SortPairs(memory, bytes, task.keys, task.sorted_keys, task.values,
                                         task.sorted_values, task.count, task.first_bit,
                                         task.last_bit, stream);
}

}  // namespace dsl::detail::cuda

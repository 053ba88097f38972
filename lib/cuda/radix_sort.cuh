// A radix sort of elements. How many passes it takes depends on the range of their keys, which only
// the GPU knows: kernels of passes that are not needed return at once, and nothing waits for the
// host.
#pragma once

#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "exec/tasks/ordered_key.hpp"

namespace dsl::detail::cuda {

inline constexpr int digit_bits = 8, digits = 1 << digit_bits;

/// Threads of a block that sorts a tile, and the elements that each of them has: as many as leave
/// room for two blocks on a multiprocessor (the times of others are in docs/lab.md).
inline constexpr int sort_threads = 512, sort_blocks = 2;
template <class Key, bool HasOrder>
inline constexpr int sort_items = sizeof(Key) == 8 ? 11
                                  : HasOrder       ? 14
                                                   : 20;
/// The same if one block sorts few elements.
inline constexpr int few_sort_items = 2;

/// What a sort's kernels share. The memory from `range` to the end of `seen` begins as zeros.
template <class Key>
struct sort_arguments {
  ordered_key keys;
  std::int64_t count;
  const void* elements;
  void* sorted;
  std::int64_t* order;
  // The arrays that passes before the last one write in turns: keys, and the elements' positions.
  Key* moved[2];
  std::uint32_t* moved_order[2];
  // The greatest key, and the greatest complement of a key.
  Key* range;
  // For each pass: tiles that blocks have taken.
  unsigned* taken;
  // For each pass and digit: keys with that digit, then keys with a smaller one.
  std::uint32_t* places;
  // For each tile and digit: a number of keys in the lower half. The upper half tells, for the pass
  // that wrote it, whether these are the keys of that tile or also those of all tiles before.
  std::uint64_t* seen;
};

/// One thread of a sort's kernels. Elements are sorted by their keys less the least one.
/// `HasOrder`: each key moves with its element's position, which is the result.
template <class Key, bool HasOrder, int Items = sort_items<Key, HasOrder>>
struct radix_sort {
  static constexpr int threads = sort_threads, items = Items,
                       most_passes = static_cast<int>(sizeof(Key)) * 8 / digit_bits;
  using ranking =
      cub::BlockRadixRankMatchEarlyCounts<threads, digit_bits, false, cub::BLOCK_SCAN_WARP_SCANS,
                                          cub::WARP_MATCH_ANY, 1>;
  struct shared_memory {
    union {
      typename ranking::TempStorage ranks;
      Key keys[threads * items];
      std::uint32_t order[threads * items];
    };
    std::uint32_t places[digits];
    unsigned tile;
  };
  struct digit_of {
    int shift;
    __device__ unsigned Digit(Key key) const {
      return static_cast<unsigned>(key >> shift) & (digits - 1);
    }
  };
  static_assert(threads >= digits && sizeof(shared_memory) <= 48 << 10);

  const sort_arguments<Key>& given;

  __device__ Key key_of(Key bits) const {
    return static_cast<Key>(given.keys.to_key(bits, HasOrder));
  }
  __device__ Key least() const { return ~given.range[1]; }
  /// At least 1, since a pass also copies the elements.
  __device__ int passes() const {
    const Key range = given.range[0] - least();
    const int bits = sizeof(Key) == 8 ? 64 - __clzll(static_cast<long long>(range))
                                      : 32 - __clz(static_cast<int>(range));
    return bits <= digit_bits ? 1 : (bits + digit_bits - 1) / digit_bits;
  }

  __device__ void find_range() const {
    struct greater {
      __device__ Key operator()(Key a, Key b) const { return a < b ? b : a; }
    };
    using reduction = cub::BlockReduce<Key, threads>;
    __shared__ typename reduction::TempStorage of_keys, of_complements;
    Key greatest = 0, complement = 0;
    for_all([&](Key key) {
      greatest = greater{}(greatest, key);
      complement = greater{}(complement, ~key);
    });
    greatest = reduction(of_keys).Reduce(greatest, greater{});
    complement = reduction(of_complements).Reduce(complement, greater{});
    if (threadIdx.x != 0) return;
    atomicMax(given.range, greatest);
    atomicMax(given.range + 1, complement);
  }

  __device__ void count_digits() const {
    // Lanes have several counters for a digit, since keys of few values meet at few of them.
    constexpr int copies = 4;
    __shared__ unsigned counted[most_passes][digits][copies];
    const int last = passes(), copy = threadIdx.x % copies;
    for (int i = threadIdx.x; i < most_passes * digits * copies; i += threads)
      (&counted[0][0][0])[i] = 0;
    __syncthreads();
    const Key first = least();
    for_all([&](Key key) {
      key -= first;
#pragma unroll
      for (int pass = 0; pass < most_passes; ++pass)
        if (pass < last)
          atomicAdd(&counted[pass][digit_of{pass * digit_bits}.Digit(key)][copy], 1u);
    });
    __syncthreads();
    for (int i = threadIdx.x; i < last * digits; i += threads) {
      unsigned sum = 0;
#pragma unroll
      for (int k = 0; k < copies; ++k) sum += counted[i / digits][i % digits][k];
      if (sum != 0) atomicAdd(given.places + i, sum);
    }
  }

  /// Replaces the numbers of keys by those of keys with a smaller digit; a block of `digits`
  /// threads for each pass.
  __device__ void find_places() const {
    using scan = cub::BlockScan<std::uint32_t, digits>;
    __shared__ typename scan::TempStorage memory;
    std::uint32_t& place = given.places[blockIdx.x * digits + threadIdx.x];
    std::uint32_t before;
    scan(memory).ExclusiveSum(place, before);
    place = before;
  }

  /// Moves a tile's elements to their places by one digit. The first pass reads the elements, the
  /// last one writes the results.
  __device__ void move(int pass) const {
    __shared__ shared_memory shared;
    const int last = passes() - 1;
    if (pass > last) return;
    if (threadIdx.x == 0) shared.tile = atomicAdd(given.taken + pass, 1u);
    __syncthreads();
    const std::int64_t tile = shared.tile, first = tile * threads * items;
    const int left = static_cast<int>(min(given.count - first, std::int64_t{threads * items}));
    Key key[items];
    const Key from = least();
    if (pass == 0) {
      load(key, first, left);
      each_item([&](int u, int i) { key[u] = i < left ? key_of(key[u]) - from : ~Key{0}; });
    } else {
      const Key* const before = keys_of(pass - 1) + first;
      each_item([&](int u, int i) { key[u] = i < left ? before[i] : ~Key{0}; });
    }
    const digit_of digit{pass * digit_bits};
    int rank[items], smaller[1], mine[1];
    std::uint64_t* const seen = given.seen + tile * digits + threadIdx.x;
    ranking(shared.ranks)
        .RankKeys(key, rank, digit, smaller, publish{seen, state_of_tile(pass), mine});
    __syncthreads();
#pragma unroll
    for (int u = 0; u < items; ++u) shared.keys[rank[u]] = key[u];
    if (threadIdx.x < digits) {
      const std::uint32_t place = given.places[pass * digits + threadIdx.x] -
                                  static_cast<std::uint32_t>(smaller[0]),
                          before = keys_before(seen, tile, pass);
      write(seen, state_of_all(pass), before + static_cast<std::uint32_t>(mine[0]));
      shared.places[threadIdx.x] = place + before;
    }
    __syncthreads();
    std::uint32_t to[items];
#pragma unroll
    for (int u = 0; u < items; ++u) {
      const int i = static_cast<int>(threadIdx.x) + u * threads;
      const Key moved = shared.keys[i];
      to[u] = static_cast<std::uint32_t>(i) + shared.places[digit.Digit(moved)];
      if (i >= left) continue;
      if (pass < last) keys_of(pass)[to[u]] = moved;
      else if (!HasOrder) store(to[u], moved + from);
    }
    if constexpr (HasOrder) {
      std::uint32_t at[items];
      each_item([&](int u, int i) {
        at[u] = i >= left  ? 0
                : pass > 0 ? order_of(pass - 1)[first + i]
                           : static_cast<std::uint32_t>(first + i);
      });
      __syncthreads();
#pragma unroll
      for (int u = 0; u < items; ++u) shared.order[rank[u]] = at[u];
      __syncthreads();
#pragma unroll
      for (int u = 0; u < items; ++u) {
        const int i = static_cast<int>(threadIdx.x) + u * threads;
        if (i >= left) continue;
        if (pass < last) order_of(pass)[to[u]] = shared.order[i];
        else store_order(to[u], shared.order[i]);
      }
    }
  }

  /// Sorts all elements, of which there are at most a tile, by one block.
  __device__ void sort_in_block() const {
    __shared__ shared_memory shared;
    const int left = static_cast<int>(given.count);
    Key key[items];
    std::uint32_t at[items];
    load(key, 0, left);
    each_item([&](int u, int i) {
      key[u] = i < left ? key_of(key[u]) : ~Key{0};
      at[u] = static_cast<std::uint32_t>(i);
    });
    for (int pass = 0; pass * digit_bits < 8 * given.keys.bytes; ++pass) {
      int rank[items], smaller[1];
      ranking(shared.ranks).RankKeys(key, rank, digit_of{pass * digit_bits}, smaller);
      exchange(shared.keys, key, rank);
      if constexpr (HasOrder) exchange(shared.order, at, rank);
      __syncthreads();
    }
    each_item([&](int u, int i) {
      if (i >= left) return;
      if constexpr (HasOrder) store_order(static_cast<std::uint32_t>(i), at[u]);
      else store(static_cast<std::uint32_t>(i), key[u]);
    });
  }

 private:
  // Called by the ranking as soon as the tile's keys are counted.
  struct publish {
    std::uint64_t* seen;
    unsigned state;
    int (&mine)[1];
    __device__ void operator()(int (&counted)[1]) const {
      mine[0] = counted[0];
      if (threadIdx.x < digits) write(seen, state, static_cast<std::uint32_t>(counted[0]));
    }
  };

  __device__ static unsigned state_of_tile(int pass) { return static_cast<unsigned>(2 * pass + 1); }
  __device__ static unsigned state_of_all(int pass) { return static_cast<unsigned>(2 * pass + 2); }
  __device__ static void write(std::uint64_t* seen, unsigned state, std::uint32_t counted) {
    *static_cast<volatile std::uint64_t*>(seen) = std::uint64_t{state} << 32 | counted;
  }
  // Keys with this thread's digit in the tiles before.
  __device__ std::uint32_t keys_before(const std::uint64_t* seen, std::int64_t tile,
                                       int pass) const {
    std::uint32_t sum = 0;
    while (tile-- > 0) {
      seen -= digits;
      std::uint64_t word;
      do word = *static_cast<const volatile std::uint64_t*>(seen);
      while (word >> 32 < state_of_tile(pass));
      sum += static_cast<std::uint32_t>(word);
      if (word >> 32 == state_of_all(pass)) break;
    }
    return sum;
  }

  // What a pass before the last one writes.
  __device__ Key* keys_of(int pass) const {
    return (pass & 1) != 0 ? given.moved[1] : given.moved[0];
  }
  __device__ std::uint32_t* order_of(int pass) const {
    return (pass & 1) != 0 ? given.moved_order[1] : given.moved_order[0];
  }

  // Calls use(number, position in the tile) for a thread's elements: a warp's are adjacent.
  template <class Use>
  __device__ static void each_item(const Use& use) {
    const int first = static_cast<int>(threadIdx.x / 32 * 32 * items + threadIdx.x % 32);
#pragma unroll
    for (int u = 0; u < items; ++u) use(u, first + u * 32);
  }
  // Calls use(elements) with the elements as unsigned integers. All loads of a thread are under one
  // choice of their width, so that they are in flight together.
  template <class Use>
  __device__ void with_elements(const Use& use) const {
    if constexpr (sizeof(Key) == 8) {
      use(static_cast<const std::uint64_t*>(given.elements));
    } else {
      switch (given.keys.bytes) {
        case 1: use(static_cast<const std::uint8_t*>(given.elements)); break;
        case 2: use(static_cast<const std::uint16_t*>(given.elements)); break;
        default: use(static_cast<const std::uint32_t*>(given.elements)); break;
      }
    }
  }
  // Loads the bits of a tile's elements.
  __device__ void load(Key (&bits)[items], std::int64_t first, int left) const {
    with_elements([&](const auto* elements) {
      each_item([&](int u, int i) { bits[u] = i < left ? elements[first + i] : 0; });
    });
  }
  // Calls use(key) for this thread's part of all keys.
  template <class Use>
  __device__ void for_all(const Use& use) const {
    constexpr int together = 8;
    const std::int64_t step = std::int64_t{gridDim.x} * threads * together;
    std::int64_t i = std::int64_t{blockIdx.x} * threads * together + threadIdx.x;
    for (; i < given.count; i += step) {
      Key bits[together];
      with_elements([&](const auto* elements) {
#pragma unroll
        for (int k = 0; k < together; ++k)
          bits[k] = i + k * threads < given.count ? elements[i + k * threads] : 0;
      });
#pragma unroll
      for (int k = 0; k < together; ++k)
        if (i + k * threads < given.count) use(key_of(bits[k]));
    }
  }
  // Elements move to their ranks in the tile.
  template <class T>
  __device__ static void exchange(T* shared, T (&mine)[items], const int (&rank)[items]) {
    __syncthreads();
#pragma unroll
    for (int u = 0; u < items; ++u) shared[rank[u]] = mine[u];
    __syncthreads();
    each_item([&](int u, int i) { mine[u] = shared[i]; });
  }

  __device__ void store(std::uint32_t to, Key key) const {
    const std::uint64_t bits = given.keys.to_bits(key);
    if constexpr (sizeof(Key) == 8) static_cast<std::uint64_t*>(given.sorted)[to] = bits;
    else given.keys.store(given.sorted, to, bits);
  }
  __device__ void store_order(std::uint32_t to, std::uint32_t at) const {
    given.order[to] = at;
    if (given.sorted != nullptr)
      given.keys.store(given.sorted, to, given.keys.load(given.elements, at));
  }
};

}  // namespace dsl::detail::cuda

namespace dsl::kernels {

template <class Key, bool HasOrder>
__global__ __launch_bounds__(detail::cuda::sort_threads) void sort_range(
    detail::cuda::sort_arguments<Key> given) {
  detail::cuda::radix_sort<Key, HasOrder>{given}.find_range();
}
template <class Key, bool HasOrder>
__global__ __launch_bounds__(detail::cuda::sort_threads) void sort_counts(
    detail::cuda::sort_arguments<Key> given) {
  detail::cuda::radix_sort<Key, HasOrder>{given}.count_digits();
}
template <class Key, bool HasOrder>
__global__ __launch_bounds__(detail::cuda::digits) void sort_places(
    detail::cuda::sort_arguments<Key> given) {
  detail::cuda::radix_sort<Key, HasOrder>{given}.find_places();
}
template <class Key, bool HasOrder>
__global__ __launch_bounds__(detail::cuda::sort_threads, detail::cuda::sort_blocks) void sort_pass(
    detail::cuda::sort_arguments<Key> given, int pass) {
  detail::cuda::radix_sort<Key, HasOrder>{given}.move(pass);
}
template <class Key, bool HasOrder, int Items>
__global__ __launch_bounds__(detail::cuda::sort_threads) void sort_block(
    detail::cuda::sort_arguments<Key> given) {
  detail::cuda::radix_sort<Key, HasOrder, Items>{given}.sort_in_block();
}

}  // namespace dsl::kernels

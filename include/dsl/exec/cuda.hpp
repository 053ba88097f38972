// The CUDA back end: one kernel template, in files that nvcc compiles.
#pragma once

#include <dsl/exec/cuda_team.hpp>
#include <dsl/exec/kernel.hpp>

namespace dsl::detail {

#if defined(__CUDACC__)

// The collective operations of a block of threads, a value a thread.
struct block_team {
  unsigned char* shared;
  template <class Fold> __device__ fold_state<Fold> combine(const fold_state<Fold>& a, const fold_state<Fold>& b) const { return detail::combine<Fold>(a, b); }

  template <class T> __device__ T shift_down(const T& value, int step) const {
    return by_words(value, [step](unsigned word) { return __shfl_down_sync(0xffffffffu, word, step); });
  }
  /// The first lane's.
  template <class T> __device__ T from_first(const T& value) const {
    return by_words(value, [](unsigned word) { return __shfl_sync(0xffffffffu, word, 0); });
  }
  template <class T, class Exchange> __device__ static T by_words(T value, const Exchange& exchange) {
    constexpr int words = (sizeof(T) + 3) / 4;
    unsigned word[words] = {};
    memcpy(word, &value, sizeof(T));
    for (int i = 0; i < words; ++i) word[i] = exchange(word[i]);
    memcpy(&value, word, sizeof(T));
    return value;
  }

  template <class Fold> __device__ fold_state<Fold> across_warps(fold_state<Fold> value, const sharing& threads) const {
    const int thread = static_cast<int>(threadIdx.x);
    auto* const of_thread = reinterpret_cast<fold_state<Fold>*>(shared);
    __syncthreads();
    of_thread[thread] = value;
    __syncthreads();
    if (threads.owned_by(thread, static_cast<int>(blockDim.x)) < 0) return value;
    const warp_leaders from = leaders_of(thread, threads);
    value = of_thread[from.first];
    for (int i = 1; i < from.count; ++i) value = combine<Fold>(value, of_thread[from.first + i * from.step]);
    return value;
  }
};

// Combines the first `count` sums of threads that share a result, and calls leave(sum, number) in all threads: the ones that own a
// result have it.
template <class Folds, int Slots, class Leave>
__device__ void reduce_sums(const block_team& team, typename Folds::accumulators (&sums)[Slots], int count, const sharing& threads, const Leave& leave) {
  for (int step = 16; step > 0; step /= 2) {
    if (!halves_at(step, threads)) continue;
    DSL_DETAIL_UNROLL
    for (int s = 0; s < Slots; ++s)
      if (s < count)
        Folds::visit([&]<class Fold, int J>() { nth_fold<J>(sums[s]) = team.combine<Fold>(nth_fold<J>(sums[s]), team.shift_down(nth_fold<J>(sums[s]), step)); });
  }
  if (Slots <= 4 && !goes_across_warps(threads)) {
    DSL_DETAIL_UNROLL
    for (int s = 0; s < Slots; ++s)
      if (s < count) leave(sums[s], s);
    return;
  }
  DSL_DETAIL_ROLLED
  for (int slot = 0; slot < count; ++slot) {
    typename Folds::accumulators mine = sums[0];
    DSL_DETAIL_UNROLL
    for (int s = 1; s < Slots; ++s)  // an index that is not constant would put all of them into local memory
      if (s == slot) mine = sums[s];
    if (goes_across_warps(threads)) Folds::visit([&]<class Fold, int J>() { nth_fold<J>(mine) = team.across_warps<Fold>(nth_fold<J>(mine), threads); });
    leave(mine, slot);
  }
}

// Whether this block is the last of its group. No block waits for another; every block has read the scalars in device memory before
// the last one writes a result over them.
__device__ inline bool is_last_of(unsigned* ticket, unsigned blocks) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(ticket, blocks - 1) == blocks - 1;  // the last one sets it back to 0
  __syncthreads();
  __threadfence();
  return last;
}

// A block's share of the elements becomes one result, or a partial one: then the last block of the group combines them in the order of
// the blocks.
template <class Body, class Run>
__device__ void fold_blocks(Body& body, const fold_walk& walk, std::int64_t tiles, unsigned char* shared, const Run& run) {
  using folds = typename Body::folds;
  using accumulators = typename Body::accumulators;
  const block_team team{shared};
  const int thread = static_cast<int>(threadIdx.x), block = static_cast<int>(blockDim.x), owners = walk.threads.owners(block);
  const std::uint32_t blocks = static_cast<std::uint32_t>(walk.splits), group = blocks == 1 ? blockIdx.x : blockIdx.x / blocks, split = blockIdx.x - group * blocks;
  accumulators sums[Body::slots];
  DSL_DETAIL_UNROLL
  for (int s = 0; s < Body::slots; ++s) sums[s] = folds::identities();
  for (std::int64_t tile = split; tile < tiles; tile += blocks) run(group, tile, sums);
  if (tiles == 0) body.enter(group, 0);

  const int slots = walk.slots;
  if (slots == 1) {
    DSL_DETAIL_UNROLL
    for (int s = 1; s < Body::ahead; ++s) folds::add(sums[0], sums[s]);
  }
  constexpr int most = Body::strided ? Body::slots : 1;
  accumulators left[most];
  DSL_DETAIL_UNROLL
  for (int s = 0; s < most; ++s) left[s] = sums[s];
  auto* const partials = static_cast<accumulators*>(walk.partials) + static_cast<std::int64_t>(group) * blocks * slots * owners;
  const int owned = walk.threads.owned_by(thread, block);
  reduce_sums<folds>(team, left, slots, walk.threads, [&](const accumulators& sum, int slot) {
    if (owned < 0) return;
    if (blocks == 1) body.finish(sum, owned, slot);
    else partials[(static_cast<std::int64_t>(split) * slots + slot) * owners + owned] = sum;
  });
  if (blocks == 1 || !is_last_of(walk.tickets + group, blocks)) return;

  // Blocks in the place of a tile's rows: each result is shared by threads that are as far apart as there are results.
  sharing across = walk.threads;
  across.log2_distance = 0;
  while (across.distance() < owners) ++across.log2_distance;
  const auto first = static_cast<std::uint32_t>(thread >> across.log2_distance), parts = static_cast<std::uint32_t>(across.parts());
  DSL_DETAIL_UNROLL
  for (int s = 0; s < most; ++s) left[s] = folds::identities();
  DSL_DETAIL_ROLLED
  for (std::uint32_t b = first; b < blocks; b += parts) {
    DSL_DETAIL_UNROLL
    for (int s = 0; s < most; ++s)
      if (s < slots) folds::add(left[s], partials[(static_cast<std::int64_t>(b) * slots + s) * owners + (thread & (owners - 1))]);
  }
  const int finished = across.owned_by(thread, block);
  reduce_sums<folds>(team, left, slots, across, [&](const accumulators& sum, int slot) {
    if (finished >= 0) body.finish(sum, finished, slot);
  });
}

/// `Name` is what profilers show first.
template <class Name, class Pass, int Inputs, class Arguments>
__global__ void kernel(const __grid_constant__ Arguments args) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  using body = kernel_body<Pass, Inputs, Arguments, device_memory>;
  body thread(args, device_memory{});
  const int number = static_cast<int>(threadIdx.x), block = static_cast<int>(blockDim.x);
  const auto load_tile = [&](std::int64_t tile) {
    if constexpr (Arguments::strided) {
      if (args.tiles_of.shared_bytes == 0) return;
      __syncthreads();
      thread.load_tile(static_cast<std::uint32_t>(tile), number, block);
      thread.memory.commit_copies();
      thread.memory.template wait_for_copies<0>();
      __syncthreads();
    }
  };
  if constexpr (body::folds::count > 0) {
    if (args.folds.stop != nullptr && *args.folds.stop) return;
    fold_blocks(thread, args.folds, args.tiles, shared_memory, [&](std::uint32_t group, std::int64_t tile, typename body::accumulators* sums) {
      load_tile(tile);
      thread.fold(group, tile, number, block, sums);
    });
  } else {
    load_tile(blockIdx.x);
    thread.map(blockIdx.x, number, block);
  }
}

#endif  // __CUDACC__

}  // namespace dsl::detail

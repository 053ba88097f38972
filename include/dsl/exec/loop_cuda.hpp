// A loop in one CUDA kernel, in files that nvcc compiles.
#pragma once

#include <dsl/exec/cuda.hpp>
#include <dsl/exec/loop_kernel.hpp>
#include <dsl/exec/tagged.hpp>

namespace dsl::detail {

#if defined(__CUDACC__)

// The first lane has the result.
template <class Folds>
__device__ void combine_warp(const block_team& team, typename Folds::accumulators& sums) {
  DSL_DETAIL_UNROLL
  for (int step = 16; step > 0; step /= 2)
    Folds::visit([&]<class Fold, int J>() { nth_fold<J>(sums) = team.combine<Fold>(nth_fold<J>(sums), team.shift_down(nth_fold<J>(sums), step)); });
}

// Combines what warps have left in shared memory, several at once: one after another they would take as many times as long as a read
// takes. Behind the last one are identities.
template <class Folds>
__device__ typename Folds::accumulators combine_warps(const typename Folds::accumulators (&of_warp)[32], int warps) {
  constexpr int at_once = sizeof(of_warp[0]) <= 16 ? 8 : 4;
  if (warps == 1) return of_warp[0];
  typename Folds::accumulators sums = Folds::identities();
  DSL_DETAIL_ROLLED
  for (int first = 0; first < warps; first += at_once) {
    DSL_DETAIL_UNROLL
    for (int w = 0; w < at_once; ++w) Folds::add(sums, of_warp[first + w]);
  }
  return sums;
}

// Leaves the block's sums, which thread 0 has, to the others, and combines those of the blocks that a thread reads. A read that comes
// too early holds up the writes that it waits for: 132 blocks take 0.8 microseconds with the first pause, 1.2 without, and 1.7 where one
// warp reads all blocks' sums until all have come (docs/performance.md).
template <class Folds>
__device__ typename Folds::accumulators exchange(void* slots, const typename Folds::accumulators& sums, unsigned epoch) {
  using accumulators = typename Folds::accumulators;
  using slot = tagged<accumulators>;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x), blocks = static_cast<int>(gridDim.x);
  slot* const all = slots_of_step<accumulators>(slots, epoch, static_cast<unsigned>(blocks));
  if (thread == 0) slot(sums, epoch).publish(all + blockIdx.x);
  __nanosleep(static_cast<unsigned>(3 * blocks / 2));
  accumulators combined = Folds::identities();
  DSL_DETAIL_ROLLED
  for (int b = thread; b < blocks; b += threads) {
    slot of_block;
    do of_block.read(all + b);
    while (of_block.tag() != epoch);
    Folds::add(combined, of_block.value());
  }
  __syncwarp();
  return combined;
}

/// As many steps as the arguments say; reductions by all blocks, which must be on the device at once.
template <class Name, class Pass, int Inputs, int States, int Stop>
__global__ void __launch_bounds__(loop_block(Pass::view())) loop_kernel(const __grid_constant__ loop_arguments<Inputs + Pass::targets> args) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  using body = loop_body<Pass, Inputs, States, Stop, device_memory>;
  body loop(args, device_memory{});
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  if (loop.has_ended()) return;
  if constexpr (body::folds::count == 0) {
    loop.run_elementwise(static_cast<std::int64_t>(blockIdx.x) * threads + thread);
  } else {
    using folds = typename body::folds;
    __shared__ typename body::accumulators of_warp[2][32];  // a warp may be one step ahead of another
    __shared__ typename body::accumulators of_readers[32];
    if (thread < 32) of_warp[0][thread] = of_warp[1][thread] = of_readers[thread] = folds::identities();
    __syncthreads();
    const block_team team{shared_memory};
    typename body::thread_state mine;
    history_place history(args.loop);
    loop.begin(mine, blockIdx.x, gridDim.x, thread, threads);
    typename body::singles now = loop.first_singles();
    const int lane = thread & 31, warps = threads / 32;
    const int readers = static_cast<int>(gridDim.x) >= threads ? warps : (static_cast<int>(gridDim.x) + 31) / 32;
    DSL_DETAIL_ROLLED
    for (std::int64_t k = 0; k < args.loop.steps; ++k) {
      typename body::accumulators sums = loop.step(mine, now, k, thread, threads);
      combine_warp<folds>(team, sums);
      if (warps > 1) {
        auto& of = of_warp[k & 1];
        if (lane == 0) of[thread / 32] = sums;
        __syncthreads();
        if (gridDim.x == 1 || thread < 32) sums = combine_warps<folds>(of, warps);
      }
      if (gridDim.x > 1) {
        sums = exchange<folds>(args.loop.slots, sums, args.loop.epoch + static_cast<unsigned>(k));
        combine_warp<folds>(team, sums);
        if (lane == 0) of_readers[thread / 32] = sums;
        __syncthreads();
        sums = combine_warps<folds>(of_readers, readers);
      } else if (warps == 1) {
        sums = team.from_first(sums);
      }
      now = loop.finish(sums, now, k);
      if (blockIdx.x == 0 && thread == threads - 1) loop.record_singles(now, history);
      if (body::stops(now)) break;
    }
    loop.end(mine, thread, threads);
    if (blockIdx.x == 0 && thread == 0) loop.store_singles(now);
  }
}

#endif  // __CUDACC__

}  // namespace dsl::detail

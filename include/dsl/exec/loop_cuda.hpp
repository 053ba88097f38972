// A loop in one CUDA kernel, in files that nvcc compiles.
#pragma once

#include <dsl/exec/cuda.hpp>
#include <dsl/exec/loop_kernel.hpp>

namespace dsl::detail {

#if defined(__CUDACC__)

// A block's sums for the other blocks: words of 16 bytes, each with the number of the step, which are written and read whole, so that
// whoever sees the number has the sums (ld and st of .b128 are one access, PTX ISA 8.3).
template <class Accumulators>
struct sum_slot {
  static constexpr int words = (sizeof(Accumulators) + 11) / 12;
  quad word[words];

  __device__ static void store(quad* to, const quad& w) {
    asm volatile("{ .reg .b128 w; .reg .b64 lo, hi; mov.b64 lo, {%1, %2}; mov.b64 hi, {%3, %4}; mov.b128 w, {lo, hi}; st.relaxed.gpu.global.b128 [%0], w; }" ::"l"(to), "r"(w.x), "r"(w.y),
                 "r"(w.z), "r"(w.w)
                 : "memory");
  }
  __device__ static quad load(const quad* from) {
    quad w;
    asm volatile("{ .reg .b128 w; .reg .b64 lo, hi; ld.relaxed.gpu.global.b128 w, [%4]; mov.b128 {lo, hi}, w; mov.b64 {%0, %1}, lo; mov.b64 {%2, %3}, hi; }"
                 : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w)
                 : "l"(from)
                 : "memory");
    return w;
  }

  __device__ static void publish(quad* slot, const Accumulators& sums, unsigned epoch) {
    unsigned payload[3 * words] = {};
    memcpy(payload, &sums, sizeof(Accumulators));
    DSL_DETAIL_UNROLL
    for (int w = 0; w < words; ++w) store(slot + w, {payload[3 * w], payload[3 * w + 1], payload[3 * w + 2], epoch});
  }
  // Whether the slot has this step's sums, which it then gives.
  __device__ bool arrived(unsigned epoch, Accumulators& sums) const {
    unsigned payload[3 * words];
    bool all = true;
    DSL_DETAIL_UNROLL
    for (int w = 0; w < words; ++w) {
      payload[3 * w] = word[w].x, payload[3 * w + 1] = word[w].y, payload[3 * w + 2] = word[w].z;
      all = all && word[w].w == epoch;
    }
    memcpy(&sums, payload, sizeof(Accumulators));
    return all;
  }
  __device__ void read(const quad* slot) {
    DSL_DETAIL_UNROLL
    for (int w = 0; w < words; ++w) word[w] = load(slot + w);
  }
};

// The first lane has the result.
template <class Folds>
__device__ void combine_warp(const block_team& team, typename Folds::accumulators& sums) {
  DSL_DETAIL_UNROLL
  for (int step = 16; step > 0; step /= 2)
    Folds::visit([&]<class Fold, int J>() { nth_fold<J>(sums) = team.combine<Fold>(nth_fold<J>(sums), team.shift_down(nth_fold<J>(sums), step)); });
}

// Leaves the block's sums, which thread 0 has, to the others, and combines those of the blocks that a thread reads. A read that comes
// too early holds up the writes that it waits for: 132 blocks take 0.8 microseconds with the first pause, 1.2 without, and 1.7 where one
// warp reads all blocks' sums until all have come (docs/performance.md).
template <class Folds>
__device__ typename Folds::accumulators exchange(quad* slots, const typename Folds::accumulators& sums, unsigned epoch) {
  using accumulators = typename Folds::accumulators;
  using slot = sum_slot<accumulators>;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x), blocks = static_cast<int>(gridDim.x);
  quad* const all = slots + (epoch & 1) * static_cast<unsigned>(blocks * slot::words);  // a block may be one step ahead of another
  if (thread == 0) slot::publish(all + blockIdx.x * slot::words, sums, epoch);
  __nanosleep(static_cast<unsigned>(3 * blocks / 2));
  accumulators combined = Folds::identities(), of_block;
  DSL_DETAIL_ROLLED
  for (int b = thread; b < blocks; b += threads) {
    slot s;
    do s.read(all + b * slot::words);
    while (!s.arrived(epoch, of_block));
    Folds::add(combined, of_block);
  }
  __syncwarp();
  return combined;
}

/// As many steps as the arguments say; reductions by all blocks, which must be on the device at once.
template <class Name, class Pass, int Inputs, int States, int Stop>
__global__ void __launch_bounds__(loop_block(Pass::view())) loop_kernel(const __grid_constant__ loop_arguments<Inputs + Pass::targets> args) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  using body = loop_body<Pass, Inputs, States, Stop, device_memory>;
  body loop(args, device_memory{shared_memory});
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  if (loop.has_ended()) return;
  if constexpr (body::folds::count == 0) {
    loop.run_elementwise(static_cast<std::int64_t>(blockIdx.x) * threads + thread);
  } else {
    using folds = typename body::folds;
    __shared__ typename body::accumulators of_warp[2][32];  // a warp may be one step ahead of another
    __shared__ typename body::accumulators of_readers[32];
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
        typename body::accumulators* const of = of_warp[k & 1];
        if (lane == 0) of[thread / 32] = sums;
        __syncthreads();
        if (gridDim.x == 1 || thread < 32) {
          sums = folds::identities();
          if (lane < warps) sums = of[lane];
          combine_warp<folds>(team, sums);
        }
      }
      if (gridDim.x > 1) {
        sums = exchange<folds>(args.loop.slots, sums, args.loop.epoch + static_cast<unsigned>(k));
        combine_warp<folds>(team, sums);
        if (lane == 0) of_readers[thread / 32] = sums;
        __syncthreads();
        sums = of_readers[0];
        DSL_DETAIL_ROLLED
        for (int w = 1; w < readers; ++w) folds::add(sums, of_readers[w]);
      } else {
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

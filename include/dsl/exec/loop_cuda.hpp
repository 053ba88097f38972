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

template <class Folds>
__device__ void combine_warp(const block_team& team, typename Folds::accumulators& sums) {
  DSL_DETAIL_UNROLL
  for (int step = 16; step > 0; step /= 2)
    Folds::visit([&]<class Fold, int J>() { nth_fold<J>(sums) = team.combine<Fold>(nth_fold<J>(sums), team.shift_down(nth_fold<J>(sums), step)); });
}

// Every block's sums become the same total in every block's first warp. All slots a lane reads are on their way at once: one after
// another they cost twice the time of the whole exchange.
template <class Folds>
__device__ void combine_blocks(const block_team& team, quad* slots, typename Folds::accumulators& sums, unsigned epoch) {
  using accumulators = typename Folds::accumulators;
  using slot = sum_slot<accumulators>;
  constexpr int at_once = slot::words > 2 ? 2 : 5;
  const int lane = static_cast<int>(threadIdx.x), blocks = static_cast<int>(gridDim.x);
  quad* const all = slots + (epoch & 1) * static_cast<unsigned>(blocks * slot::words);  // a block may be one step ahead of another
  if (lane == 0) slot::publish(all + blockIdx.x * slot::words, sums, epoch);
  sums = Folds::identities();
  for (int first = lane; first < blocks; first += 32 * at_once) {
    slot s[at_once];
    accumulators of_block[at_once];
    bool missing = true;
    while (missing) {
      missing = false;
      DSL_DETAIL_UNROLL
      for (int u = 0; u < at_once; ++u)
        if (first + 32 * u < blocks) s[u].read(all + (first + 32 * u) * slot::words);
      DSL_DETAIL_UNROLL
      for (int u = 0; u < at_once; ++u)
        if (first + 32 * u < blocks) missing = !s[u].arrived(epoch, of_block[u]) || missing;
    }
    DSL_DETAIL_UNROLL
    for (int u = 0; u < at_once; ++u)
      if (first + 32 * u < blocks) Folds::add(sums, of_block[u]);
  }
  __syncwarp();
  combine_warp<Folds>(team, sums);
}

/// As many steps as the arguments say; reductions by all blocks, which must be on the device at once.
template <class Name, class Pass, int Inputs, int States, int Stop>
__global__ void __launch_bounds__(loop_block(Pass::view())) loop_kernel(const __grid_constant__ loop_arguments<Inputs + Pass::targets> args) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  using body = loop_body<Pass, Inputs, States, Stop, device_memory>;
  body loop(args, device_memory{shared_memory});
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  if constexpr (body::folds::count == 0) {
    loop.run_elementwise(static_cast<std::int64_t>(blockIdx.x) * threads + thread);
  } else {
    using folds = typename body::folds;
    __shared__ typename body::accumulators of_warp[32];
    __shared__ typename body::singles now_shared;
    const block_team team{shared_memory};
    typename body::thread_state mine;
    loop.begin(mine, blockIdx.x, thread, threads);
    typename body::singles now = loop.first_singles();
    DSL_DETAIL_ROLLED
    for (std::int64_t k = 0; k < args.loop.steps; ++k) {
      typename body::accumulators sums = loop.step(mine, now, k, blockIdx.x, thread, threads);
      combine_warp<folds>(team, sums);
      if ((thread & 31) == 0) of_warp[thread / 32] = sums;
      __syncthreads();
      if (thread < 32) {
        sums = folds::identities();
        if (thread < threads / 32) sums = of_warp[thread];
        combine_warp<folds>(team, sums);
        if (gridDim.x > 1) combine_blocks<folds>(team, args.loop.slots, sums, static_cast<unsigned>(k) + 1);
        if (thread == 0) {
          now_shared = loop.finish(sums, now, k);
          if (blockIdx.x == 0) loop.record_singles(now_shared, k);
        }
      }
      __syncthreads();
      now = now_shared;
      if (body::stops(now)) break;
    }
    loop.end(mine, blockIdx.x, thread, threads);
    if (blockIdx.x == 0 && thread == 0) loop.store_singles(now);
  }
}

#endif  // __CUDACC__

}  // namespace dsl::detail

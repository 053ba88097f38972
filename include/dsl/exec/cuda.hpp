// The CUDA back end: one kernel template, in files that nvcc compiles.
#pragma once

#include <dsl/exec/cuda_team.hpp>
#include <dsl/exec/pass_kernel.hpp>

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

/// `Name` is what profilers show first.
template <class Name, class Pass, int Inputs, class Arguments>
__global__ void kernel(const __grid_constant__ Arguments args) {
  run_pass<Pass, Inputs>(args, device_memory{}, device_team{});
}

#endif  // __CUDACC__

}  // namespace dsl::detail

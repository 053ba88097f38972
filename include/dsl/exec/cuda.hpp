// The CUDA back end: one kernel template, in files that nvcc compiles.
#pragma once

#include <dsl/exec/kernel.hpp>

namespace dsl::detail {

#if defined(__CUDACC__)

struct device_memory {
  static constexpr bool apart = false;
  unsigned char* shared;
  template <class T> DSL_DETAIL_FN T load(const void* address) const { return *static_cast<const T*>(address); }
  template <class T> DSL_DETAIL_FN void store(T* address, const T& value) const { *address = value; }
  /// From global to shared memory; done when `wait_for_fetches` returns. No register holds what is on its way, so many are.
  template <class T> DSL_DETAIL_FN void fetch(T* to, const T* from) const {
#if DSL_DETAIL_ON_DEVICE
    if constexpr (sizeof(T) >= 4)
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from), "n"(sizeof(T)));
    else *to = *from;
#endif
  }
};
__device__ inline void wait_for_fetches() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// The collective operations of a block of threads, a value a thread.
struct block_team {
  template <op Reduction, class T> __device__ static T combine(T a, T b) { return detail::combine<Reduction>(a, b); }

  template <class T> __device__ static T shift_down(T value, int step) {
    constexpr int words = (sizeof(T) + 3) / 4;
    unsigned word[words] = {};
    memcpy(word, &value, sizeof(T));
    for (int i = 0; i < words; ++i) word[i] = __shfl_down_sync(0xffffffffu, word[i], step);
    memcpy(&value, word, sizeof(T));
    return value;
  }

  template <op Reduction, class T> __device__ static T leaders(T value) {
    __shared__ T of_warp[32];
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    return threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : identity<Reduction, T>();
  }
};

template <int I, class Program, int Inputs, class Arguments>
__device__ void leave_partial(const Arguments& args, accumulators<Program>& sums) {
  constexpr output_word o = Program::output(I);
  if constexpr (!o.is_stored()) {
    using V = value_t<o.type()>;
    block_team team;
    const V sum = reduce_block<o.reduction()>(team, total<I>(sums));
    if (threadIdx.x == 0)
      *reinterpret_cast<V*>(static_cast<char*>(args.scratch.partials) + 16 * (I * static_cast<std::size_t>(gridDim.x) + blockIdx.x)) = sum;
  }
}

template <int I, class Program, int Inputs, class Arguments>
__device__ void finish_result(const Arguments& args) {
  constexpr output_word o = Program::output(I);
  if constexpr (!o.is_stored()) {
    using V = value_t<o.type()>;
    using T = memory_t<o.type()>;
    V sum = identity<o.reduction(), V>();
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
      const char* const partial = static_cast<char*>(args.scratch.partials) + 16 * (I * static_cast<std::size_t>(gridDim.x) + b);
      sum = combine<o.reduction()>(sum, *reinterpret_cast<const V*>(partial));
    }
    block_team team;
    sum = reduce_block<o.reduction()>(team, sum);
    const argument& a = args.operand[Inputs + I];
    if (threadIdx.x == 0) {
      *reinterpret_cast<T*>(a.word) = static_cast<T>(sum);
      if (a.extra != 0) *reinterpret_cast<T*>(a.extra) = static_cast<T>(sum);
    }
  }
}

// The last block to arrive reduces all blocks' partial results, in the order of the blocks. No block waits for another; every block
// has read the scalars in device memory before the last one writes a result over them.
template <class Program, int Inputs, class Arguments, std::size_t... I>
__device__ void finish(const Arguments& args, accumulators<Program>& sums, std::index_sequence<I...>) {
  __shared__ bool last;
  (leave_partial<static_cast<int>(I), Program, Inputs>(args, sums), ...);
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(args.scratch.ticket, gridDim.x - 1) == gridDim.x - 1;  // the last one sets it back to 0
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  (finish_result<static_cast<int>(I), Program, Inputs>(args), ...);
}

/// `Name` is what profilers show first.
template <class Name, class Program, int Inputs, class Arguments>
__global__ void kernel(const __grid_constant__ Arguments args) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  using body = kernel_body<Program, Inputs, Arguments, device_memory>;
  body thread(args, device_memory{shared_memory});
  accumulators<Program> sums;
  const int number = static_cast<int>(threadIdx.x), block = static_cast<int>(blockDim.x);
  const auto run = [&](std::int64_t tile) {
    if constexpr (Arguments::strided) {
      if (args.tiles_of.shared_bytes > 0) {
        __syncthreads();
        thread.load_tile(static_cast<std::uint32_t>(tile), number, block);
        wait_for_fetches();
        __syncthreads();
      }
    }
    thread.run(tile, number, block, sums);
  };
  if constexpr (reduces(Program::view())) {
    body::clear(sums, typename body::outputs{});
    for (std::int64_t tile = blockIdx.x; tile < args.tiles; tile += gridDim.x) run(tile);
    finish<Program, Inputs>(args, sums, typename body::outputs{});
  } else {
    run(blockIdx.x);
  }
}

#endif  // __CUDACC__

}  // namespace dsl::detail

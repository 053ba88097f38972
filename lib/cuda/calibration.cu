// Measures a GPU's rates with kernels that do one thing each.
#include "cuda/calibration.hpp"

#include "cuda/calls.hpp"

namespace dsl::detail::cuda {

namespace {

constexpr int block = 256;

__device__ std::int64_t thread_number() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// Reads vectors of 16 bytes, eight in flight at a time. The values are used, so that the compiler
/// keeps the loads, but never stored.
__global__ void read_vectors(const uint4* from, std::int64_t count, unsigned* never) {
  constexpr int ahead = 8;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * block;
  unsigned all = 0;
  for (std::int64_t i = thread_number(); i < count; i += ahead * stride) {
    uint4 v[ahead] = {};
#pragma unroll
    for (int k = 0; k < ahead; ++k)
      if (i + k * stride < count) v[k] = from[i + k * stride];
#pragma unroll
    for (int k = 0; k < ahead; ++k) all += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  if (all == 0x9e3779b9u) *never = all;
}

__global__ void copy_vectors(uint4* to, const uint4* from, std::int64_t count) {
  const std::int64_t i = thread_number();
  if (i < count) to[i] = from[i];
}

// Eight independent chains of one operation hide the operation's latency.
constexpr int chains = 8;
struct multiply_add {
  template <class T> static __device__ T next(T x, T by) { return x * by + by; }
};
struct add_and_mix {
  static __device__ unsigned next(unsigned x, unsigned by) { return (x + by) ^ 0x55555555u; }
};
template <class Operation, class T>
__global__ void repeat(T* never, T by, int steps) {
  T x[chains];
#pragma unroll
  for (int k = 0; k < chains; ++k) x[k] = static_cast<T>(threadIdx.x + k);
  for (int i = 0; i < steps; ++i) {
#pragma unroll
    for (int k = 0; k < chains; ++k) x[k] = Operation::next(x[k], by);
  }
  T all = x[0];
#pragma unroll
  for (int k = 1; k < chains; ++k) all = all + x[k];
  if (all == static_cast<T>(-12345)) *never = all;
}

/// Dependent atomic additions: each one waits for the previous one.
__global__ void add_in_turn(unsigned* at, int steps) {
  unsigned last = 0;
  for (int i = 0; i < steps; ++i) last = atomicAdd(at + (last >> 31), 1u);
}

/// Writes every second word, half of each sector of 32 bytes.
__global__ void write_every_second(unsigned* to, std::int64_t words) {
  const std::int64_t i = thread_number();
  if (2 * i < words) to[2 * i] = static_cast<unsigned>(i);
}

class device_memory {
 public:
  explicit device_memory(std::size_t bytes) { DSL_CHECK(cudaMalloc(&at_, bytes)); }
  ~device_memory() { cudaFree(at_); }
  device_memory(const device_memory&) = delete;
  template <class T> T* as() const { return static_cast<T*>(at_); }

 private:
  void* at_ = nullptr;
};

class own_event {
 public:
  own_event() { DSL_CHECK(cudaEventCreate(&event_)); }
  ~own_event() { cudaEventDestroy(event_); }
  own_event(const own_event&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

class own_stream {
 public:
  own_stream() { DSL_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~own_stream() { cudaStreamDestroy(stream_); }
  own_stream(const own_stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class stopwatch {
 public:
  cudaStream_t stream() const { return stream_; }

  template <class Call>
  double seconds(const Call& call) const {
    const double measured = seconds_a_call([&](int calls) {
      DSL_CHECK(cudaEventRecord(begin_, stream_));
      for (int k = 0; k < calls; ++k) call();
      DSL_CHECK(cudaEventRecord(end_, stream_));
      DSL_CHECK(cudaEventSynchronize(end_));
      float milliseconds = 0;
      DSL_CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
      return 1e-3 * static_cast<double>(milliseconds);
    });
    check(cudaGetLastError(), "measuring the device");
    return measured;
  }

 private:
  own_stream stream_;
  own_event begin_, end_;
};

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + block - 1) / block);
}

}  // namespace

calibration measure(const device_properties& gpu, std::size_t free_memory) {
  const stopwatch watch;
  calibration c;
  const auto cache = static_cast<std::int64_t>(gpu.l2);
  const std::int64_t most =
      std::min<std::int64_t>(std::int64_t{1} << 30, static_cast<std::int64_t>(free_memory / 4));
  const device_memory memory(static_cast<std::size_t>(most));
  auto* const never = memory.as<unsigned>();
  DSL_CHECK(cudaMemsetAsync(memory.as<char>(), 0, static_cast<std::size_t>(most), watch.stream()));
  const unsigned all_blocks =
      static_cast<unsigned>(gpu.multiprocessors * (gpu.threads_per_multiprocessor / block));
  for (const std::int64_t bytes : calibrated_sizes(cache, most)) {
    const std::int64_t vectors = bytes / 16;
    const unsigned grid = std::min(all_blocks, blocks_for((vectors + 7) / 8));
    c.read.add(static_cast<double>(bytes), watch.seconds([&] {
      read_vectors<<<grid, block, 0, watch.stream()>>>(memory.as<uint4>(), vectors, never);
    }));
    c.copied.add(static_cast<double>(bytes), watch.seconds([&] {
      copy_vectors<<<blocks_for(vectors / 2), block, 0, watch.stream()>>>(
          memory.as<uint4>() + vectors / 2, memory.as<uint4>(), vectors / 2);
    }));
  }
  const double threads = static_cast<double>(all_blocks) * block;
  // From the difference between a longer and a shorter run, which excludes the launch.
  const auto rate = [&](double operations_a_step, int steps, const auto& launch) {
    const double longer = watch.seconds([&] { launch(3 * steps); }),
                 shorter = watch.seconds([&] { launch(steps); });
    return operations_a_step * 2 * steps * threads / std::max(longer - shorter, 1e-9);
  };
  c.rate_of(unit::fp32) = rate(chains, 1000, [&](int steps) {
    repeat<multiply_add><<<all_blocks, block, 0, watch.stream()>>>(memory.as<float>(), 0.5f, steps);
  });
  c.rate_of(unit::fp64) = rate(chains, 500, [&](int steps) {
    repeat<multiply_add><<<all_blocks, block, 0, watch.stream()>>>(memory.as<double>(), 0.5, steps);
  });
  c.rate_of(unit::integer) = rate(2 * chains, 1000, [&](int steps) {
    repeat<add_and_mix><<<all_blocks, block, 0, watch.stream()>>>(memory.as<unsigned>(), 3u, steps);
  });
  const auto in_turn = [&](int steps) {
    return watch.seconds(
        [&] { add_in_turn<<<1, 1, 0, watch.stream()>>>(memory.as<unsigned>(), steps); });
  };
  c.round_trip = (in_turn(300) - in_turn(100)) / 200;
  // From the difference between two sizes that fit in the cache.
  const double more = static_cast<double>(cache) / 2, less = static_cast<double>(cache) / 4;
  c.cache = (more - less) / std::max(c.copied(more) - c.copied(less), 1e-9);
  const double whole = watch.seconds([&] {
    write_every_second<<<blocks_for(most / 8), block, 0, watch.stream()>>>(memory.as<unsigned>(),
                                                                           most / 4);
  });
  const double half = watch.seconds([&] {
    write_every_second<<<blocks_for(most / 16), block, 0, watch.stream()>>>(memory.as<unsigned>(),
                                                                            most / 8);
  });
  c.partial_writes = static_cast<double>(most) / 2 / std::max(whole - half, 1e-9);
  return c;
}

}  // namespace dsl::detail::cuda

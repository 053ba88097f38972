#include "check.cuh"
#include "machine.hpp"
#include "random.hpp"

#include <chrono>
#include <thread>
#include <vector>

namespace bench::machine {

const char* const copied_by = "cudaMemcpy";

namespace {

constexpr int grid = 1024, block = 256;

__device__ std::int64_t first() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::int64_t stride() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

template <class T> __global__ void fill_all(T* data, std::int64_t n, std::uint32_t seed) {
  for (std::int64_t i = first(); i < n; i += stride())
    data[i] = random_element<T>(static_cast<std::uint64_t>(i), seed);
}

// Numbers that are not negative have the same order as their bits.
__device__ void at_least(double* most, double here) {
  atomicMax(reinterpret_cast<unsigned long long*>(most),
            static_cast<unsigned long long>(__double_as_longlong(here)));
}

/// Computes the largest difference, and the largest magnitude of y.
template <class T> __global__ void differ(const T* x, const T* y, std::int64_t n, double* most) {
  double off = 0, magnitude = 0;
  for (std::int64_t i = first(); i < n; i += stride()) {
    off = fmax(off, difference_of(x[i], y[i]));
    magnitude = fmax(magnitude, magnitude_of(y[i]));
  }
  at_least(most, off);
  at_least(most + 1, magnitude);
}

cudaEvent_t event(int k) {
  static cudaEvent_t both[2] = {};
  if (both[k] == nullptr) bench::check(cudaEventCreate(&both[k]));
  return both[k];
}

std::string version_of(int v) {
  return std::to_string(v / 1000) + '.' + std::to_string(v % 1000 / 10);
}

}  // namespace

std::map<std::string, std::string> open() {
  const dsl::device gpu("cuda");
  static const dsl::device_guard guard(gpu);
  return context_of(gpu);
}

std::map<std::string, std::string> context_of(const dsl::device& device) {
  const dsl::device_properties& p = dsl::properties(device);
  return {{"backend", "cuda"},
          {"device", p.name},
          {"multiprocessors", std::to_string(p.multiprocessors)},
          {"driver", version_of(p.driver)},
          {"runtime", version_of(p.runtime)},
          {"compiler", "nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + '.' +
                           std::to_string(__CUDACC_VER_MINOR__) + '.' +
                           std::to_string(__CUDACC_VER_BUILD__) + ", g++ " + __VERSION__}};
}

void fill(void* data, dsl::dtype type, std::int64_t count, std::uint32_t seed) {
  with_type_of(type, [&]<class T>(std::type_identity<T>) {
    using part = typename parts<T>::type;
    fill_all<<<grid, block, 0, stream()>>>(static_cast<part*>(data), count * parts<T>::count, seed);
  });
  check();
}

void copy(void* to, const void* from, std::int64_t bytes) {
  bench::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice,
                               stream()));
}

void erase(void* data, std::int64_t bytes) {
  bench::check(cudaMemsetAsync(data, 0xff, static_cast<std::size_t>(bytes), stream()));
}

double difference(const void* x, const void* y, dsl::dtype type, std::int64_t count) {
  auto most = dsl::zeros<double>(2);
  with_type_of(type, [&]<class T>(std::type_identity<T>) {
    using part = typename parts<T>::type;
    differ<<<grid, block, 0, stream()>>>(static_cast<const part*>(x), static_cast<const part*>(y),
                                         count * parts<T>::count, most.data());
  });
  check();
  const auto both = most.copy_to_host();
  return relative_difference(both[0], both[1]);
}

void wait() { bench::check(cudaDeviceSynchronize()); }
void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }
void check() { bench::check(cudaGetLastError()); }

void begin() { bench::check(cudaEventRecord(event(0), stream())); }
double end() {
  bench::check(cudaEventRecord(event(1), stream()));
  bench::check(cudaEventSynchronize(event(1)));
  float ms = 0;
  bench::check(cudaEventElapsedTime(&ms, event(0), event(1)));
  return 1e-3 * ms;
}

}  // namespace bench::machine

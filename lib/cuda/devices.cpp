// The GPUs of this machine and their properties.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <vector>

#include "cuda/back_end.hpp"
#include "cuda/calls.hpp"
#include "cuda/process_waits.hpp"
#include "mem/release_threshold.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

using namespace cuda;

namespace {

// Only a successful count is remembered: after a failure the next call may succeed.
std::atomic<int> known_count{-1};
constinit std::mutex count_mutex;  // guards what is below
// Not strings, which would not exist yet where the initialization of a static object asks.
struct count_failure { std::string error, why_none = "no GPU was found"; };
count_failure& failure() {
  static count_failure& made = *new count_failure;
  return made;
}

// The runtime returns the same error for a missing driver as for one that is too old.
bool has_no_driver(cudaError_t status) {
  int version = 0;
  return status == cudaErrorStubLibrary ||
         (status == cudaErrorInsufficientDriver && cudaDriverGetVersion(&version) == cudaSuccess &&
          version == 0);
}

}  // namespace

int cuda_back_end::device_count() {
  if (const int known = known_count; known >= 0) return known;
  const std::lock_guard lock(count_mutex);
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  failure().error.clear();
  if (status == cudaSuccess) return known_count = std::min(count, max_devices);
  const bool driverless = has_no_driver(status);
  cudaGetLastError();
  if (driverless) failure().why_none = "no GPU was found: there is no CUDA driver";
  if (driverless || status == cudaErrorNoDevice) return known_count = 0;
  failure().error = "cudaGetDeviceCount failed: " + spell_status(status);
  return 0;
}
std::string cuda_back_end::device_count_error() {
  const std::lock_guard lock(count_mutex);
  return failure().error;
}
std::string cuda_back_end::why_no_device() {
  const std::lock_guard lock(count_mutex);
  return failure().error.empty() ? failure().why_none : failure().error;
}

namespace {

device_properties read(int index) {
  cudaDeviceProp p{};
  DSL_CHECK(cudaGetDeviceProperties(&p, index));
  device_properties d{};
  std::snprintf(d.name, sizeof d.name, "%s", p.name);
  d.multiprocessors = p.multiProcessorCount;
  d.threads_per_multiprocessor = p.maxThreadsPerMultiProcessor;
  d.registers_per_multiprocessor = p.regsPerMultiprocessor;
  d.compute_capability = 10 * p.major + p.minor;
  d.memory = p.totalGlobalMem;
  d.l2 = static_cast<std::size_t>(p.l2CacheSize);
  d.shared_per_block = p.sharedMemPerBlockOptin;
  d.warp_size = p.warpSize;
  DSL_CHECK(cudaDriverGetVersion(&d.driver));
  DSL_CHECK(cudaRuntimeGetVersion(&d.runtime));
  return d;
}

}  // namespace

// Read once; after a failure the next call tries again.
const device_properties& cuda_back_end::properties(int index) {
  static const std::vector<device_properties>& known = *new std::vector<device_properties>([this] {
    std::vector<device_properties> all;
    for (int i = 0; i < device_count(); ++i) {
      all.push_back(read(i));
      set_release_threshold(i, release_threshold_from_environment());
    }
    return all;
  }());
  return known[static_cast<std::size_t>(index)];
}

void cuda_back_end::synchronize_device(int index) {
  const current_device on(index);
  process_waits::wait([] { return false; });
  check(cudaDeviceSynchronize(), "waiting for a device");
  process_waits::require_all();
  forget_launches(index);
}

}  // namespace dsl::detail

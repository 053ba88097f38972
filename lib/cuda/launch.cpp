#include "cuda/launch.hpp"

#include <atomic>
#include <map>
#include <utility>

#include "cuda/fill.hpp"

namespace dsl::detail::cuda {

namespace {

/// What launches ask of a kernel's function on a GPU, read once.
struct known_function {
  int own_shared;     // Bytes of static shared memory.
  bool waits_itself;  // Compiled for compute capability 9.0 or more, so `team_of_launch` waits.
  std::atomic<bool> is_raised{false};
};

known_function& find_function(const void* function, int gpu) {
  static std::mutex mutex;
  static std::map<std::pair<const void*, int>, known_function>& known =
      *new std::map<std::pair<const void*, int>, known_function>;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find({function, gpu}); found != known.end()) return found->second;
  cudaFuncAttributes a{};
  check(cudaFuncGetAttributes(&a, function), "reading a kernel's attributes");
  known_function& made = known[{function, gpu}];
  made.own_shared = static_cast<int>(a.sharedSizeBytes);
  made.waits_itself = a.ptxVersion >= 90;
  return made;
}

// Without a lock for functions that the thread has launched lately.
known_function& function_of(const void* function, int gpu) {
  struct lately {
    const void* function;
    int gpu;
    known_function* known;
  };
  constexpr std::size_t kept = 64;
  thread_local lately all[kept] = {};
  lately& mine = all[(reinterpret_cast<std::uintptr_t>(function) >> 4) % kept];
  if (mine.function != function || mine.gpu != gpu)
    mine = {function, gpu, &find_function(function, gpu)};
  return *mine.known;
}

}  // namespace

// Raises a function's limit once, to the device's maximum: the limit belongs to the function, so a
// limit for each launch would change that of other threads. Without it a block has 48 kB, including
// the function's static shared memory.
void allow_shared_memory(const void* function, int bytes, int gpu) {
  known_function& f = function_of(function, gpu);
  constexpr int without_asking = 48 << 10;
  if (bytes + f.own_shared <= without_asking || f.is_raised) return;
  int most = 0;
  DSL_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu));
  check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             most - f.own_shared),
        "asking for shared memory");
  f.is_raised = true;
}

bool may_begin_early(const kernel_launch& k, int gpu) {
  return !k.cooperative && function_of(k.function, gpu).waits_itself;
}

cudaError_t launch_blocks(const kernel_launch& k, std::int64_t blocks, bool early,
                          cudaStream_t stream) {
  void* arguments[] = {k.range};
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t c{};
  c.gridDim = dim3(static_cast<unsigned>(blocks));
  c.blockDim = dim3(static_cast<unsigned>(k.block));
  c.dynamicSmemBytes = static_cast<std::size_t>(k.shared_bytes);
  c.stream = stream;
  c.attrs = attributes;
  if (k.cluster > 1) {
    cudaLaunchAttribute& a = attributes[c.numAttrs++];
    a.id = cudaLaunchAttributeClusterDimension;
    a.val.clusterDim = {static_cast<unsigned>(k.cluster), 1, 1};
  } else if (k.cooperative) {
    cudaLaunchAttribute& a = attributes[c.numAttrs++];
    a.id = cudaLaunchAttributeCooperative;
    a.val.cooperative = 1;
  }
  if (early) {
    cudaLaunchAttribute& a = attributes[c.numAttrs++];
    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a.val.programmaticStreamSerializationAllowed = 1;
  }
  return cudaLaunchKernelExC(&c, k.function, arguments);
}

std::unique_lock<std::mutex> hold_if_blocking(void* stream) {
  static std::mutex one_at_a_time;
  return is_blocking() && !is_capturing(stream) ? std::unique_lock(one_at_a_time)
                                                : std::unique_lock<std::mutex>();
}

void wait_for_kernel(const queued_kernel& k, const operand* operands, int gpu, void* stream) {
  wait_for_others(stream);
  const cudaError_t ran = cudaStreamSynchronize(native(stream));
  forget_launches(gpu, stream);
  if (ran != cudaSuccess) raise_failure(ran, spell_launch(k, operands), stream);
}

void fill_elements(void* at, const void* value, std::size_t size, std::int64_t count, int gpu,
                   cudaStream_t stream) {
  const queued_kernel k{nullptr, nullptr, count, 0, 0};
  const auto one_at_a_time = hold_if_blocking(stream);
  queue_kernel(k, nullptr, fill_architectures(), gpu, stream,
               [&] { return launch_fill(at, value, size, count, stream); });
  if (one_at_a_time) wait_for_kernel(k, nullptr, gpu, stream);
}

}  // namespace dsl::detail::cuda

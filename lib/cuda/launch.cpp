#include "cuda/launch.hpp"

#include <map>
#include <utility>

#include "cuda/fill.hpp"

namespace dsl::detail::cuda {

// Raises a function's limit once, to the device's maximum: the limit belongs to the function, so a
// limit for each launch would change that of other threads. Without it a block has 48 kB, including
// the function's static shared memory.
void allow_shared_memory(const void* function, int bytes, int gpu) {
  struct known_function {
    int own;
    bool is_raised;
  };
  static std::mutex mutex;
  static std::map<std::pair<const void*, int>, known_function> known;
  const std::lock_guard lock(mutex);
  auto found = known.find({function, gpu});
  if (found == known.end()) {
    cudaFuncAttributes a{};
    check(cudaFuncGetAttributes(&a, function), "reading a kernel's attributes");
    found = known
                .emplace(std::pair(function, gpu),
                         known_function{static_cast<int>(a.sharedSizeBytes), false})
                .first;
  }
  known_function& f = found->second;
  constexpr int without_asking = 48 << 10;
  if (f.is_raised || bytes + f.own <= without_asking) return;
  int most = 0;
  DSL_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu));
  check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, most - f.own),
        "asking for shared memory");
  f.is_raised = true;
}

namespace {

cudaError_t launch_with(const cudaLaunchAttribute& given, const kernel_launch& k,
                        std::int64_t blocks, void** arguments, cudaStream_t stream) {
  cudaLaunchAttribute attribute = given;
  cudaLaunchConfig_t c{};
  c.gridDim = dim3(static_cast<unsigned>(blocks));
  c.blockDim = dim3(static_cast<unsigned>(k.block));
  c.dynamicSmemBytes = static_cast<std::size_t>(k.shared_bytes);
  c.stream = stream;
  c.attrs = &attribute;
  c.numAttrs = 1;
  return cudaLaunchKernelExC(&c, k.function, arguments);
}

cudaLaunchAttribute clusters_of(int blocks) {
  cudaLaunchAttribute a{};
  a.id = cudaLaunchAttributeClusterDimension;
  a.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  return a;
}
cudaLaunchAttribute begins_early() {
  cudaLaunchAttribute a{};
  a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  a.val.programmaticStreamSerializationAllowed = 1;
  return a;
}

}  // namespace

cudaError_t launch_blocks(const kernel_launch& k, std::int64_t blocks, bool early,
                          cudaStream_t stream) {
  void* arguments[] = {k.range};
  if (k.cluster > 1) return launch_with(clusters_of(k.cluster), k, blocks, arguments, stream);
  if (early) return launch_with(begins_early(), k, blocks, arguments, stream);
  const dim3 grid(static_cast<unsigned>(blocks)), block(static_cast<unsigned>(k.block));
  const auto shared = static_cast<std::size_t>(k.shared_bytes);
  return k.cooperative
             ? cudaLaunchCooperativeKernel(k.function, grid, block, arguments, shared, stream)
             : cudaLaunchKernel(k.function, grid, block, arguments, shared, stream);
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

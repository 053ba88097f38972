// Kernels on a GPU.
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "cuda/back_end.hpp"
#include "cuda/calibration.hpp"
#include "cuda/calls.hpp"
#include "cuda/fill.hpp"
#include "exec/text.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {

using namespace cuda;

namespace {

// Lets a block have this much shared memory. A function's limit is raised once, to the most that the device has: it is the
// function's, so a limit for each launch would be another thread's too. Without that a block has 48 kB, of which the function's
// own are a part.
void allow_shared_memory(const void* function, int bytes, int index) {
  struct known_function {
    int own;
    bool is_raised;
  };
  static std::mutex mutex;
  static std::map<std::pair<const void*, int>, known_function> known;
  const std::lock_guard lock(mutex);
  auto found = known.find({function, index});
  if (found == known.end()) {
    cudaFuncAttributes a{};
    check(cudaFuncGetAttributes(&a, function), "reading a kernel's attributes");
    found = known.emplace(std::pair(function, index), known_function{static_cast<int>(a.sharedSizeBytes), false}).first;
  }
  known_function& f = found->second;
  constexpr int without_asking = 48 << 10;
  if (f.is_raised || bytes + f.own <= without_asking) return;
  int most = 0;
  DSL_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, index));
  check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, most - f.own), "asking for shared memory");
  f.is_raised = true;
}

// Calls `launch` and notes the kernel. With DSL_BLOCKING=1 waits for it as well, one kernel at a time in all threads, so that a
// fault is known to be its own.
template <class Launch>
void queue_kernel(const queued_kernel& k, const operand* operands, const char* architectures, int index, void* stream,
                  const Launch& launch) {
  static std::mutex one_at_a_time;
  std::unique_lock lock(one_at_a_time, std::defer_lock);
  const bool waits = is_blocking() && !is_capturing(stream);
  if (waits) lock.lock();
  if (const cudaError_t status = launch(); status != cudaSuccess) {
    check_code(status, spell_launch(k, operands), architectures, index);
    raise_failure(status, "launching " + spell_launch(k, operands), stream);
  }
  note_launch(index, stream, k);
  if (!waits) return;
  const cudaError_t ran = cudaStreamSynchronize(native(stream));
  forget_launches(index, stream);
  if (ran != cudaSuccess) raise_failure(ran, spell_launch(k, operands), stream);
}

class recorded_graph;
thread_local recorded_graph* recording = nullptr;

// Kernels recorded one behind the other into a CUDA graph.
class recorded_graph final : public kernel_graph {
 public:
  explicit recorded_graph(const stream& on) : on_(stream_state::of(on)) {
    cudaGraph_t made{};
    DSL_CHECK(cudaGraphCreate(&made, 0));
    graph_ = made;
  }
  // What is queued still runs: the runtime keeps it until then.
  ~recorded_graph() override {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
  }

  void add(const kernel_launch& k) {
    cudaKernelNodeParams p{};
    void* arguments[] = {const_cast<void*>(k.arguments)};
    p.func = const_cast<void*>(k.function);
    p.kernelParams = arguments;
    p.gridDim = dim3(static_cast<unsigned>(k.grid));
    p.blockDim = dim3(static_cast<unsigned>(k.block));
    p.sharedMemBytes = static_cast<unsigned>(k.shared_bytes);
    cudaError_t status{};
    if (executable_ == nullptr) {
      cudaGraphNode_t made{};
      const cudaGraphNode_t before = nodes_.empty() ? nullptr : nodes_.back();
      status = cudaGraphAddKernelNode(&made, graph_, &before, nodes_.empty() ? 0 : 1, &p);
      nodes_.push_back(made);
    } else {
      status = cudaGraphExecKernelNodeSetParams(executable_, nodes_.at(next_++), &p);
    }
    last_ = queued_kernel::of(k);
    if (status != cudaSuccess) raise_failure(status, "launching " + spell_launch(last_, k.operands_of_pass()), on_.native);
  }

 private:
  void begin() override {
    recording = this;
    next_ = 0;
  }
  void end() noexcept override { recording = nullptr; }
  void launch() override {
    const current_device current(on_.index);
    if (executable_ == nullptr) {
      cudaGraphExec_t made{};
      DSL_CHECK(cudaGraphInstantiate(&made, graph_, 0));
      executable_ = made;
    }
    check(cudaGraphLaunch(executable_, native(on_.native)), "launching a graph of kernels", on_.native);
    note_launch(on_.index, on_.native, last_);
  }

  const stream_state& on_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;
  std::size_t next_ = 0;
  queued_kernel last_{};
};

class cuda_executor final : public grid_executor {
 public:
  constexpr cuda_executor() : grid_executor(kernel_target::cuda, true) {}

  std::string why_not_compiled(device) const override {
    return "a GPU: its file was not compiled by nvcc, or DSL_BACK_ENDS leaves cuda out. Compile it as CUDA, or set "
           "DSL_DEVICE=host";
  }
  bool is_cooperative(int index) const override {
    int supported = 0;
    DSL_CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, index));
    return supported != 0;
  }
  kernel_attributes attributes(const kernel_entry& kernel, int block, int index) const override;
  void launch_kernel(const kernel_launch& k, const stream& on) const override;
  std::unique_ptr<kernel_graph> make_graph(const stream& on) const override;
  std::unique_ptr<calibration> measure(int index) const override {
    const current_device on(index);
    return std::make_unique<calibration>(cuda::measure(gpus.properties(index), gpus.usage(index).free));
  }
};

constinit cuda_executor kernels;

kernel_attributes cuda_executor::attributes(const kernel_entry& kernel, int block, int index) const {
  static std::mutex mutex;
  static std::map<std::tuple<const void*, int, int>, kernel_attributes> known;
  const std::lock_guard lock(mutex);
  const auto key = std::tuple(kernel.function, block, index);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const current_device on(index);
  cudaFuncAttributes a{};
  const cudaError_t status = cudaFuncGetAttributes(&a, kernel.function);
  if (status != cudaSuccess)
    check_code(status, spell_kernel(kernel.name) + " (" + spell_pass(kernel.pass) + ")", kernel.architectures, index);
  check(status, "reading a kernel's attributes");
  int blocks = 0;
  if (block <= a.maxThreadsPerBlock)
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function, block, 0), "reading a kernel's occupancy");
  int cluster = 0;
  if (block <= a.maxThreadsPerBlock && a.ptxVersion >= 90) {
    check(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "asking for clusters");
    cudaLaunchConfig_t of{};
    of.gridDim = dim3(16);
    of.blockDim = dim3(static_cast<unsigned>(block));
    check(cudaOccupancyMaxPotentialClusterSize(&cluster, kernel.function, &of), "reading a kernel's largest cluster");
  }
  return known[key] = {a.numRegs, a.maxThreadsPerBlock, blocks, static_cast<int>(a.sharedSizeBytes), cluster};
}

cudaError_t launch_with(const cudaLaunchAttribute& given, const kernel_launch& k, void** arguments, void* stream) {
  cudaLaunchAttribute attribute = given;
  cudaLaunchConfig_t c{};
  c.gridDim = dim3(static_cast<unsigned>(k.grid));
  c.blockDim = dim3(static_cast<unsigned>(k.block));
  c.dynamicSmemBytes = static_cast<std::size_t>(k.shared_bytes);
  c.stream = native(stream);
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

void cuda_executor::launch_kernel(const kernel_launch& k, const stream& on) const {
  stream_state& s = stream_state::of(on);
  const current_device current(s.index);
  if (k.shared_bytes > 0) allow_shared_memory(k.function, k.shared_bytes, s.index);
  if (recording != nullptr) return recording->add(k);
  const dim3 grid(static_cast<unsigned>(k.grid)), block(static_cast<unsigned>(k.block));
  const auto shared = static_cast<std::size_t>(k.shared_bytes);
  void* arguments[] = {const_cast<void*>(k.arguments)};
  // What is compiled for less than compute capability 9.0 cannot wait itself, nor form clusters.
  const bool begins = k.waits_itself && !s.is_captured() && attributes(k, k.block, s.index).largest_cluster > 0;
  queue_kernel(queued_kernel::of(k), k.operands_of_pass(), k.architectures, s.index, s.native, [&] {
    if (k.cluster > 1) return launch_with(clusters_of(k.cluster), k, arguments, s.native);
    if (begins) return launch_with(begins_early(), k, arguments, s.native);
    return k.cooperative ? cudaLaunchCooperativeKernel(k.function, grid, block, arguments, shared, native(s.native))
                         : cudaLaunchKernel(k.function, grid, block, arguments, shared, native(s.native));
  });
}

std::unique_ptr<kernel_graph> cuda_executor::make_graph(const stream& on) const {
  if (is_blocking() || stream_state::of(on).is_captured()) return nullptr;
  return std::make_unique<recorded_graph>(on);
}

}  // namespace

constinit cuda_back_end gpus(&kernels);

void cuda_back_end::fill(void* at, const void* value, std::size_t size, std::int64_t count, int index, void* stream) {
  const current_device on(index);
  const unsigned char zeros[16] = {};
  if (std::memcmp(value, zeros, size) == 0) return set_zero(at, size * static_cast<std::size_t>(count), index, stream);
  const queued_kernel k{nullptr, nullptr, count, 0, 0};
  queue_kernel(k, nullptr, fill_architectures(), index, stream,
               [&] { return launch_fill(at, value, size, count, native(stream)); });
}

}  // namespace dsl::detail

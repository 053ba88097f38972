// Executor of kernels on a GPU.
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "cuda/back_end.hpp"
#include "cuda/calibration.hpp"
#include "cuda/calls.hpp"
#include "cuda/launch.hpp"
#include "cuda/library_task.hpp"
#include "cuda/recorded_graph.hpp"
#include "cuda/statement_graph.hpp"
#include "exec/plan/text.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {

using namespace cuda;

namespace {

class graph_of_gpu final : public recorded_graph {
 public:
  explicit graph_of_gpu(const stream_state& on) : recorded_graph({on.index}), on_(on) {}

 private:
  void queue() override { queue_on(native(on_.native)); }
  const stream_state& on_;
};

class cuda_executor final : public grid_executor {
 public:
  constexpr cuda_executor() : grid_executor(kernel_target::cuda, true) {}

  std::string why_not_compiled(device) const override {
    return "a GPU: its file was not compiled by nvcc, or DSL_BACK_ENDS leaves cuda out. Compile it "
           "as CUDA, or set "
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
  std::unique_ptr<statement_graph> make_statement_graph(int index) const override {
    return is_blocking() ? nullptr : std::make_unique<captured_statement>(index);
  }
  using grid_executor::run;
  void run(const library_task& task, const stream& on) const override;
  bool takes(const library_task& task, device where) const override {
    return cuda::takes(task, properties(where));
  }
  std::unique_ptr<calibration> measure(int index) const override {
    const current_device on(index);
    return std::make_unique<calibration>(
        cuda::measure(gpus.properties(index), gpus.usage(index).free));
  }
};

constinit cuda_executor kernels;

kernel_attributes cuda_executor::attributes(const kernel_entry& kernel, int block,
                                            int index) const {
  static std::mutex mutex;
  static std::map<std::tuple<const void*, int, int>, kernel_attributes> known;
  const std::lock_guard lock(mutex);
  const auto key = std::tuple(kernel.function, block, index);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const current_device on(index);
  cudaFuncAttributes a{};
  const cudaError_t status = cudaFuncGetAttributes(&a, kernel.function);
  if (status != cudaSuccess)
    check_code(status, spell_kernel(kernel.name) + " (" + spell_pass(kernel.pass) + ")",
               kernel.architectures, index);
  check(status, "reading a kernel's attributes");
  int blocks = 0;
  if (block <= a.maxThreadsPerBlock)
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function, block, 0),
          "reading a kernel's occupancy");
  int cluster = 0;
  if (block <= a.maxThreadsPerBlock && a.ptxVersion >= 90) {
    check(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
          "asking for clusters");
    cudaLaunchConfig_t of{};
    of.gridDim = dim3(16);
    of.blockDim = dim3(static_cast<unsigned>(block));
    check(cudaOccupancyMaxPotentialClusterSize(&cluster, kernel.function, &of),
          "reading a kernel's largest cluster");
  }
  return known[key] = {a.numRegs, a.maxThreadsPerBlock, blocks, static_cast<int>(a.sharedSizeBytes),
                       cluster};
}

void cuda_executor::launch_kernel(const kernel_launch& k, const stream& on) const {
  stream_state& s = stream_state::of(on);
  const current_device current(s.index);
  if (k.shared_bytes > 0) allow_shared_memory(k.function, k.shared_bytes, s.index);
  *k.range = k.part != nullptr ? *k.part : block_range{0, static_cast<std::uint32_t>(k.grid)};
  if (recorded_graph* const graph = recorded_graph::current())
    return graph->add(k, 1, touches::own, [&](int) { return k.grid; });
  const bool early = may_begin_early(k, s.index) && !s.is_captured();
  const queued_kernel noted = queued_kernel::of(k);
  if (k.zeroed.bytes > 0) s.on.set_zero(k.zeroed.begin, k.zeroed.bytes, s.index, s.native);
  const auto one_at_a_time = hold_if_blocking(s.native);
  queue_kernel(noted, k.operands_of_pass(), k.architectures, s.index, s.native,
               [&] { return launch_blocks(k, k.grid, early, native(s.native)); });
  if (one_at_a_time) wait_for_kernel(noted, k.operands_of_pass(), s.index, s.native);
}

// A task's working memory returns to the pool after it, in the order of the stream.
void cuda_executor::run(const library_task& task, const stream& on) const {
  stream_state& s = stream_state::of(on);
  const current_device current(s.index);
  std::size_t bytes = 0;
  check(size_memory(task, bytes, native(s.native)), "asking for a sort's memory");
  const buffer_ref memory = buffer_ref::allocate(bytes, s.where());
  const queued_kernel k{nullptr, nullptr, elements_of(task), 0, 0};
  queue_kernel(k, nullptr, sort_architectures(), s.index, s.native,
               [&] { return launch_task(task, memory.data(), bytes, native(s.native)); });
}

std::unique_ptr<kernel_graph> cuda_executor::make_graph(const stream& on) const {
  if (is_blocking() || stream_state::of(on).is_captured()) return nullptr;
  return std::make_unique<graph_of_gpu>(stream_state::of(on));
}

}  // namespace

constinit cuda_back_end gpus(&kernels);

void cuda_back_end::fill(void* at, const void* value, std::size_t size, std::int64_t count,
                         int index, void* stream) {
  const current_device on(index);
  const unsigned char zeros[16] = {};
  if (std::memcmp(value, zeros, size) == 0)
    return set_zero(at, size * static_cast<std::size_t>(count), index, stream);
  fill_elements(at, value, size, count, index, native(stream));
}

}  // namespace dsl::detail

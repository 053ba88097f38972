// Kernels that are launched together, as one CUDA graph.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cuda/mesh_stream.hpp"
#include "cuda/process_waits.hpp"

namespace dsl::detail::cuda {

/// Kernels recorded into a CUDA graph, one after another. Those of a mesh's members run in parallel
/// if they touch no memory that others may touch.
class recorded_graph : public kernel_graph {
 public:
  /// The graph that the calling thread records into; null if it launches its kernels.
  static recorded_graph* current();

  explicit recorded_graph(std::vector<int> gpus);
  /// Queued launches still run: the runtime keeps the graph until then.
  ~recorded_graph() override;

  /// Adds a kernel for some of the members, one bit for each. `blocks_of(member)` makes the
  /// kernel's parameters, with the member's GPU current, and returns the number of its blocks on
  /// that member.
  template <class Blocks>
  void add(const kernel_launch& k, std::uint64_t by, touches what, const Blocks& blocks_of) {
    const std::vector<cudaGraphNode_t> before = what == touches::own ? foreign_ : last_;
    noted_ = queued_kernel::of(k);
    for (std::size_t m = 0; m < gpus_.size(); ++m) {
      if ((by >> m & 1) == 0) continue;
      const current_device on(gpus_[m]);
      add_node(k, blocks_of(static_cast<int>(m)), m, before);
      if (what == touches::others) foreign_[m] = last_[m];
    }
  }

  /// Adds the work that `queue` queues on a stream of the first member's GPU, after its last
  /// kernel. It must be the same each time the graph is recorded. It waits for other processes.
  void add(const std::function<void(cudaStream_t)>& queue, process_waits& waits);

 protected:
  /// Calls `queue_on` with the stream, with the first member's GPU current.
  virtual void queue() = 0;
  void queue_on(cudaStream_t stream);

 private:
  void begin() override;
  void end() noexcept override;
  void launch() override;
  cudaGraph_t captured(const std::function<void(cudaStream_t)>& queue) const;
  void add_node(const kernel_launch& k, std::int64_t blocks, std::size_t member,
                const std::vector<cudaGraphNode_t>& before);

  const std::vector<int> gpus_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;
  std::vector<cudaGraph_t> captured_;
  process_waits* waits_ = nullptr;
  // For each member, its last kernel, and its last kernel that touched others' memory.
  std::vector<cudaGraphNode_t> last_, foreign_;
  std::size_t next_ = 0;
  queued_kernel noted_{};
};

}  // namespace dsl::detail::cuda

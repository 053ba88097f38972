// The streams of several GPUs as one stream.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "cuda/calls.hpp"

namespace dsl::detail::cuda {

/// Whether a member's work touches only its own memory, or others' memory too.
enum class touches : std::uint8_t { own, others };

/// A queue of work for a mesh of GPUs: one stream for each member. Work waits for other members'
/// work only where both may touch the same memory. Every function may be called by several threads
/// at once.
class mesh_stream {
 public:
  /// Makes the members' streams. Those of the default stream are ordered with the GPUs' default
  /// streams, like CUDA's blocking streams.
  mesh_stream(const std::vector<int>& members, bool is_default);
  ~mesh_stream();
  mesh_stream(const mesh_stream&) = delete;

  int members() const { return static_cast<int>(of_.size()); }
  int gpu(int m) const { return of_[static_cast<std::size_t>(m)].gpu; }
  cudaStream_t native(int m) const { return of_[static_cast<std::size_t>(m)].stream; }

  /// Queues work on some of the members, one bit for each: calls each(member, its stream) with its
  /// GPU current. First these members wait for the work of others that they depend on.
  template <class Each>
  void queue(std::uint64_t by, touches what, const Each& each) {
    const std::lock_guard lock(mutex_);
    prepare(by, what);
    for (int m = 0; m < members(); ++m) {
      if ((by >> m & 1) == 0) continue;
      const current_device on(gpu(m));
      each(m, native(m));
    }
  }
  std::uint64_t all() const { return ~std::uint64_t{0} >> (64 - members()); }

  /// All work queued so far counts as touching others' memory, because its memory may be reassigned
  /// to another member.
  void count_all_as_foreign();
  /// Later work of this stream waits for all work that another stream of the same mesh has queued
  /// by now.
  void wait_for(mesh_stream& other);
  void wait_for(const std::vector<cudaEvent_t>& events);
  /// The GPUs that have not yet completed (or failed) the work queued so far.
  std::vector<int> working() const;
  /// Waits for the members that have work.
  void synchronize();
  void synchronize_quietly() noexcept;
  /// For each member, an event after all work queued so far. The caller owns the events.
  std::vector<cudaEvent_t> record();

  /// For each member, the number of work items queued, and the number known to have ended.
  std::vector<std::uint64_t> queued() const;
  std::vector<std::uint64_t> ended() const;

 private:
  struct member {
    int gpu;
    cudaStream_t stream;
    cudaEvent_t event;
    // The number of its last work item, and of its last one that touched others' memory.
    std::uint64_t queued = 0, foreign = 0;
    // Number of work items before the event, and of those known to have ended.
    std::uint64_t recorded = 0, ended = 0;
    // For each member, the number of its work items that this one waited for.
    std::vector<std::uint64_t> seen{};
  };
  // Counts the work that is about to be queued, even if queueing throws: some of it may run.
  void prepare(std::uint64_t by, touches what);
  void record(member& m);
  void destroy() noexcept;

  mutable std::mutex mutex_;
  std::vector<member> of_;
};

}  // namespace dsl::detail::cuda

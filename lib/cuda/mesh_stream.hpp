// The streams of several GPUs as one.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "cuda/calls.hpp"

namespace dsl::detail::cuda {

/// Whether what a member does touches memory of its own alone, or others' as well.
enum class touches : std::uint8_t { own, others };

/// A queue of work for a mesh of GPUs: one stream a member, in which work waits for what other
/// members do only where it may touch the same memory. Each function may be called by several
/// threads.
class mesh_stream {
 public:
  /// Streams that the library makes; the default one's are ordered with the GPUs' default streams,
  /// as CUDA's blocking streams are.
  mesh_stream(const std::vector<int>& members, bool is_default);
  ~mesh_stream();
  mesh_stream(const mesh_stream&) = delete;

  int members() const { return static_cast<int>(of_.size()); }
  int gpu(int m) const { return of_[static_cast<std::size_t>(m)].gpu; }
  cudaStream_t native(int m) const { return of_[static_cast<std::size_t>(m)].stream; }

  /// Queues work by some of the members, a bit each: `each(member, its stream)` with its GPU
  /// current. Before it, they wait for what it needs of others' work.
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

  /// What was queued so far counts as touching others' memory: some of it may come to lie with
  /// another member.
  void mix();
  /// Orders what comes behind all that another stream of the same mesh has queued by now.
  void wait_for(mesh_stream& other);
  void wait_for(const std::vector<cudaEvent_t>& events);
  /// The GPUs that have not done yet, or failed, what was queued so far.
  std::vector<int> working() const;
  /// Waits for the members that have work.
  void synchronize();
  void synchronize_quietly() noexcept;
  /// Behind all that was queued so far, an event a member; the caller's.
  std::vector<cudaEvent_t> record();

  /// How much each member has been given, and how much of that has ended as far as is known.
  std::vector<std::uint64_t> queued() const;
  std::vector<std::uint64_t> ended() const;

 private:
  struct member {
    int gpu;
    cudaStream_t stream;
    cudaEvent_t event;
    std::uint64_t
        queued = 0,
        foreign = 0;  // the number of its last work, and of the last that touched others' memory
    std::uint64_t recorded = 0, ended = 0;  // by the event; known to have ended
    std::vector<std::uint64_t> seen{};      // of each member, what this one has waited for
  };
  // Counts what is about to be queued, whether or not that throws: some of it may come to be.
  void prepare(std::uint64_t by, touches what);
  void record(member& m);
  void destroy() noexcept;

  mutable std::mutex mutex_;
  std::vector<member> of_;
};

}  // namespace dsl::detail::cuda

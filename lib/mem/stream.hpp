// What a stream is inside the library.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include <dsl/mem/stream.hpp>

#include "exec/step_numbers.hpp"

namespace dsl::detail {

struct stream_state {
  device where;
  void* native = nullptr;       // cudaStream_t
  bool permanent = false;       // a device's default stream
  std::atomic<bool> is_handed_out{false};  // the program has the handle, with which it may capture the stream into a graph
  std::atomic<int> owners{1};
  std::mutex mutex{};           // of what follows: kernels' scratch memory
  void* scratch = nullptr;
  std::size_t scratch_bytes = 0;
  void* slots = nullptr;        // where blocks of a kernel tell each other sums
  std::size_t slot_bytes = 0;
  step_numbers numbers{};       // of the sums that are there
  std::vector<void*> outgrown{};  // another thread may be about to launch with it; each is half of the next

  static stream_state& of(const stream& s) { return *s.state_; }
  static stream_state& default_of(device where);
  void retain() noexcept { owners.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept;
};

inline void* native_of(const stream& s) { return stream_state::of(s).native; }

}  // namespace dsl::detail

// The library's state of a stream.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include <dsl/mem/marker.hpp>

#include "mem/back_end.hpp"
#include "mem/brief_memory.hpp"

namespace dsl::detail {

/// State that a higher layer keeps for a stream until the stream ends.
struct stream_attachment { virtual ~stream_attachment() = default; };

struct stream_state {
  back_end& on;
  const int index;         // the device's number within its kind
  const bool permanent;    // a device's default stream, whose owners are not counted
  void* native = nullptr;  // the result of `back_end::create_stream`
  // The program has the handle, so it may capture the stream into a CUDA graph.
  std::atomic<bool> is_handed_out{false};
  std::atomic<int> owners{1};
  // Protects the members below.
  std::mutex mutex{};
  std::unique_ptr<stream_attachment> scratch{};

  // For a stream that was made elsewhere. It may end with the last `dsl::stream` for it, while
  // arrays still refer to it.
  bool is_foreign = false;
  std::atomic<int> handles{0};
  bool has_ended = false;
  void* end = nullptr;  // an event after all its work, once it has ended

  brief_memory brief{};  // Protects itself.

  stream_state(back_end& of, int device, bool lives_on = false)
      : on(of), index(device), permanent(lives_on) {}
  ~stream_state();

  static stream_state& of(const stream& s) { return *s.state_; }
  device where() const { return {on.kind(), index}; }
  void retain() noexcept {
    if (!permanent) owners.fetch_add(1, std::memory_order_relaxed);
  }
  void release() noexcept;
  /// Counts one `dsl::stream` more, or one less.
  void add_handle() noexcept;
  void drop_handle() noexcept;
  /// While the lock is held no foreign stream ends. Empty for the library's own streams.
  std::unique_lock<std::recursive_mutex> hold() const;
  /// The stream itself. For a foreign stream that has ended: the device's default stream, ordered
  /// after the stream's work.
  stream_state& or_default_stream();

  void synchronize() { on.synchronize(index, native); }
  void synchronize_quietly() noexcept;
  /// Makes the next work wait for all work that another stream of the device has queued so far.
  void wait_for(const stream_state& other);
  /// Whether the program is capturing the stream's work into a CUDA graph.
  bool is_captured() { return is_handed_out && native != nullptr && on.is_captured(index, native); }
};

}  // namespace dsl::detail

// What a stream is inside the library.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include <dsl/mem/marker.hpp>

#include "mem/back_end.hpp"

namespace dsl::detail {

/// What a storey above keeps for a stream until the stream ends.
struct stream_attachment { virtual ~stream_attachment() = default; };

struct stream_state {
  back_end& on;
  const int index;         // of the device among its kind
  const bool permanent;    // a device's default stream, whose owners are not counted
  void* native = nullptr;  // as `back_end::create_stream` gives it
  std::atomic<bool> is_handed_out{
      false};  // the program has the handle, with which it may capture the stream into a graph
  std::atomic<int> owners{1};
  std::mutex mutex{};  // of what follows
  std::unique_ptr<stream_attachment> scratch{};

  // Of a stream that someone else made, which may end with the last `dsl::stream` for it, while
  // arrays still name it.
  bool is_foreign = false;
  std::atomic<int> handles{0};
  bool has_ended = false;
  void* end = nullptr;  // an event behind all its work, once it has ended

  stream_state(back_end& of, int device, bool lives_on = false)
      : on(of), index(device), permanent(lives_on) {}
  ~stream_state();

  static stream_state& of(const stream& s) { return *s.state_; }
  device where() const { return {on.kind(), index}; }
  void retain() noexcept {
    if (!permanent) owners.fetch_add(1, std::memory_order_relaxed);
  }
  void release() noexcept;
  /// A `dsl::stream` more, or one less.
  void add_handle() noexcept;
  void drop_handle() noexcept;
  /// While this is held no foreign stream ends. Empty for a stream of the library's.
  std::unique_lock<std::recursive_mutex> hold() const;
  /// The stream itself, or the device's default stream behind the work of a foreign one that has
  /// ended.
  stream_state& or_stand_in();

  void synchronize() { on.synchronize(index, native); }
  void synchronize_quietly() noexcept;
  /// Orders the next work behind all that another stream of the device has queued by now.
  void wait_for(const stream_state& other);
  /// Whether the program captures the stream's work into a graph.
  bool is_captured() { return is_handed_out && native != nullptr && on.is_captured(index, native); }
};

}  // namespace dsl::detail

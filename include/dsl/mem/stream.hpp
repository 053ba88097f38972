// Queues of work on a device.
#pragma once

#include <dsl/mem/device.hpp>

namespace dsl {

namespace detail {
struct stream_state;
}  // namespace detail

/// A queue of work on one device, in order. Copies share the queue. On host and sim work is done at
/// once, and a stream is only a name. An array that one stream wrote may be used on another: the
/// second waits on the device, not the calling thread.
class stream {
 public:
  /// A new queue. Throws device_error or cuda_error.
  explicit stream(device where = device::current());
  /// A queue that someone else made: a cudaStream_t; null is the default stream. It has to live as
  /// long as this object and its copies, and no longer. The library orders its own work on it and
  /// behind it, as on its own streams; what else the program queues there runs in the order in
  /// which it was queued. The device is the stream's; before CUDA 12.8, which does not say, the
  /// runtime's current one. Throws device_error or cuda_error.
  explicit stream(void* native);
  stream(void* native, device where);
  stream(const stream&) noexcept;
  stream& operator=(const stream&) noexcept;
  ~stream();

  /// The innermost stream_guard's stream for `where` in the calling thread, else the device's
  /// default stream (CUDA's legacy one).
  static stream current(device where = device::current());

  device where() const noexcept;
  /// The cudaStream_t; null on host, sim and meshes, and for CUDA's default stream.
  void* native() const noexcept;
  /// Waits until everything queued so far is done. Throws cuda_error if any of it failed, or a
  /// kernel on another stream.
  void synchronize() const;

  friend bool operator==(const stream&, const stream&) = default;

 private:
  friend struct detail::stream_state;
  friend class stream_guard;
  explicit stream(detail::stream_state& state) noexcept : state_(&state) {}
  static device device_of_stream(void* native);
  detail::stream_state* state_;
};

/// Makes `s` the calling thread's stream for its device until the guard dies.
class stream_guard {
 public:
  explicit stream_guard(const stream& s);
  ~stream_guard();
  stream_guard(const stream_guard&) = delete;
  stream_guard& operator=(const stream_guard&) = delete;
};

}  // namespace dsl

// Streams: queues of work on a device.
#pragma once

#include <dsl/mem/device.hpp>

namespace dsl {

namespace detail {
struct stream_state;
}  // namespace detail

/// A queue of work on one device, in order. Copies of a stream share the queue. On host and sim
/// work is done immediately, and a stream is only a name. An array that one stream wrote may be
/// used on another: the second stream waits on the device, the calling thread does not.
class stream {
 public:
  /// A new queue. Throws device_error or cuda_error.
  explicit stream(device where = device::current());
  /// A queue made elsewhere: a cudaStream_t; null is the default stream. It must live as long as
  /// this object and its copies, but no longer. The library orders its own work as on its own
  /// streams; other work that the program queues there runs in the order in which it was queued.
  /// The device is that of the stream; before CUDA 12.8, which cannot report it, the runtime's
  /// current device. Throws device_error or cuda_error.
  explicit stream(void* native);
  stream(void* native, device where);
  stream(const stream&) noexcept;
  stream& operator=(const stream&) noexcept;
  ~stream();

  /// The stream of the calling thread's innermost stream_guard for `where`, else the device's
  /// default stream (CUDA's legacy one).
  static stream current(device where = device::current());

  device where() const noexcept;
  /// The cudaStream_t; null for host, sim and meshes, and for CUDA's default stream.
  void* native() const noexcept;
  /// Waits until everything queued so far is done. Throws cuda_error if any of it, or a kernel on
  /// another stream, failed.
  void synchronize() const;

  friend bool operator==(const stream&, const stream&) = default;

 private:
  friend struct detail::stream_state;
  friend class stream_guard;
  explicit stream(detail::stream_state& state) noexcept : state_(&state) {}
  static device device_of_stream(void* native);
  detail::stream_state* state_;
};

/// Makes `s` the calling thread's stream for its device until the guard is destroyed.
class stream_guard {
 public:
  explicit stream_guard(const stream& s);
  ~stream_guard();
  stream_guard(const stream_guard&) = delete;
  stream_guard& operator=(const stream_guard&) = delete;
};

}  // namespace dsl

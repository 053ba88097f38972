// The seam between the library and kinds of devices: each is one object.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <dsl/mem/buffer.hpp>

namespace dsl::detail {

struct stream_state;
class process_mesh;

enum class direction : std::uint8_t { to_device, to_host, on_device };

/// What this storey asks of kernels. It is the base of executors (exec/run/executor.hpp) and of
/// nothing else.
class kernel_services {
 public:
  /// As the `copy` of two mappings in <dsl/mem/buffer.hpp>.
  virtual void copy_elements(const buffer_ref& to, void* at, const mapping& target,
                             const buffer_ref& from, const void* source, const mapping& elements,
                             std::size_t size) const = 0;

 protected:
  ~kernel_services() = default;
};

/// How a kind of devices is called, and how its work is done.
struct back_end_traits {
  const char* name;
  bool is_numbered;  ///< devices are "cuda:0", "cuda:1", and "cuda" is the first; else the name is
                     ///< the only device's
  bool is_asynchronous;  ///< work is queued: streams are ordered, and waited for
  bool is_in_host_memory = false;
};

/// What a kind of devices does at run time, but for kernels, which its executor runs. A device is
/// given by its number among its kind, a stream by what `create_stream` returned, or null for the
/// device's default stream. What fails throws an error of the library's that says what was asked
/// for. Where a function does nothing here, that is right for a device that does its work at once.
class back_end {
 public:
  static constexpr int max_kinds = 16, max_devices = 256;

  constexpr back_end(const back_end_traits& called, kernel_services* runs, backend number = {})
      : traits(called), kernels_(runs), kind_(number) {}
  back_end(const back_end&) = delete;

  /// The object of a kind: one of the library's own three, or one that was added.
  static back_end& of(backend kind) noexcept {
    return *table[static_cast<std::size_t>(kind)].load(std::memory_order_acquire);
  }
  /// Whether a device is several, of this process or of several processes.
  static bool is_mesh(device where) noexcept { return where.index >= max_devices; }
  /// A mesh's is its own.
  static back_end& of(device where) noexcept {
    return is_mesh(where) ? of_mesh(where) : of(where.kind);
  }
  static std::vector<back_end*> all();
  /// Adds a kind, whose object must live until the program ends: `device` and DSL_DEVICE know its
  /// names from then on. Throws device_error where there are `max_kinds`.
  static void add(back_end& made);

  const back_end_traits traits;
  kernel_services& kernels() const noexcept { return *kernels_; }
  backend kind() const noexcept { return kind_; }
  /// A device's default stream, which lives until the program ends.
  stream_state& default_stream(int index);

  // Devices and their names.

  /// The number of the device with this name, which need not be there, and for which the number may
  /// be given out now
  /// ("cuda:0-3"); none if the name is of another kind. Throws device_error if a mesh's name has a
  /// member twice.
  virtual std::optional<int> find(std::string_view name);
  virtual std::string spell(int index) const;
  /// Of a mesh, the numbers of its devices; else none.
  virtual std::span<const int> members() const { return {}; }
  /// The object of a mesh of several devices of this kind; null where they form none. It lives
  /// until the program ends.
  virtual back_end* make_mesh(std::span<const int> /*members*/) { return nullptr; }
  /// The mesh of processes that this is; else null.
  virtual process_mesh* processes() { return nullptr; }
  /// Devices of a mesh have smaller numbers.
  virtual int max_member() { return device_count(); }
  /// At most `max_devices`.
  virtual int device_count() { return 1; }
  /// Why there is no device, where there is none.
  virtual std::string why_no_device() { return {}; }
  /// Why the devices could not be counted; empty where they could.
  virtual std::string device_count_error() { return {}; }
  /// Of a device that is there.
  virtual const device_properties& properties(int index) = 0;
  virtual void synchronize_device(int) {}

  // Memory.

  virtual memory_usage usage(int index) = 0;
  virtual void release_memory(int) {}
  virtual void set_release_threshold(int, std::size_t) {}
  /// In stream order, 256-byte aligned, not initialised. Throws memory_error.
  virtual void* allocate(std::size_t bytes, int index, void* stream) = 0;
  virtual void release(void* memory, int index, void* stream) noexcept = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes, direction way, int index,
                    void* stream) = 0;
  virtual void set_zero(void* at, std::size_t bytes, int index, void* stream) = 0;
  /// `value` of size 1, 2, 4, 8 or 16 bytes, `count` times.
  virtual void fill(void* at, const void* value, std::size_t size, std::int64_t count, int index,
                    void* stream) = 0;

  /// Memory of the host's for copies from and to a device, page-locked where that makes them
  /// asynchronous; not initialised. Throws memory_error.
  virtual void* allocate_pinned(std::size_t bytes, int index);
  virtual void release_pinned(void* memory, int index) noexcept;
  /// Whether a copy from the host may still read at this address when `copy` has returned.
  virtual bool is_page_locked(const void*) { return false; }

  // Memory that the library does not own.

  /// Where an address lies, if that is a device's memory of this kind: its number, and whether the
  /// host reads and writes it too.
  struct address_home {
    int index;
    bool is_managed;
  };
  virtual std::optional<address_home> find_memory(const void* /*address*/) { return {}; }
  /// Whether a device whose own memory is elsewhere reads and writes the host's at this address.
  virtual bool reaches_host_memory(const void* /*address*/, int /*index*/) { return false; }

  /// Of a mesh: what so many bytes come to, so that of an allocation of as many times that as there
  /// are members each one has its part at home.
  virtual std::size_t bytes_of_copy(std::size_t bytes) const { return bytes; }
  /// Of a mesh's memory: where each member's part of so many bytes ends, counted from the address,
  /// in the order of the members.
  virtual void part_ends(const void* /*address*/, std::size_t bytes, std::size_t* ends) const {
    *ends = bytes;
  }
  /// Of a mesh: its members share the elements of arrays at multiples of so many.
  virtual std::int64_t elements_between_cuts() const { return 1; }

  // Streams, and places in them that can be waited for.

  virtual void* create_stream(int) { return nullptr; }
  /// The number of the device of a stream that someone else made.
  virtual int device_of_stream(void*) { return 0; }
  virtual void destroy_stream(int, void*) noexcept {}
  virtual void synchronize(int, void*) {}
  /// Where nothing may be thrown.
  virtual void synchronize_quietly(int, void*) noexcept {}
  /// Orders `stream`'s next work behind all that `other` has queued by now.
  virtual void wait_for(int /*index*/, void* /*stream*/, void* /*other*/) {}
  /// Whether a stream's work is captured into a graph of the program's.
  virtual bool is_captured(int, void*) { return false; }
  virtual void* record_event(int, void*) { return nullptr; }
  virtual void wait_for_event(void*) {}
  virtual bool is_reached(void*) { return true; }
  /// Orders `stream`'s next work behind an event.
  virtual void wait_for_event_on(int /*index*/, void* /*stream*/, void* /*event*/) {}
  virtual void destroy_event(void*) noexcept {}

 protected:
  ~back_end() = default;  // none is ever destroyed: arrays may outlive everything else

 private:
  static std::atomic<back_end*> table[max_kinds];
  static back_end& of_mesh(device where) noexcept;

  kernel_services* const kernels_;
  backend kind_;
  std::atomic<stream_state*> default_streams_[max_devices] = {};  // a mesh's is the first
};

}  // namespace dsl::detail

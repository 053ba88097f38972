// The interface between the library and kinds of devices. Each kind is one object.
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

/// The kernels that mem needs. Only executors (exec/run/executor.hpp) implement it.
class kernel_services {
 public:
  /// As `copy` of two mappings in <dsl/mem/buffer.hpp>.
  virtual void copy_elements(const buffer_ref& to, void* at, const mapping& target,
                             const buffer_ref& from, const void* source, const mapping& elements,
                             std::size_t size) const = 0;

 protected:
  ~kernel_services() = default;
};

/// The name of a kind of devices, and how it executes work.
struct back_end_traits {
  const char* name;
  /// Devices are "cuda:0", "cuda:1", ..., and "cuda" is the first. Otherwise there is one device,
  /// called `name`.
  bool is_numbered;
  bool is_asynchronous;  ///< work is queued on streams, which are ordered and waited for
  bool is_in_host_memory = false;
};

/// The operations of a kind of devices at run time, except kernels, which its executor runs. A
/// device is given by its number within its kind; a stream by the result of `create_stream`, or
/// null for the device's default stream. Failures throw the library's errors, with a message that
/// says what was requested. Functions that do nothing here are correct for devices that complete
/// work immediately.
class back_end {
 public:
  static constexpr int max_kinds = 16, max_devices = 256;

  constexpr back_end(const back_end_traits& called, kernel_services* runs, backend number = {})
      : traits(called), kernels_(runs), kind_(number) {}
  back_end(const back_end&) = delete;

  /// The object of a kind: one of the library's own three, or an added one.
  static back_end& of(backend kind) noexcept {
    return *table[static_cast<std::size_t>(kind)].load(std::memory_order_acquire);
  }
  /// Whether a device is a mesh, of devices of this process or of several processes.
  static bool is_mesh(device where) noexcept { return where.index >= max_devices; }
  /// A mesh has an object of its own.
  static back_end& of(device where) noexcept {
    return is_mesh(where) ? of_mesh(where) : of(where.kind);
  }
  static std::vector<back_end*> all();
  /// Adds a kind; its object must live until the program ends. From then on `device` and DSL_DEVICE
  /// accept its names. Throws device_error if there are already `max_kinds`.
  static void add(back_end& made);

  const back_end_traits traits;
  kernel_services& kernels() const noexcept { return *kernels_; }
  backend kind() const noexcept { return kind_; }
  /// A device's default stream, which lives until the program ends.
  stream_state& default_stream(int index);

  // Devices and their names.

  /// The number of the device with this name, or none if the name belongs to another kind. The
  /// device need not exist; a mesh ("cuda:0-3") may get its number now. Throws device_error if a
  /// mesh's name has a member twice.
  virtual std::optional<int> find(std::string_view name);
  virtual std::string spell(int index) const;
  /// For a mesh, the numbers of its devices; otherwise empty.
  virtual std::span<const int> members() const { return {}; }
  /// The object of a mesh of several devices of this kind, which lives until the program ends; null
  /// if the kind forms no meshes.
  virtual back_end* make_mesh(std::span<const int> /*members*/) { return nullptr; }
  /// This object as a mesh of processes; otherwise null.
  virtual process_mesh* processes() { return nullptr; }
  /// The numbers of a mesh's devices must be smaller.
  virtual int max_member() { return device_count(); }
  /// At most `max_devices`.
  virtual int device_count() { return 1; }
  /// The reason why there is no device, if there is none.
  virtual std::string why_no_device() { return {}; }
  /// The reason why the devices could not be counted; empty if they could.
  virtual std::string device_count_error() { return {}; }
  /// The device must exist.
  virtual const device_properties& properties(int index) = 0;
  virtual void synchronize_device(int) {}

  // Memory.

  virtual memory_usage usage(int index) = 0;
  virtual void release_memory(int) {}
  virtual void set_release_threshold(int, std::size_t) {}
  /// Allocates in stream order, 256-byte aligned, uninitialised. Throws memory_error.
  virtual void* allocate(std::size_t bytes, int index, void* stream) = 0;
  virtual void release(void* memory, int index, void* stream) noexcept = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes, direction way, int index,
                    void* stream) = 0;
  virtual void set_zero(void* at, std::size_t bytes, int index, void* stream) = 0;
  /// Stores a value of 1, 2, 4, 8 or 16 bytes `count` times.
  virtual void fill(void* at, const void* value, std::size_t size, std::int64_t count, int index,
                    void* stream) = 0;

  /// Host memory for copies from and to a device; page-locked if copies are asynchronous only then.
  /// Uninitialised. Throws memory_error.
  virtual void* allocate_pinned(std::size_t bytes, int index);
  virtual void release_pinned(void* memory, int index) noexcept;
  /// Whether a copy from host memory at this address may still be reading when `copy` has returned.
  virtual bool is_page_locked(const void*) { return false; }

  // Memory that the library does not own.

  /// The device of this kind in whose memory an address lies, and whether the host can access it
  /// too.
  struct address_home {
    int index;
    bool is_managed;
  };
  virtual std::optional<address_home> find_memory(const void* /*address*/) { return {}; }
  /// Whether a device with memory of its own can access host memory at this address.
  virtual bool reaches_host_memory(const void* /*address*/, int /*index*/) { return false; }

  /// For a mesh: bytes for each member, rounded up so that in an allocation of that size times the
  /// number of members each part is local.
  virtual std::size_t bytes_of_copy(std::size_t bytes) const { return bytes; }
  /// For memory of a mesh: where each member's part of `bytes` bytes ends, as an offset from the
  /// address, in the order of the members.
  virtual void part_ends(const void* /*address*/, std::size_t bytes, std::size_t* ends) const {
    *ends = bytes;
  }
  /// For a mesh: arrays are cut between members at multiples of this number of elements.
  virtual std::int64_t elements_between_cuts() const { return 1; }

  // Streams, and events: positions in them that can be waited for.

  virtual void* create_stream(int) { return nullptr; }
  /// The number of the device of a stream that was made elsewhere.
  virtual int device_of_stream(void*) { return 0; }
  virtual void destroy_stream(int, void*) noexcept {}
  virtual void synchronize(int, void*) {}
  /// For destructors and other code that must not throw.
  virtual void synchronize_quietly(int, void*) noexcept {}
  /// Makes `stream`'s next work wait for all work that `other` has queued so far.
  virtual void wait_for(int /*index*/, void* /*stream*/, void* /*other*/) {}
  /// Whether the program is capturing a stream's work into a CUDA graph.
  virtual bool is_captured(int, void*) { return false; }
  virtual void* record_event(int, void*) { return nullptr; }
  virtual void wait_for_event(void*) {}
  virtual bool is_reached(void*) { return true; }
  /// Makes `stream`'s next work wait for an event.
  virtual void wait_for_event_on(int /*index*/, void* /*stream*/, void* /*event*/) {}
  virtual void destroy_event(void*) noexcept {}

 protected:
  ~back_end() = default;  // never destroyed: arrays may outlive everything else

 private:
  static std::atomic<back_end*> table[max_kinds];
  static back_end& of_mesh(device where) noexcept;

  kernel_services* const kernels_;
  backend kind_;
  // A mesh has one only, the first.
  std::atomic<stream_state*> default_streams_[max_devices] = {};
};

/// Throws device_error where an operation on whole arrays does not run: its elements must be at
/// addresses, on one device of one process.
void require_addressable(device where, const char* operation);

}  // namespace dsl::detail

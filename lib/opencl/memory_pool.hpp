// Memory of a device, and the addresses that stand for it.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include <dsl/mem/device.hpp>

#include "opencl/driver.hpp"

namespace dsl::detail::opencl {

class device_state;

/// A place in a device's memory.
struct memory_place {
  cl_mem memory;
  std::size_t offset;  // In bytes.
};

/// Addresses that no other memory of this process has and nobody can access. OpenCL 1.2 has no
/// addresses of its own: memory is an object, whose elements are counted from 0.
class reserved_addresses {
 public:
  /// Throws memory_error.
  explicit reserved_addresses(std::size_t bytes);
  reserved_addresses(reserved_addresses&& other) noexcept;
  reserved_addresses& operator=(reserved_addresses&& other) noexcept;
  ~reserved_addresses();

  std::byte* begin() const noexcept { return begin_; }

 private:
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Memory that is allocated and freed in the order of queues. What was freed is kept and taken
/// again for allocations of its size, at once on the queue that freed it, elsewhere behind what
/// that queue had been given.
class memory_pool {
 public:
  explicit memory_pool(device_state& of) : device_(of) {}
  memory_pool(const memory_pool&) = delete;

  /// Throws memory_error, which says how many bytes were asked for and used.
  void* allocate(std::size_t bytes, cl_command_queue on);
  void release(void* memory, cl_command_queue on) noexcept;
  /// The place of an address that was allocated here.
  std::optional<memory_place> find(const void* address) const;
  /// The same for memory that is known to be from here.
  memory_place at(const void* address) const { return find(address).value(); }

  memory_usage usage() const;
  /// Returns unused memory to the driver, which frees it once its queued work has ended.
  void give_back();
  /// After this, freed memory is kept only as long as the pool holds at most `bytes`.
  void set_release_threshold(std::size_t bytes);

 private:
  struct block {
    reserved_addresses addresses;
    std::size_t bytes;
    cl_mem memory;
    cl_command_queue freed_on = nullptr;  // retained
  };

  std::optional<block> take_free(std::size_t bytes, cl_command_queue on);
  std::optional<block> create(std::size_t bytes);
  void drop(block& unused) noexcept;
  void trim(std::size_t most) noexcept;
  [[noreturn]] void throw_full(std::size_t bytes) const;

  device_state& device_;
  mutable std::mutex mutex_;  // guards what is below
  std::size_t threshold_ = SIZE_MAX, used_bytes_ = 0, reserved_bytes_ = 0;
  std::map<const std::byte*, block> used_;          // by the first address
  std::map<std::size_t, std::vector<block>> free_;  // by size
};

}  // namespace dsl::detail::opencl

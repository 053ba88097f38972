// Device memory that its users share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <dsl/mem/counted_ref.hpp>
#include <dsl/mem/mapping.hpp>
#include <dsl/mem/stream.hpp>

namespace dsl::detail {

struct buffer;
void add_owner(buffer& b) noexcept;
void drop_owner(buffer& b) noexcept;

/// Shared ownership of a piece of device memory. When the last owner dies the memory goes back to
/// the pool behind the work that is queued on it, on whichever streams that was.
class buffer_ref {
 public:
  buffer_ref() = default;
  /// Takes over an ownership that is counted already.
  explicit buffer_ref(buffer* owned) noexcept : buffer_(owned) {}

  /// Stream-ordered memory on `where`, 256-byte aligned, not initialised. Throws memory_error or
  /// device_error.
  static buffer_ref allocate(std::size_t bytes, device where);
  /// The same for an array in row-major order of elements of `size` bytes: on a mesh of processes
  /// each has rows of it, where of other memory each has a copy. Throws shape_error for a negative
  /// extent.
  static buffer_ref allocate(const std::int64_t* extents, int rank, std::size_t size, device where);

  explicit operator bool() const noexcept { return static_cast<bool>(buffer_); }
  buffer* get() const noexcept { return buffer_.get(); }
  void* data() const noexcept;
  device where() const noexcept;

  /// The same memory as what an array or a scalar in a formula means by its name.
  buffer_ref of_formula() && noexcept {
    of_formula_ = true;
    return std::move(*this);
  }
  /// Says that the array has other memory from now on: formulas that were made before are out of
  /// date.
  void replace() const noexcept;
  bool is_out_of_date() const noexcept { return of_formula_ && is_replaced(); }

 private:
  bool is_replaced() const noexcept;
  counted_ref<buffer> buffer_;
  bool of_formula_ = false;
};

// Transfers and fills, in stream order. `element` is a value's bytes (size 1, 2, 4, 8 or 16),
// repeated `count` times. When an upload returns it has read the host's memory; a download waits.
void upload(const buffer_ref& to, void* at, const void* from, std::size_t bytes);
void download(const buffer_ref& from, const void* at, void* to, std::size_t bytes);
// The elements of a mapping whose origin is at `origin`, in row-major order.
void upload(const buffer_ref& to, void* origin, const mapping& elements, std::size_t size,
            const void* from);
void download(const buffer_ref& from, const void* origin, const mapping& elements, std::size_t size,
              void* to);
void copy(const buffer_ref& to, void* at, const buffer_ref& from, const void* source,
          std::size_t bytes);
// The elements of one mapping, broadcast to another one's shape. Throws shape_error and
// device_error.
void copy(const buffer_ref& to, void* at, const mapping& target, const buffer_ref& from,
          const void* source, const mapping& elements, std::size_t size);
void fill(const buffer_ref& to, void* at, const void* element, std::size_t size,
          std::int64_t count);

/// Throws memory_error: the host has no room for `count` values of `size` bytes.
[[noreturn]] void throw_host_is_full(std::size_t count, std::size_t size);

/// Throws memory_error that names the function where there is no memory: never assigned, or moved
/// from.
void require_memory(const buffer_ref& owner, const char* function);
/// And device_error where several processes have the elements.
void require_undivided(const buffer_ref& owner, const char* function);

/// No processor has addresses from this one on: memory that several processes have parts of is
/// known by such ones.
inline constexpr std::uintptr_t first_false_address = std::uintptr_t{1} << 60;
[[noreturn]] void throw_no_address();
/// Throws device_error for the address of such memory.
inline void require_address(const void* at) {
  if (reinterpret_cast<std::uintptr_t>(at) >= first_false_address) throw_no_address();
}

// Orders a stream's next work behind what other streams have queued on the buffer, and notes the
// use.
void use(buffer* memory, const stream& on, bool writes);

}  // namespace dsl::detail

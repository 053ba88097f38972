// Shared ownership of device memory.
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

/// Shared ownership of a piece of device memory. When the last owner is destroyed, the memory
/// returns to the pool after the work queued on it, on all streams that used it.
class buffer_ref {
 public:
  buffer_ref() = default;
  /// Takes over an ownership that is already counted.
  explicit buffer_ref(buffer* owned) noexcept : buffer_(owned) {}

  /// Allocates stream-ordered memory on `where`, 256-byte aligned, uninitialised. Throws
  /// memory_error or device_error.
  static buffer_ref allocate(std::size_t bytes, device where);
  /// The same for memory that is kept while one statement is queued: if it is small, it is a piece
  /// of the current stream's brief memory.
  static buffer_ref allocate_briefly(std::size_t bytes, device where);
  /// Allocates an array of elements of `size` bytes in row-major order. On a mesh of processes each
  /// process gets some of its rows; memory from the other overload is replicated. Throws
  /// shape_error for a negative extent.
  static buffer_ref allocate(const std::int64_t* extents, int rank, std::size_t size, device where);

  explicit operator bool() const noexcept { return static_cast<bool>(buffer_); }
  buffer* get() const noexcept { return buffer_.get(); }
  void* data() const noexcept;
  device where() const noexcept;

  /// Marks this reference as an operand of a formula, which refers to the memory that the array or
  /// scalar has now.
  buffer_ref of_formula() && noexcept {
    of_formula_ = true;
    return std::move(*this);
  }
  /// Records that the array has other memory from now on: formulas made before are out of date.
  void replace() const noexcept;
  bool is_out_of_date() const noexcept { return of_formula_ && is_replaced(); }

 private:
  bool is_replaced() const noexcept;
  counted_ref<buffer> buffer_;
  bool of_formula_ = false;
};

// Transfers and fills, in stream order. `element` points to the bytes of one value (`size` is 1, 2,
// 4, 8 or 16), which is repeated `count` times. An upload has read the host's memory when it
// returns; a download waits.
void upload(const buffer_ref& to, void* at, const void* from, std::size_t bytes);
void download(const buffer_ref& from, const void* at, void* to, std::size_t bytes);
// Transfers of the elements of a mapping whose first element is at `origin`, in row-major order.
void upload(const buffer_ref& to, void* origin, const mapping& elements, std::size_t size,
            const void* from);
void download(const buffer_ref& from, const void* origin, const mapping& elements, std::size_t size,
              void* to);
void copy(const buffer_ref& to, void* at, const buffer_ref& from, const void* source,
          std::size_t bytes);
// Copies the elements of one mapping, broadcast to the shape of `target`. Throws shape_error and
// device_error.
void copy(const buffer_ref& to, void* at, const mapping& target, const buffer_ref& from,
          const void* source, const mapping& elements, std::size_t size);
void fill(const buffer_ref& to, void* at, const void* element, std::size_t size,
          std::int64_t count);

/// Throws memory_error: the host has no room for `count` values of `size` bytes.
[[noreturn]] void throw_host_is_full(std::size_t count, std::size_t size);

/// Throws memory_error that names the function if there is no memory: never assigned, or moved
/// from.
void require_memory(const buffer_ref& owner, const char* function);
/// The same; also throws device_error if the elements are distributed over processes.
void require_undivided(const buffer_ref& owner, const char* function);

/// No processor has addresses from this one on. The library uses them to identify memory that is
/// distributed over processes.
inline constexpr std::uintptr_t first_false_address = std::uintptr_t{1} << 60;
[[noreturn]] void throw_no_address();
/// Throws device_error for such an address.
inline void require_address(const void* at) {
  if (reinterpret_cast<std::uintptr_t>(at) >= first_false_address) throw_no_address();
}

// Makes the stream's next work wait for all work that other streams have queued on the buffer, and
// records the use.
void use(buffer* memory, const stream& on, bool writes);

}  // namespace dsl::detail

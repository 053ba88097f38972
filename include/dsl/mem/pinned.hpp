// Page-locked host memory, for copies that overlap with the program and with kernels.
#pragma once

#include <dsl/ir/promotion.hpp>
#include <dsl/mem/buffer.hpp>
#include <dsl/mem/counted_ref.hpp>

namespace dsl {

namespace detail {

struct pinned_memory;
void add_owner(pinned_memory& m) noexcept;
void drop_owner(pinned_memory& m) noexcept;

/// Shared ownership of page-locked memory. The memory stays until all copies queued on it are
/// complete.
class pinned_ref {
 public:
  /// Uninitialised. Throws memory_error or device_error.
  static pinned_ref allocate(std::size_t count, std::size_t size, device where);

  void* data() const noexcept;
  /// Records a copy that a stream has queued.
  void note_use(const stream& on) const;
  void wait() const;

 private:
  counted_ref<pinned_memory> memory_;
};

// Queue copies without waiting, of the elements of a mapping in row-major order.
void upload_async(const buffer_ref& to, void* origin, const mapping& elements, std::size_t size,
                  const pinned_ref& owner, const void* from);
void download_async(const buffer_ref& from, const void* origin, const mapping& elements,
                    std::size_t size, const pinned_ref& owner, void* to);
/// Throws index_error.
void require_within(std::int64_t offset, std::int64_t count, std::int64_t size);

}  // namespace detail

/// Some elements of a pinned_array, whose memory they keep alive: source or target of an
/// asynchronous copy.
template <element T>
class pinned_span {
 public:
  using value_type = T;
  pinned_span(detail::pinned_ref owner, T* data, std::int64_t size)
      : owner_(std::move(owner)), data_(data), size_(size) {}

  T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
  T* begin() const noexcept { return data_; }
  T* end() const noexcept { return data_ + size_; }
  T& operator[](std::int64_t i) const noexcept { return data_[i]; }
  const detail::pinned_ref& owner() const noexcept { return owner_; }

 private:
  detail::pinned_ref owner_;
  T* data_;
  std::int64_t size_;
};

/// Host memory of n elements, page-locked if the device is a GPU (cudaMallocHost): Numba's
/// cuda.pinned_array. The program reads and writes it like a std::vector. copy_from_host_async and
/// copy_to_host_async of arrays and views copy from and to it while the program and kernels
/// continue. The program must not touch elements while a copy uses them: wait() waits for all
/// copies queued so far. The memory stays until they are complete. Locking pages is slow: allocate
/// once and reuse.
template <element T>
class pinned_array {
 public:
  using value_type = T;

  pinned_array() = default;
  /// Uninitialised. Throws memory_error, shape_error (a negative size) or device_error.
  explicit pinned_array(std::int64_t n, device where = device::current())
      : owner_(detail::pinned_ref::allocate(
            static_cast<std::size_t>(detail::element_count(&n, 1, sizeof(T))), sizeof(T), where)),
        size_(n) {}
  pinned_array(const pinned_array&) = delete;
  pinned_array(pinned_array&& other) noexcept
      : owner_(std::move(other.owner_)), size_(std::exchange(other.size_, 0)) {}
  pinned_array& operator=(pinned_array&& other) noexcept {
    owner_ = std::move(other.owner_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~pinned_array() = default;

  T* data() noexcept { return static_cast<T*>(owner_.data()); }
  const T* data() const noexcept { return static_cast<const T*>(owner_.data()); }
  std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }
  T& operator[](std::int64_t i) noexcept { return data()[i]; }
  const T& operator[](std::int64_t i) const noexcept { return data()[i]; }

  /// `count` elements from `offset` on. Throws index_error.
  pinned_span<T> subspan(std::int64_t offset, std::int64_t count) const {
    detail::require_within(offset, count, size_);
    return {owner_, static_cast<T*>(owner_.data()) + offset, count};
  }
  operator pinned_span<T>() const { return subspan(0, size_); }

  /// Waits until all copies from and to the array that were queued so far are complete. Throws
  /// cuda_error.
  void wait() const { owner_.wait(); }

 private:
  detail::pinned_ref owner_;
  std::int64_t size_ = 0;
};

}  // namespace dsl

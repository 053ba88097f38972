// One value in device memory.
#pragma once

#include <dsl/mem/view.hpp>

namespace dsl {

/// A value that stays on the device: the result of a reduction, and an operand that broadcasts
/// without a copy. Copies are deep.
template <element T>
class scalar {
 public:
  using value_type = T;
  static constexpr int rank = 0;

  /// Zero, on the current device.
  scalar() : scalar(T{}) {}
  /// A value on the current device, or on `where`, without waiting.
  // Not by operator=, which constructs a scalar if it has no memory: compilers inline the two into
  // each other several times.
  __attribute__((noinline)) scalar(const T& value, device where = device::current())
      : owner_(detail::buffer_ref::allocate(sizeof(T), where)) {
    detail::fill(owner_, data(), &value, sizeof(T), 1);
  }
  /// Evaluates an expression on its device, without waiting.
  template <detail::lazy E>
    requires detail::is_one_value<E>
  scalar(const E& expression) : scalar(T{}, detail::device_of_operands(expression)) {
    detail::evaluate_into(view(), expression);
  }
  /// Throws memory_error if `other` was moved from.
  scalar(const scalar& other) : owner_(other.new_memory()) { copy_from(other); }
  scalar(scalar&&) noexcept = default;
  /// Uses existing memory of one element.
  explicit scalar(detail::buffer_ref owner) noexcept : owner_(std::move(owner)) {}

  // A scalar that was moved from gets memory when it is assigned to, as an array does.
  scalar& operator=(const scalar& other) {
    if (this == &other) return *this;
    if (!owner_) owner_ = other.new_memory();
    copy_from(other);
    return *this;
  }
  scalar& operator=(scalar&& other) noexcept {
    if (this != &other) owner_.replace();
    owner_ = std::move(other.owner_);
    return *this;
  }
  scalar& operator=(const T& value) {
    if (!owner_) return *this = scalar(value);
    detail::fill(owner_, data(), &value, sizeof(T), 1);
    return *this;
  }
  template <detail::lazy E>
    requires detail::is_one_value<E>
  scalar& operator=(const E& expression) {
    if (!owner_) return *this = scalar(expression);
    detail::evaluate_into(view(), expression);
    return *this;
  }

  /// Copies the value to the host. Waits for the work queued on it.
  T value() const {
    detail::require_memory(owner_, "value");
    T v{};
    detail::download(owner_, data(), &v, sizeof(T));
    return v;
  }

  dsl::view<T, 0> view() { return {owner_, data(), {}, {}}; }
  dsl::view<const T, 0> view() const { return {owner_, data(), {}, {}}; }
  T* data() noexcept { return static_cast<T*>(owner_.data()); }
  const T* data() const noexcept { return static_cast<const T*>(owner_.data()); }
  /// The same address: each process of a mesh has the value.
  const T* origin() const noexcept { return data(); }
  /// False only after a move.
  bool has_memory() const noexcept { return static_cast<bool>(owner_); }
  device where() const noexcept { return owner_.where(); }

 private:
  void copy_from(const scalar& other) {
    detail::copy(owner_, data(), other.owner_, other.data(), sizeof(T));
  }
  detail::buffer_ref new_memory() const {
    detail::require_memory(owner_, "a copy of a scalar");
    return detail::buffer_ref::allocate(sizeof(T), where());
  }

  detail::buffer_ref owner_;
};

}  // namespace dsl

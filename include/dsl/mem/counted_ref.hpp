// Shared ownership with a counter in the object; including <memory> would cost each file 0.9 s.
#pragma once

#include <utility>

namespace dsl::detail {

/// One of an object's owners, or none. `add_owner` and `drop_owner`, declared with T, count the
/// owners; dropping the last one destroys the object. Different threads may copy and destroy
/// different owners at the same time.
template <class T>
class counted_ref {
 public:
  counted_ref() = default;
  /// Takes over an ownership that is already counted.
  explicit counted_ref(T* owned) noexcept : object_(owned) {}
  counted_ref(const counted_ref& other) noexcept : object_(other.object_) {
    if (object_ != nullptr) add_owner(*object_);
  }
  counted_ref(counted_ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  counted_ref& operator=(counted_ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~counted_ref() {
    if (object_ != nullptr) drop_owner(*object_);
  }

  explicit operator bool() const noexcept { return object_ != nullptr; }
  T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace dsl::detail

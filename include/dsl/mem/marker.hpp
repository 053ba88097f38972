// Places in streams.
#pragma once

#include <utility>

#include <dsl/mem/stream.hpp>

namespace dsl::detail {

class back_end;

/// A place in a stream that can be waited for: behind what is queued when it is made.
class marker {
 public:
  /// Throws cuda_error.
  explicit marker(const stream& s);
  ~marker();
  marker(marker&& other) noexcept : on_(other.on_), event_(std::exchange(other.event_, nullptr)) {}
  marker& operator=(marker&& other) noexcept {
    std::swap(on_, other.on_);
    std::swap(event_, other.event_);
    return *this;
  }
  /// Both throw cuda_error where the work before it failed.
  void wait() const;
  bool is_reached() const;

 private:
  back_end* on_;
  void* event_;
};

}  // namespace dsl::detail

// Markers: positions in streams.
#pragma once

#include <utility>

#include <dsl/mem/stream.hpp>

namespace dsl::detail {

class back_end;

/// A position in a stream that can be waited for: after all work queued when it is created.
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
  /// Both throw cuda_error if the work before the marker failed.
  void wait() const;
  bool is_reached() const;

 private:
  back_end* on_;
  void* event_;
};

}  // namespace dsl::detail

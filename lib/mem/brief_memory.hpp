// Small memory that a stream lends to what is queued on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace dsl::detail {

struct stream_state;

/// Small pieces of one allocation of a stream's, for values that only work of that stream reads:
/// what one pass of a statement leaves for the next, scratch memory of a launch. An allocation and
/// its release in the order of the stream cost the host 2 microseconds, half of a launch, and the
/// GPU one (an H200, driver 580). A piece that was returned is taken again by work that is queued
/// later on the same stream.
class brief_memory {
 public:
  /// The most bytes of a piece.
  static constexpr std::size_t most = 4 << 10;

  brief_memory() = default;
  brief_memory(const brief_memory&) = delete;

  /// A piece, 256-byte aligned, or null if there is no room. Throws memory_error.
  void* take(stream_state& of, std::size_t bytes);
  /// The work that uses the piece has been queued.
  void give_back(const void* piece) noexcept;
  /// The whole allocation, or null, for the stream's end.
  void* all() const noexcept { return memory_; }

 private:
  static constexpr std::size_t unit = 256, words = 4, of_word = 64;
  std::mutex mutex_;
  unsigned char* memory_ = nullptr;
  // A bit for each unit that is free; for the first unit of a piece, the piece's units.
  std::uint64_t free_[words] = {~0ull, ~0ull, ~0ull, ~0ull};
  std::uint8_t units_[words * of_word] = {};
};

}  // namespace dsl::detail

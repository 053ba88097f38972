// Memory for lines that are transformed, and threads that work in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "fft/line.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

/// Uninitialised memory for some lines of as many elements, each of them aligned.
template <class T>
class line_memory {
 public:
  /// Throws memory_error.
  line_memory(std::int64_t lines, std::int64_t length)
      : pitch_(pitch_of(length)),
        bytes_(static_cast<std::size_t>(lines * pitch_) + unit, sizeof(T)) {
    void* first = bytes_.data();
    std::size_t room = bytes_.size();
    first_ = static_cast<T*>(std::align(line_bytes, sizeof(T), first, room));
  }
  T* line(std::int64_t i = 0) const { return first_ + i * pitch_; }

 private:
  static constexpr std::size_t line_bytes = 64, unit = line_bytes / sizeof(T);
  static_assert(line_bytes % line_alignment == 0 && line_bytes % sizeof(T) == 0);
  // Not a power of two, since elements at such distances would share a few places of a cache.
  static std::int64_t pitch_of(std::int64_t length) {
    constexpr auto few = static_cast<std::int64_t>(unit);
    return (length + few - 1) / few * few + few;
  }

  std::int64_t pitch_;
  host_bytes bytes_;
  T* first_;
};

/// Calls run(i, memory) for each i < count, spread over the cores in ranges of about `grain` or
/// more. Each thread makes its memory once. `grain` calls or fewer are made by this thread alone.
template <class Make, class Run>
void spread_over_cores(std::int64_t count, std::int64_t grain, const Make& make, const Run& run) {
  const auto in_turn = [&](std::int64_t begin, std::int64_t end, const auto& own) {
    for (std::int64_t i = begin; i != end; ++i) run(i, own);
  };
  if (count <= grain) return in_turn(0, count, make());
  tbb::enumerable_thread_specific<decltype(make())> memory(make);
  // A thread that waits for the others must not begin work of whoever called this, whose memory it
  // may be using.
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count, grain), [&](const auto& range) {
      in_turn(range.begin(), range.end(), memory.local());
    });
  });
}

}  // namespace dsl::detail

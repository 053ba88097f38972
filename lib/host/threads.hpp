// Tasks on all cores.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <cstdint>

namespace dsl::detail {

/// A thread's memory of which core took which part of its last call: what a call leaves in a core's cache the next one finds
/// there. On 16 cores an addition of 10^6 floats, again and again, took 45 us without it and takes 22. Held by one call at a
/// time; a call within a call has none.
class held_affinity {
 public:
  held_affinity();
  held_affinity(const held_affinity&) = delete;
  ~held_affinity();
  /// Null where it is held already.
  tbb::affinity_partitioner* get() const { return partitioner_; }

 private:
  tbb::affinity_partitioner* partitioner_;
};

/// To wake threads that sleep takes up to 10 us, to give work to those that wait for it 2 to 4. Work that takes one thread less
/// is done by it.
inline constexpr double worth_waking = 5'000;  // nanoseconds

/// What a task should take at least: one costs some tenths of a microsecond.
inline constexpr double of_a_task = 2'500;  // nanoseconds

/// Calls part(begin, end) for ranges of 0 .. count, which take `nanoseconds` together.
template <class Part>
void on_threads(std::int64_t count, double nanoseconds, const Part& part) {
  if (count <= 1 || nanoseconds < worth_waking) return part(std::int64_t{0}, count);
  const tbb::blocked_range<std::int64_t> all(0, count);
  const auto body = [&part](const tbb::blocked_range<std::int64_t>& range) { part(range.begin(), range.end()); };
  const held_affinity affinity;
  if (affinity.get() != nullptr) tbb::parallel_for(all, body, *affinity.get());
  else tbb::parallel_for(all, body);
}

}  // namespace dsl::detail

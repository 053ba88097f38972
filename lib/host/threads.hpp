// Work on all cores.
#pragma once

#include <cstdint>

namespace dsl::detail {

/// Giving work to threads that wait for it takes one or two microseconds.
inline constexpr double worth_sharing = 5'000;  // nanoseconds of one thread

/// The least duration of a task: taking one costs some tenths of a microsecond.
inline constexpr double of_a_task = 2'500;  // nanoseconds

/// Runs tasks begin .. end of some work.
using task_range = void (*)(const void* work, std::int64_t begin, std::int64_t end);

/// Runs `count` tasks, which take one thread `nanoseconds` in total, on the calling thread and
/// others. Waits for them. Throws what a task throws.
void run_on_threads(std::int64_t count, double nanoseconds, task_range run, const void* work);

/// Calls part(begin, end) for ranges that together cover 0 .. count; `nanoseconds`: their total
/// time on one thread.
template <class Part>
void on_threads(std::int64_t count, double nanoseconds, const Part& part) {
  if (count <= 1 || nanoseconds < worth_sharing) return part(std::int64_t{0}, count);
  const auto run = [](const void* work, std::int64_t begin, std::int64_t end) {
    (*static_cast<const Part*>(work))(begin, end);
  };
  run_on_threads(count, nanoseconds, run, &part);
}

}  // namespace dsl::detail

// Convolutions: a task for a back end.
#pragma once

#include <cstddef>

#include <dsl/exec/tasks/convolve.hpp>

namespace dsl::detail {

/// result[i] = sum over j of taps[j] elements[first + i - j], as `run_convolution`.
struct convolve_task {
  dtype type;
  std::int64_t elements_count, taps_count, first, count;  // count: of the results
  const void *elements, *taps;
  void* result;
};

/// How blocks share the results: each has `threads` times a few, and reads `taps` taps at a time.
struct convolve_plan {
  int threads, taps;
  std::int64_t blocks;
  std::size_t shared_bytes;
};
convolve_plan plan_convolution(const convolve_task& task, std::size_t shared_per_block);

/// Runs a task in the host's memory on all cores. Done when it returns.
void run_in_memory(const convolve_task& task);

}  // namespace dsl::detail

// Writing to positions: a task for a back end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dsl::detail {

/// Writes target[positions[i]] = values[i], as `run_scatter`. An element has 1, 2, 4, 8 or 16
/// bytes.
struct scatter_task {
  std::int64_t count;
  const std::int64_t* positions;
  const void* values;
  void* target;
  // Of the target: number of elements, and their distance in elements.
  std::int64_t elements, stride;
  std::size_t bytes;
};

/// Writes in the host's memory. Done when it returns.
void run_in_memory(const scatter_task& task);

}  // namespace dsl::detail

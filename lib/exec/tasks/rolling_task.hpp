// Rolling reductions: a task for a back end.
#pragma once

#include <cstddef>

#include <dsl/exec/tasks/rolling.hpp>

namespace dsl::detail {

/// Reduces every window of each row, as `run_rolling`. Neither memory overlaps the other.
struct rolling_task {
  rolling_function function;
  dtype type, result;
  std::int64_t count;   // Elements: rows of `length`.
  std::int64_t length;  // At least `window`.
  std::int64_t window, ddof;
  const void* elements;
  void* results;
};

/// What a task computes with: the elements' dtype if they are compared, else the accumulator's.
/// Integers are widened to 64 bits.
constexpr dtype rolling_type(rolling_function function, dtype type) {
  const bool is_integer = kind_of(type) <= kind::integer;
  if (!is_integer) return computed_in(type);
  if (function == rolling_function::sum) return dtype::uint64;  // Modulo 2^64, whatever the sign.
  if (function == rolling_function::min || function == rolling_function::max)
    return info(type).is_signed ? dtype::int64 : dtype::uint64;
  return dtype::float64;
}

/// How blocks share the elements: each has `tile` windows, and reads the elements of these.
struct rolling_plan {
  int threads = 0;  // 0: no block has memory for windows of this length.
  std::int64_t tile, blocks;
  std::size_t shared_bytes;
};
rolling_plan plan_rolling(const rolling_task& task, std::size_t shared_per_block);

/// Runs a task in the host's memory on all cores. Done when it returns.
void run_in_memory(const rolling_task& task);

}  // namespace dsl::detail

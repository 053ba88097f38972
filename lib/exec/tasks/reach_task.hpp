// Elements that reach a bound: a task for a back end.
#pragma once

#include <cstddef>

#include <dsl/exec/tasks/topk.hpp>

#include "exec/tasks/ordered_key.hpp"

namespace dsl::detail {

/// Finds elements as `run_reach`.
struct reach_task {
  dtype type;
  ordered_key keys;  // of this dtype
  std::int64_t count;
  const void *elements, *bound;
  const std::int64_t* last;
  std::uint64_t* found;
  std::int64_t capacity;
  unsigned* reached;
};

/// The blocks of threads that read so many elements each.
struct reach_plan {
  static constexpr int threads = 256, items = 16;
  static constexpr std::size_t shared_bytes = 0;
  std::int64_t blocks;
};
reach_plan plan_reach(const reach_task& task, std::size_t shared_per_block);

/// Runs a task in the host's memory on all cores. Done when it returns.
void run_in_memory(const reach_task& task);

}  // namespace dsl::detail

// Sorting: tasks for a back end.
#pragma once

#include <cstdint>

#include <dsl/ir/dtype.hpp>

namespace dsl::detail {

/// Sorts elements of a dtype that is not complex. `sorted` gets the elements in ascending order,
/// `order` their positions; either may be null, and neither overlaps the elements.
struct sort_task {
  dtype type;
  std::int64_t count;  // Less than 2^32.
  const void* elements;
  void* sorted;
  std::int64_t* order;
};
/// Sorts keys by their bits from `first_bit` to before `last_bit`, together with their values
/// unless `values` is null. Keys equal in these bits keep their order.
struct pair_sort_task {
  std::int64_t count;
  const std::uint32_t *keys, *values;
  std::uint32_t *sorted_keys, *sorted_values;
  int first_bit, last_bit;
};

/// Sorts in the host's memory on all cores. Done when it returns.
void run_in_memory(const sort_task& task);
void run_in_memory(const pair_sort_task& task);

}  // namespace dsl::detail

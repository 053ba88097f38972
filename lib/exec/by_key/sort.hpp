// Sorting, as back ends see it.
#pragma once

#include <cstdint>

#include <dsl/ir/dtype.hpp>

namespace dsl::detail {

/// Elements of a dtype that is no complex one, and where they go; `sorted` or `order` may be null.
struct sort_task {
  dtype type;
  std::int64_t count;  // less than 2^32
  const void* elements;
  void* sorted;
  std::int64_t* order;
};
/// Keys of which the bits from `first_bit` to below `last_bit` count, and what goes with them,
/// unless `values` is null. Equal keys stay in their order.
struct pair_sort_task {
  std::int64_t count;
  const std::uint32_t *keys, *values;
  std::uint32_t *sorted_keys, *sorted_values;
  int first_bit, last_bit;
};

/// In this machine's memory, on all cores.
void sort_in_memory(const sort_task& task);
void sort_in_memory(const pair_sort_task& task);

}  // namespace dsl::detail

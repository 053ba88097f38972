// Sorts elements in memory.
#pragma once

#include <dsl/exec/plan/operand.hpp>

namespace dsl::detail {

/// Queues the sorting of elements of rank 1 that lie one behind the other on the current stream:
/// `sorted` becomes the elements in rising order, NaN last, `order` their positions (int64), of
/// equal ones in the order in which they were; either may be null. Throws shape_error where there
/// are 2^32 elements or more, memory_error or cuda_error.
void run_sort(const operand& elements, const operand* sorted, const operand* order);

}  // namespace dsl::detail

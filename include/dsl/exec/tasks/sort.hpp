// Sorts elements in memory.
#pragma once

#include <dsl/exec/plan/operand.hpp>

namespace dsl::detail {

/// Queues the sorting of contiguous elements of rank 1 on the current stream: `sorted` gets the
/// elements in ascending order, NaN last, `order` their positions (int64); equal elements keep
/// their order. Either may be null; neither overlaps the elements. Throws shape_error for 2^32
/// elements or more, memory_error or cuda_error.
void run_sort(const operand& elements, const operand* sorted, const operand* order);

/// Throws shape_error unless element k is one of n.
void require_place(std::int64_t k, std::int64_t n);

}  // namespace dsl::detail

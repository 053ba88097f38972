// Sorts elements in memory.
#pragma once

#include <dsl/exec/plan/operand.hpp>

namespace dsl::detail {

/// Queues the sorting of contiguous elements of rank 1 on the current stream: `sorted` gets the
/// elements in ascending order, NaN last, `order` their positions (int64); equal elements keep
/// their order. Either may be null; neither overlaps the elements. Throws shape_error for 2^32
/// elements or more, memory_error or cuda_error.
void run_sort(const operand& elements, const operand* sorted, const operand* order);

/// How the k largest of n elements are found. A sample of the elements, sorted, gives a bound that
/// at least k elements reach; about `stride` times as many do, which are sorted.
struct topk_plan {
  std::int64_t sampled = 0;  // 0: all elements are sorted.
  std::int64_t stride;       // One element in each so many is in the sample.
  std::int64_t capacity;     // More elements than this reach the bound once in 10^15 times.
};
/// Throws shape_error unless 0 <= k <= n.
topk_plan plan_topk(std::int64_t n, std::int64_t k);

}  // namespace dsl::detail

// Finds the elements that may be among the largest.
#pragma once

#include <dsl/exec/plan/operand.hpp>

namespace dsl::detail {

/// How the k largest of n elements are found. A sample of the elements, sorted, gives a bound that
/// at least k elements reach; about k times `stride` do, which are sorted.
struct topk_plan {
  std::int64_t sampled = 0;   // 0: all elements are sorted.
  std::int64_t stride = 1;    // One element in each so many is in the sample.
  std::int64_t capacity = 0;  // More elements than this reach the bound once in 10^15 times.
};
/// Throws shape_error unless 0 <= k <= n.
topk_plan plan_topk(device where, std::int64_t n, std::int64_t k);

/// Queues a search for the elements that are greater than a bound, or equal to it and not after the
/// position `last`, on the current stream. `elements` are contiguous, of rank 1 and of a dtype that
/// is sorted; `bound` is one of that dtype, `last` an int64. Adds the number of these elements to
/// `count`, a uint32, and writes their positions, in no order, to `found` (uint64), as far as there
/// is room. The upper 32 bits are 0 for elements of 8 bytes; for others they order the elements
/// falling.
void run_reach(const operand& elements, const operand& bound, const operand& last,
               const operand& found, const operand& count);

}  // namespace dsl::detail

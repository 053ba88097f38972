// How reductions of pairs are cut into tiles and blocks.
#pragma once

#include <dsl/exec/plan/plan.hpp>

namespace dsl::detail {

/// Pairs: each thread has a row of its own, or a few share one, and goes along a piece of it with
/// what the rows share in shared memory. Rows as many as a block has threads, or fewer where those
/// would have none. Blocks are as large as a multiprocessor holds: of several a multiprocessor, one
/// may get more than another, as long as there is room (5 and 2 of 576 on an H200, which took a
/// third longer). False where a row's operands find no room: then it is a reduction as any other.
bool plan_pairs(reduction_plan& p, const geometry& g, const operand* inputs, int count,
                int multiprocessors, int most_threads, const launch& fixed);

}  // namespace dsl::detail

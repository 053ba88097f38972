// Plans of reductions along some axes, over blocks of threads.
#pragma once

#include <dsl/exec/plan/plan.hpp>

namespace dsl::detail {

/// Plans a reduction that keeps some dimensions. If the innermost one is reduced, a row of threads
/// computes each result; if it is kept, a column of threads. Tiles are as long in the reduced
/// dimension as possible with work for all multiprocessors. `operands`: the pass's `count`
/// operands. `resident`: the blocks that fit on the device at once. A block that the call fixed
/// stays as it is.
void plan_along_axes(reduction_plan& p, const geometry& g, const operand* operands, int count,
                     int accumulator_bytes, std::int64_t resident, bool block_is_fixed);

}  // namespace dsl::detail

// The simulator's view of a launch.
#pragma once

#include <dsl/exec/loop.hpp>

#include "sim/grid.hpp"

namespace dsl::detail {

/// All the memory that belongs to the operands.
checked_ranges ranges_of(const operand* operands, int count, const program_code& code);

/// The same for a kernel, which writes its operands from `inputs` on.
std::vector<simulated_range> memory_of(const operand* operands, int inputs, int count);

/// Runs a loop's steps: each step all threads of all blocks, then what their sums come to.
void simulate_loop(const simulated_loop& k, int accumulator_bytes, const void* arguments, const plan& p, const loop_walk& walk, checked_ranges& allowed);

}  // namespace dsl::detail

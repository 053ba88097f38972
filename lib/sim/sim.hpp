// The simulator's view of a launch.
#pragma once

#include <dsl/exec/loop.hpp>

namespace dsl::detail {

/// All the memory that belongs to the operands.
checked_ranges ranges_of(const operand* operands, int count, const program_code& code);

}  // namespace dsl::detail

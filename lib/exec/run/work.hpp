// What launches do, as ranges in profilers show it.
#pragma once

#include <dsl/exec/run/run.hpp>

#include "mem/profiling.hpp"

namespace dsl::detail {

/// "rk4_step" and its formula, or the formula alone, and what so many evaluations of it cost.
profiled_work work_of(const prepared& pass, std::int64_t steps = 1);
/// Of a kernel that takes each of `elements` elements once: `kind`, "scan of ", and the formula.
profiled_work work_of(const char* kind, const pass_view& pass, const operand* operands,
                      std::int64_t elements);

}  // namespace dsl::detail

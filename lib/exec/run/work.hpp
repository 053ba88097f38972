// Describes launches for the ranges that profilers show.
#pragma once

#include <dsl/exec/run/run.hpp>

#include "mem/profiling.hpp"

namespace dsl::detail {

/// The kernel's name and its formula, or the formula alone, and the cost of `steps` evaluations.
profiled_work work_of(const prepared& pass, std::int64_t steps = 1);
/// The same for a kernel that takes each of `elements` elements once: `kind`, such as "scan of ",
/// and the formula.
profiled_work work_of(const char* kind, const pass_view& pass, const operand* operands,
                      std::int64_t elements);

}  // namespace dsl::detail

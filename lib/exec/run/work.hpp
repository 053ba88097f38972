// Plans and queues work.
#pragma once

#include <dsl/exec/run/run.hpp>
#include <dsl/exec/run/work.hpp>

#include "exec/run/copy.hpp"
#include "mem/profiling.hpp"

namespace dsl::detail {

/// The kernel's name and its formula, or the formula alone, and the cost of `steps` evaluations.
profiled_work profile_of(const bound_pass& pass, std::int64_t steps = 1);
/// The same for a kernel that reads each element once. Its name is `kind`, such as "scan of ", and
/// the formula.
profiled_work profile_of(const char* kind, const work_record& of);

/// Queues work on its device's current stream, in a range that profilers show. All work is queued
/// by this function. The operands' memory is kept until the stream has done it. Does nothing if the
/// work is empty.
void queue(const work& w);

/// Plans all work before any is queued, because planning may throw; queues it in order; then copies
/// temporaries to the targets that they stand for.
void queue_all(const work* const* all, std::size_t count, const std::vector<late_copy>& copies);

}  // namespace dsl::detail

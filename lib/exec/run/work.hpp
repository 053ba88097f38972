// Describes launches for the ranges that profilers show.
#pragma once

#include <dsl/exec/run/run.hpp>

#include "mem/profiling.hpp"

namespace dsl::detail {

/// The kernel's name and its formula, or the formula alone, and the cost of `steps` evaluations.
profiled_work work_of(const prepared& pass, std::int64_t steps = 1);
/// The same for a kernel that reads each of `elements` elements once. Its name is `kind`, such as
/// "scan of ", and the formula.
profiled_work work_of(const char* kind, const pass_view& pass, const operand* operands,
                      std::int64_t elements);

/// Queues work on the device's current stream, in a range that profilers show. All passes, chains,
/// loops, scans, selections and reductions by key are run by this function. describe() returns the
/// profiled_work and is called only for a profiler; queue(stream) queues the work. The operands'
/// memory is kept until the stream has done it.
template <class Describe, class Queue>
void queue_work(device where, const operand* operands, int inputs, int outputs,
                const Describe& describe, const Queue& queue) {
  const stream on = stream::current(where);
  const profiled_range range(describe);
  use_operands(operands, inputs, outputs, on);
  queue(on);
}

}  // namespace dsl::detail

// Tasks whose code is part of the library: sorting, writing to positions, rolling reductions,
// convolutions, elements that reach a bound, products with sparse matrices.
#pragma once

#include <variant>

#include "exec/tasks/convolve_task.hpp"
#include "exec/tasks/csr_task.hpp"
#include "exec/tasks/reach_task.hpp"
#include "exec/tasks/rolling_task.hpp"
#include "exec/tasks/scatter.hpp"
#include "exec/tasks/sort.hpp"

namespace dsl::detail {

/// A task for `executor::run`.
struct library_task {
  std::variant<sort_task, pair_sort_task, scatter_task, rolling_task, convolve_task, reach_task,
               csr_task>
      is;
};

/// Runs a task on the host's cores, in its memory. Done when it returns.
inline void run_in_memory(const library_task& task) {
  std::visit([](const auto& of) { run_in_memory(of); }, task.is);
}

}  // namespace dsl::detail

// Tasks with kernels of the library, compiled once: sorting, writing to positions, products with
// sparse matrices.
#pragma once

#include <variant>

#include "exec/by_key/csr_task.hpp"
#include "exec/by_key/scatter.hpp"
#include "exec/by_key/sort.hpp"

namespace dsl::detail {

/// A task for `executor::run`.
struct library_task { std::variant<sort_task, pair_sort_task, scatter_task, csr_task> is; };

/// Runs a task on the host's cores, in its memory. Done when it returns.
inline void run_in_memory(const library_task& task) {
  std::visit([](const auto& of) { run_in_memory(of); }, task.is);
}

}  // namespace dsl::detail

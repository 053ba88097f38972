// Products with sparse matrices in the simulator.
#pragma once

#include "exec/tasks/csr_task.hpp"

namespace dsl::detail {

/// Runs the kernels of a product, with all their accesses checked.
void simulate(const csr_task& task);

}  // namespace dsl::detail

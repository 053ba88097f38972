// Kernels on several GPUs.
#pragma once

#include "exec/run/grid_executor.hpp"

namespace dsl::detail {

/// Of every mesh of GPUs.
grid_executor& mesh_kernels();

}  // namespace dsl::detail

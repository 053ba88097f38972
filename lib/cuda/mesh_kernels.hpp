// Executor of kernels on a mesh of GPUs.
#pragma once

#include "exec/run/grid_executor.hpp"

namespace dsl::detail {

/// Shared by all meshes of GPUs.
grid_executor& mesh_kernels();

}  // namespace dsl::detail

// The CUDA back end: one kernel template, in files that nvcc compiles.
#pragma once

#include <dsl/exec/cuda_team.hpp>
#include <dsl/exec/pass_kernel.hpp>

namespace dsl::detail {

#if defined(__CUDACC__)

/// `Name` is what profilers show first.
template <class Name, class Pass, int Inputs, class Arguments>
__global__ void kernel(const __grid_constant__ Arguments args) {
  run_pass<Pass, Inputs>(args, device_memory{}, device_team{});
}

#endif  // __CUDACC__

}  // namespace dsl::detail

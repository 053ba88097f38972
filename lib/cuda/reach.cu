#include "cuda/reach.hpp"

#include <dsl/exec/team/cuda_team.hpp>

#include "cuda/task_launch.cuh"
#include "exec/tasks/reach_kernel.hpp"

namespace dsl::kernels {

template <class Bits, bool IsReal>
__global__ void __launch_bounds__(detail::reach_plan::threads)
    reach(const __grid_constant__ detail::reach_arguments args) {
  detail::run_reach<Bits, IsReal>(args, detail::device_memory{},
                                  detail::team_of_launch(args.range));
}

}  // namespace dsl::kernels

namespace dsl::detail::cuda {

cudaError_t launch_reach(const reach_task& task, cudaStream_t stream) {
  const void* const kernel = with_bits(task, [](auto bits, auto is_real) {
    return reinterpret_cast<const void*>(&kernels::reach<decltype(bits), is_real()>);
  });
  return launch_planned(
      kernel, task, plan_reach, [&](const reach_plan&) { return reach_arguments{{}, task}; },
      stream);
}

}  // namespace dsl::detail::cuda

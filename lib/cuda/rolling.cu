#include "cuda/rolling.hpp"

#include <dsl/exec/team/cuda_team.hpp>

#include "cuda/task_launch.cuh"
#include "exec/tasks/rolling_kernel.hpp"

namespace dsl::kernels {

template <class Function>
__global__ void __launch_bounds__(detail::rolling_threads<typename Function::value>)
    rolling(const __grid_constant__ detail::rolling_arguments args) {
  detail::run_rolling<Function>(args, detail::device_memory{}, detail::team_of_launch(args.range));
}

}  // namespace dsl::kernels

namespace dsl::detail::cuda {

cudaError_t launch_rolling(const rolling_task& task, cudaStream_t stream) {
  const void* const kernel = with_rolling_function(task, [](auto function) {
    return reinterpret_cast<const void*>(&kernels::rolling<decltype(function)>);
  });
  return launch_planned(
      kernel, task, plan_rolling,
      [&](const rolling_plan& plan) { return rolling_arguments{{}, task, plan.tile}; }, stream);
}

}  // namespace dsl::detail::cuda

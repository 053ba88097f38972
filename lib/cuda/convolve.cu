#include "cuda/convolve.hpp"

#include <dsl/exec/team/cuda_team.hpp>

#include "cuda/task_launch.cuh"
#include "exec/tasks/convolve_kernel.hpp"

namespace dsl::kernels {

template <class V>
__global__ void __launch_bounds__(256)
    convolve(const __grid_constant__ detail::convolve_arguments args) {
  detail::run_convolve<V>(args, detail::device_memory{}, detail::team_of_launch(args.range));
}

}  // namespace dsl::kernels

namespace dsl::detail::cuda {

cudaError_t launch_convolve(const convolve_task& task, cudaStream_t stream) {
  const void* const kernel = with_convolved_type(task.type, [](auto value) {
    return reinterpret_cast<const void*>(&kernels::convolve<decltype(value)>);
  });
  return launch_planned(
      kernel, task, plan_convolution,
      [&](const convolve_plan& plan) { return convolve_arguments{{}, task, plan.taps}; }, stream);
}

}  // namespace dsl::detail::cuda

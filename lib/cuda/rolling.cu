#include "cuda/rolling.hpp"

#include <dsl/exec/team/cuda_team.hpp>

#include "cuda/launch.hpp"
#include "exec/tasks/rolling_kernel.hpp"

namespace dsl::kernels {

template <class Function>
__global__ void __launch_bounds__(1024)
    rolling(const __grid_constant__ detail::rolling_arguments args) {
  detail::run_rolling<Function>(args, detail::device_memory{}, detail::team_of_launch(args.range));
}

}  // namespace dsl::kernels

namespace dsl::detail::cuda {

cudaError_t launch_rolling(const rolling_task& task, cudaStream_t stream) {
  int gpu = 0, shared_per_block = 0;
  cudaError_t status = cudaGetDevice(&gpu);
  if (status == cudaSuccess)
    status =
        cudaDeviceGetAttribute(&shared_per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu);
  if (status != cudaSuccess) return status;
  const rolling_plan plan = plan_rolling(task, static_cast<std::size_t>(shared_per_block));
  const void* const kernel = with_rolling_function(task, [](auto function) {
    return reinterpret_cast<const void*>(&kernels::rolling<decltype(function)>);
  });
  allow_shared_memory(kernel, static_cast<int>(plan.shared_bytes), gpu);
  rolling_arguments args{{0, static_cast<std::uint32_t>(plan.blocks)}, task, plan.tile};
  void* arguments[] = {&args};
  return cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(plan.blocks)),
                          dim3(static_cast<unsigned>(plan.threads)), arguments, plan.shared_bytes,
                          stream);
}

}  // namespace dsl::detail::cuda

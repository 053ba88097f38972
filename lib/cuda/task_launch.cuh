// Launches the kernel of a library task.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/launch.hpp"

namespace dsl::detail::cuda {

/// Queues a task's kernel on a stream of the current GPU. plan_for(task, bytes of shared memory of
/// a block): its plan. arguments_for(plan): the kernel's parameters.
template <class Task, class Plan, class ArgumentsFor>
cudaError_t launch_planned(const void* kernel, const Task& task,
                           Plan (*plan_for)(const Task&, std::size_t),
                           const ArgumentsFor& arguments_for, cudaStream_t stream) {
  int gpu = 0, shared_per_block = 0;
  cudaError_t status = cudaGetDevice(&gpu);
  if (status == cudaSuccess)
    status =
        cudaDeviceGetAttribute(&shared_per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu);
  if (status != cudaSuccess) return status;
  const Plan plan = plan_for(task, static_cast<std::size_t>(shared_per_block));
  allow_shared_memory(kernel, static_cast<int>(plan.shared_bytes), gpu);
  auto arguments = arguments_for(plan);
  arguments.range = {0, static_cast<std::uint32_t>(plan.blocks)};
  void* given[] = {&arguments};
  return cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(plan.blocks)),
                          dim3(static_cast<unsigned>(plan.threads)), given, plan.shared_bytes,
                          stream);
}

}  // namespace dsl::detail::cuda

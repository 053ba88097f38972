// Library tasks on a GPU.
#pragma once

#include <variant>

#include "cuda/convolve.hpp"
#include "cuda/csr_product.hpp"
#include "cuda/reach.hpp"
#include "cuda/rolling.hpp"
#include "cuda/scatter.hpp"
#include "cuda/sort.hpp"
#include "exec/tasks/library_task.hpp"

namespace dsl::detail::cuda {

/// Sets `bytes` to the size of the memory that a task works in.
inline cudaError_t size_memory(const library_task& task, std::size_t& bytes, cudaStream_t stream) {
  return std::visit(
      [&](const auto& of) {
        if constexpr (requires { launch_sort(of, nullptr, bytes, stream); })
          return launch_sort(of, nullptr, bytes, stream);
        bytes = 0;
        return cudaSuccess;
      },
      task.is);
}

/// Queues a task that works in `memory` of `bytes`.
inline cudaError_t launch_task(const library_task& task, void* memory, std::size_t bytes,
                               cudaStream_t stream) {
  return std::visit(
      [&](const auto& of) {
        if constexpr (requires { launch_scatter(of, stream); }) return launch_scatter(of, stream);
        else if constexpr (requires { launch_csr(of, stream); }) return launch_csr(of, stream);
        else if constexpr (requires { launch_rolling(of, stream); })
          return launch_rolling(of, stream);
        else if constexpr (requires { launch_convolve(of, stream); })
          return launch_convolve(of, stream);
        else if constexpr (requires { launch_reach(of, stream); }) return launch_reach(of, stream);
        else return launch_sort(of, memory, bytes, stream);
      },
      task.is);
}

/// As executor::takes.
inline bool takes(const library_task& task, const device_properties& of) {
  const auto* const rolling = std::get_if<rolling_task>(&task.is);
  return rolling == nullptr || plan_rolling(*rolling, of.shared_per_block).threads > 0;
}

inline std::int64_t elements_of(const library_task& task) {
  return std::visit([](const auto& of) { return of.count; }, task.is);
}

}  // namespace dsl::detail::cuda

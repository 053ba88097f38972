// Entry points of a formula's kernels, for back ends that run grids of thread blocks.
#pragma once

#include <cstdint>

namespace dsl::detail {

/// Kernels are compiled for a GPU, by nvcc, or for the simulator.
enum class kernel_target : std::uint8_t { cuda, sim };
inline constexpr int kernel_targets = 2;

/// Entry points of kernels, each an address for `kernel_launch`.
template <int Count>
struct entry_points {
  // Architectures that nvcc compiled for, "800,900"; null in the simulator.
  const char* architectures = nullptr;
  const void* kernel[Count] = {};
};

}  // namespace dsl::detail

// Where the kernels of a formula begin, for what runs grids of blocks of threads.
#pragma once

#include <cstdint>

namespace dsl::detail {

/// What a kernel is compiled for: a GPU, by nvcc, or the simulator.
enum class kernel_target : std::uint8_t { cuda, sim };
inline constexpr int kernel_targets = 2;

/// Entry points of kernels, each an address that `kernel_launch` takes.
template <int Count>
struct entry_points {
  const char* architectures;  // that nvcc made code for, "800,900"; null in the simulator
  const void* kernel[Count];
};

}  // namespace dsl::detail

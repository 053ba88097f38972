// Measurements of a GPU.
#pragma once

#include "exec/run/calibration.hpp"

namespace dsl::detail::cuda {

/// Measures the calling thread's current device, in about a fifth of a second. Throws cuda_error.
calibration measure(const device_properties& gpu, std::size_t free_memory);

}  // namespace dsl::detail::cuda

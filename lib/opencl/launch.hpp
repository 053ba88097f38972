// Launches of a pass's kernels.
#pragma once

#include "exec/run/executor.hpp"

namespace dsl::detail::opencl {

/// Builds a pass's kernels and plans their launches. Throws device_error for what the device cannot
/// do, and opencl_error for a program that does not build.
reduction_plan plan_of(const bound_pass& pass);

/// Queues the launches of a planned pass. Errors name the kernel, the formula and the sizes.
void launch(const bound_pass& pass, const reduction_plan& planned, const stream& on);

}  // namespace dsl::detail::opencl

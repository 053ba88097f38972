// Launches of kernels.
#pragma once

#include <functional>
#include <string>

#include "exec/run/executor.hpp"
#include "opencl/build.hpp"

namespace dsl::detail::opencl {

/// Queues launches of a program's kernels, with scratch memory as long as they need it. Errors name
/// what `spell` gives for `kernel_launch::which`.
void queue_launches(device_state& on, built_program& program, const kernel_launches& all,
                    const stream& on_stream, const std::function<std::string(const char*)>& spell);

/// Gives a plan the groups of one of a program's launches.
void plan_groups(dsl::plan& p, built_program& program, const kernel_launch& of);

/// Builds a pass's kernels and plans their launches. Throws device_error for what the device cannot
/// do, and opencl_error for a program that does not build.
reduction_plan plan_of(const bound_pass& pass);

/// Queues the launches of a planned pass. Errors name the kernel, the formula and the sizes.
void launch(const bound_pass& pass, const reduction_plan& planned, const stream& on);

}  // namespace dsl::detail::opencl

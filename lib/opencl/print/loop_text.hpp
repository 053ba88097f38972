// Steps of a loop as one kernel.
#pragma once

#include "exec/loop/loop_launch.hpp"
#include "opencl/print/kernel_text.hpp"

namespace dsl::detail::opencl {

/// Work-items of the group that runs all steps of a loop whose steps reduce: as many as the call
/// has fixed, if that is possible.
std::int64_t group_of(const loop& of, const abilities& can);
/// Groups of work-items, each of which has an element, or more if the call has fixed fewer groups.
std::int64_t groups_of_elements(std::int64_t elements, std::int64_t group,
                                const dsl::launch& fixed);

/// All steps of a launch as one kernel, as `print_pass`; its launch and its key. Each work-item
/// runs the steps of its elements, or one work-group runs the steps of all.
kernel_text print(const loop_launch& steps, const abilities& can);
kernel_launches launches_of(const loop_launch& steps, const abilities& can);
std::uint64_t text_key(const loop_launch& steps, const abilities& can);

}  // namespace dsl::detail::opencl

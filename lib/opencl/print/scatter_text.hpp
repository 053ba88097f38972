// Writing to positions as OpenCL C.
#pragma once

#include "exec/tasks/scatter.hpp"
#include "opencl/print/kernel_text.hpp"

namespace dsl::detail::opencl {

/// Prints the kernel for elements of the task's size.
kernel_text print_scatter(const scatter_task& task, const abilities& can);
/// The launch of that text.
kernel_launches launches_of_scatter(const scatter_task& task);
/// What the text depends on, as `text_key`.
std::uint64_t key_of_scatter(const scatter_task& task, const abilities& can);

}  // namespace dsl::detail::opencl

// Sorting as OpenCL C.
#pragma once

#include "exec/tasks/sort.hpp"
#include "opencl/print/kernel_text.hpp"

namespace dsl::detail::opencl {

/// Prints the sort of a dtype's elements, for tasks with the same results wanted.
kernel_text print_sort(const sort_task& task, const abilities& can);
/// The launches of that text.
kernel_launches launches_of_sort(const sort_task& task, const abilities& can);
/// What the text depends on, as `text_key`.
std::uint64_t key_of_sort(const sort_task& task, const abilities& can);

}  // namespace dsl::detail::opencl

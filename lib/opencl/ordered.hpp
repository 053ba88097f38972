// Statements whose elements are numbered in order: scans and selections.
#pragma once

#include "exec/by_key/selection_work.hpp"
#include "exec/scan/scan_work.hpp"

namespace dsl::detail::opencl {

/// Builds the kernels and sets the plan. Throws as `plan_of`.
void plan_scan(const scan_work& scan);
/// Queues the launches.
void launch_scan(const scan_work& scan, const stream& on);

/// The same of selections.
void plan_selection(const selection_work& selection);
void launch_selection(const selection_work& selection, const stream& on);

}  // namespace dsl::detail::opencl

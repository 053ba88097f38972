// A reduction by key as OpenCL C 1.2, and how its kernels are launched.
//
// Each work-item of the first kernel has a table of its own in device memory, with an accumulator
// for each group, and adds every n-th element to it, in order. A work-item of the second kernel
// combines a group's accumulators of all tables, in order. So a device gives the same bits in each
// run, without atomics. Many groups leave room for few tables, and so for few work-items.
#pragma once

#include "exec/by_key/by_key_work.hpp"
#include "opencl/print/kernel_text.hpp"

namespace dsl::detail::opencl {

/// Throws device_error as print_pass does.
kernel_text print(const by_key_work& w, const abilities& can);
kernel_launches launches_of(const by_key_work& w, const abilities& can);
/// What the text depends on, as a hash.
std::uint64_t text_key(const by_key_work& w, const abilities& can);
/// The number of tables.
std::int64_t tables_of(const by_key_work& w);

}  // namespace dsl::detail::opencl

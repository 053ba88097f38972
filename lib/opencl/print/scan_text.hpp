// Scans as OpenCL C.
#pragma once

#include "exec/scan/scan_work.hpp"
#include "opencl/print/kernel_text.hpp"

namespace dsl::detail::opencl {

/// Prints a scan that is laid out. Throws as `print_pass`.
kernel_text print(const scan_work& scan, const abilities& can);
/// The launches of that text. There are none if the scan is empty.
kernel_launches launches_of(const scan_work& scan, const abilities& can);
/// What the text depends on, as a hash.
std::uint64_t text_key(const scan_work& scan, const abilities& can);

}  // namespace dsl::detail::opencl

// Selections as OpenCL C.
#pragma once

#include "exec/by_key/selection_work.hpp"
#include "opencl/print/kernel_text.hpp"

namespace dsl::detail::opencl {

/// Prints a selection that is laid out. Throws as `print_pass`.
kernel_text print(const selection_work& selection, const abilities& can);
/// The launches of that text. Without elements, the one that writes their number, zero.
kernel_launches launches_of(const selection_work& selection, const abilities& can);
/// What the text depends on, as a hash.
std::uint64_t text_key(const selection_work& selection, const abilities& can);

}  // namespace dsl::detail::opencl

// An ensemble as OpenCL C 1.2, and how its kernel is launched. Each work-item runs the whole loop
// of one element after another, with the element's variables in its registers.
//
// Elements are dealt to the work-items in turn: an element that takes many steps keeps the others
// of its SIMD unit waiting, and nothing fetches new elements for them as the CUDA kernel does.
#pragma once

#include "exec/ensemble/ensemble_work.hpp"
#include "opencl/print/kernel_text.hpp"

namespace dsl::detail::opencl {

/// Throws device_error as print_pass does.
kernel_text print(const ensemble_work& w, const abilities& can);
kernel_launches launches_of(const ensemble_work& w, const abilities& can);
/// What the text depends on, as a hash.
std::uint64_t text_key(const ensemble_work& w, const abilities& can);

}  // namespace dsl::detail::opencl

// What a device can do, as far as the text of a kernel depends on it.
#pragma once

#include <cstddef>

namespace dsl::detail::opencl {

struct abilities {
  bool has_double;  ///< cl_khr_fp64, or OpenCL 1.2's own doubles
  std::size_t largest_work_group;
  std::size_t local_memory;     ///< bytes of local memory of a work-group
  std::size_t parameter_bytes;  ///< of all parameters of a kernel together
  /// Whether a work-item computes several elements at once: on a GPU. A processor's compiler makes
  /// vectors of adjacent work-items.
  bool takes_lanes;
  bool rounds_divide_and_sqrt;  ///< CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
};

}  // namespace dsl::detail::opencl

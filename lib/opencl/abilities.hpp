// What a device can do, as far as the text of a kernel depends on it.
#pragma once

#include <cstddef>

namespace dsl::detail::opencl {

struct abilities {
  bool has_double;                  ///< cl_khr_fp64, or OpenCL 1.2's own doubles
  bool has_half;                    ///< cl_khr_fp16
  bool has_int64_atomics;           ///< cl_khr_int64_base_atomics
  std::size_t work_group_multiple;  ///< work-groups should be multiples of this
  std::size_t largest_work_group;
  std::size_t local_memory;         ///< bytes of local memory of a work-group
  std::size_t parameter_bytes;      ///< of all parameters of a kernel together
  int float_vector, double_vector;  ///< elements of the preferred vectors; 0: none
  int int_vector, long_vector, half_vector;
  /// Whether a work-item computes several elements at once: on a GPU. A processor's compiler makes
  /// vectors of adjacent work-items.
  bool takes_lanes;
  bool is_little_endian;
  bool rounds_divide_and_sqrt;  ///< CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
};

}  // namespace dsl::detail::opencl

// The dtypes in OpenCL C.
#pragma once

#include <cstdint>
#include <string>

#include <dsl/ir/dtype.hpp>
#include <dsl/ir/literal.hpp>

namespace dsl::detail::opencl {

/// The type that a dtype's values are computed in: float for the 16-bit formats.
const char* value_type(dtype type);
/// The type of a value in an array or a parameter: OpenCL C allows no bool there.
inline const char* stored_type(dtype type) {
  return type == dtype::boolean ? "uchar" : value_type(type);
}
/// A literal of a dtype, given as bits of its values: "2.5f", "-7", "(float2)(0, 1.0f)".
std::string literal_text(dtype type, literal bits);
/// Whether a dtype's values are stored in 16 bits and computed in float.
inline bool is_narrow_real(dtype type) { return kind_of(type) == kind::real && size_of(type) == 2; }
/// Whether values of a dtype are doubles.
inline bool is_double(dtype type) { return type == dtype::float64 || type == dtype::complex128; }

}  // namespace dsl::detail::opencl

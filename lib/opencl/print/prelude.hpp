// The functions in OpenCL C that printed programs call: those of the op table's rows, of elements
// in memory, and of random numbers.
#pragma once

#include <string>
#include <string_view>

namespace dsl::detail::opencl {

/// Whether there is a function of a name such as "floor_divide_int8".
bool has_function(std::string_view name);

/// The functions that a text needs, each after those that it calls itself; each name once.
/// `divides_in_double`: for a device that does not round quotients and roots of floats correctly.
std::string functions_for(std::string_view text, bool divides_in_double);

}  // namespace dsl::detail::opencl

// Copies between arrays of any strides.
#pragma once

#include <dsl/exec/run.hpp>

namespace dsl::detail {

/// The program that copies elements of 1, 2, 4, 8 or 16 bytes, whatever they mean.
const program_code& copy_code(int size);

}  // namespace dsl::detail

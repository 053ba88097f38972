// Copies between arrays of any strides.
#pragma once

#include <dsl/exec/run.hpp>

namespace dsl::detail {

/// The program that copies elements of 1, 2, 4, 8 or 16 bytes, whatever they mean.
const program_code& copy_code(int size);

/// The elements of one mapping, broadcast to another one's shape: what back ends offer as theirs. Throws shape_error and device_error.
void copy_elements(const buffer_ref& to, void* at, const mapping& target, const buffer_ref& from, const void* source, const mapping& elements,
                   std::size_t size);

}  // namespace dsl::detail

// Copies between arrays with any strides.
#pragma once

#include <dsl/exec/run/run.hpp>

namespace dsl::detail {

/// A program that copies elements of 1, 2, 4, 8 or 16 bytes, whatever their dtype.
const program_code& copy_code(int size);

/// Copies an operand's elements to another operand.
void copy_elements(const operand& from, const operand& to);

/// A contiguous temporary in the place of a target. If `imagined`, for planning, it has an address
/// but no memory.
operand temporary_for(const operand& target, buffer_ref& memory, bool imagined);

struct late_copy {
  operand from, to;
  buffer_ref memory{};
};

/// Has what is written to a target go to a temporary, in its place among the operands, and gives
/// the copy from there. Imagined, the temporary has no memory.
late_copy redirect(operand& target, bool imagined = false);

}  // namespace dsl::detail

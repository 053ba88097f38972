// An operation as an expression in OpenCL C.
#pragma once

#include <string>

#include <dsl/ir/op.hpp>

namespace dsl::detail::opencl {

/// A value in the text: a name, a literal, or an expression in parentheses.
struct value_text {
  std::string text;
  dtype type;
};

/// The conversion to another dtype, rounded once.
std::string conversion_text(dtype to, const value_text& a);

/// A row of the op table, a random number, or a complex number from its parts. `rounds_division`:
/// whether the device rounds quotients of floats correctly.
std::string row_text(op code, dtype result, const value_text* x, bool rounds_division);

}  // namespace dsl::detail::opencl

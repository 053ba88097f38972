// A program as statements in OpenCL C.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <dsl/ir/neighbour.hpp>

#include "exec/plan/indexed_program.hpp"
#include "opencl/abilities.hpp"
#include "opencl/print/row_text.hpp"

namespace dsl::detail::opencl {

/// How an input of a program is read. If there is no name, the expression is a name.
struct input_text { std::string name, expression; };
/// Gives the text of an input's node. May add statements before it.
using input_printer = std::function<input_text(int node, std::string& statements)>;
/// Gives the element that op::gather reads, from the node of its address and the text of its
/// distance.
using gather_printer = std::function<std::string(int address, dtype type, const std::string&)>;

struct printed_program {
  std::string text;                 ///< Statements, a line each.
  std::vector<value_text> outputs;  ///< Names or literals.
};

/// Prints one evaluation of a program. `prefix`: of the names of its values; `indent`: before each
/// line. Throws device_error if the program calls functors.
printed_program print_program(const indexed_program& p, const abilities& can,
                              const input_printer& input, const gather_printer& gather,
                              const std::string& prefix, const std::string& indent);

}  // namespace dsl::detail::opencl

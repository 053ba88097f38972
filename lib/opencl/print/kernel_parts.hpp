// Parts of a kernel's text that all kernels of passes share.
#pragma once

#include <string>

#include "opencl/print/operand_text.hpp"

namespace dsl::detail::opencl {

/// The statements that split a number among the dimensions whose bit in `among` is set (outermost
/// first, row-major) into positions x0, x1, ...
std::string position_statements(const geometry& g, const std::string& number, std::uint32_t among,
                                const std::string& indent);
/// "dsl_rk4_step", or "dsl_pass" for a pass without a name.
std::string kernel_name(const program_code& code);

/// Kernels that reduce: all kernels of the pass, without the functions that they call.
std::string print_reduction(const operand_texts& operands, const abilities& can);
/// Their launches.
kernel_launches launches_of_reduction(const operand_texts& operands, const abilities& can);

}  // namespace dsl::detail::opencl

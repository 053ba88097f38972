// Parts of a kernel's text that all kernels of passes share.
#pragma once

#include <functional>
#include <string>

#include <dsl/ir/program.hpp>

#include "opencl/print/operand_text.hpp"

namespace dsl::detail::opencl {

/// "dsl_rk4_step", or "dsl_pass" for a pass without a name.
std::string kernel_name(const program_code& code);
/// The pass's formulas as comments, a line each.
std::string formulas(const program_code& code);

/// The function "combine0(a0, a1, ..., b0, b1, ...)" that combines an accumulator with another one.
std::string print_rule(const program_view& rule, int number, const abilities& can);
/// Makes a text of kernels: puts the functions that they call before them, and the comment before
/// these; sets the options. `what` names the work in the error of a device that lacks doubles.
void complete(kernel_text& made, const std::string& comment, const std::string& kernels,
              const abilities& can, const std::function<std::string()>& what);
/// Add to the key of a text what it depends on.
void add_program(word_key& key, const program_view& p);
void add_pass(word_key& key, const pass_view& p);
void add_text(word_key& key, const std::string& text);
void add_abilities(word_key& key, const abilities& can);

/// Kernels that reduce: all kernels of the pass, without the functions that they call.
std::string print_reduction(const operand_texts& operands, const abilities& can);
/// What the text depends on beside the pass, the operands' kinds and what the device can do.
std::string pattern_of_reduction(const operand_texts& operands, const abilities& can);
/// Their launches.
kernel_launches launches_of_reduction(const operand_texts& operands, const abilities& can);

}  // namespace dsl::detail::opencl

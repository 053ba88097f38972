// Kernels and their formulas as text, for errors and plans.
#pragma once

#include <dsl/exec/operand.hpp>

#include "mem/text.hpp"

namespace dsl::detail {

/// "exp(a) + 2 * b": the first output as a formula with operands a, b, ..., cut after about `limit` characters. Scalars by value
/// are spelled out where the operands are given.
std::string spell_pass(const pass_view& p, const operand* operands = nullptr, std::size_t limit = 160);
/// "rk4_step" from what `spelled_name` gives; empty for null.
std::string name_of_kernel(const char* pretty);
/// "kernel rk4_step"; "a kernel" for null.
std::string spell_kernel(const char* pretty);

}  // namespace dsl::detail

// Text for errors and plans.
#pragma once

#include <cstdint>
#include <string>

#include <dsl/exec/operand.hpp>
#include <dsl/mem/error.hpp>

namespace dsl::detail {

/// "(512, 512)"
std::string spell_shape(const std::int64_t* sizes, int rank);
/// "exp(a) + 2 * b": the first output as a formula with operands a, b, ..., cut after about `limit` characters. Scalars by value
/// are spelled out where the operands are given.
std::string spell_pass(const pass_view& p, const operand* operands = nullptr, std::size_t limit = 160);
/// "rk4_step" from what `spelled_name` gives; "a kernel" for null.
std::string spell_kernel(const char* pretty);
/// "12.3 GB"
std::string spell_bytes(double bytes);

template <class Error>
[[noreturn]] void raise(const std::string& what) {
  throw Error(text(what.c_str()));
}

}  // namespace dsl::detail

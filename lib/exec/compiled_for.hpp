// What a program was compiled to for a device.
#pragma once

#include <dsl/exec/back_ends.hpp>

#include "exec/text.hpp"

namespace dsl::detail {

/// `code`, which is null where no file of the program compiled the kernel for that kind of device. Throws device_error that names the
/// kernel and its formula.
template <class Code>
const Code& compiled_for(device where, const Code* code, const char* name, const pass_view& pass, const operand* operands) {
  if (code != nullptr) return *code;
  const std::string kernel = spell_kernel(name) + " (" + spell_pass(pass, operands) + ")";
  if (where.kind == backend::cuda)
    raise<device_error>(kernel + " cannot run on a GPU: its file was not compiled by nvcc, or DSL_BACK_ENDS leaves cuda out. Compile it as CUDA, or set DSL_DEVICE=host");
  const std::string missing(where.name());
  raise<device_error>(kernel + " cannot run on " + missing + ": its file was compiled with DSL_BACK_ENDS, which leaves " + missing + " out");
}

}  // namespace dsl::detail

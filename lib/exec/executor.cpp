#include "exec/executor.hpp"

#include "exec/text.hpp"

namespace dsl::detail {

std::string executor::why_not_compiled(device where) const {
  const std::string missing(where.name());
  return missing + ": its file was compiled with DSL_BACK_ENDS, which leaves " + missing + " out";
}

void throw_not_compiled(device where, const char* name, const pass_view& pass, const operand* operands) {
  raise<device_error>(spell_kernel(name) + " (" + spell_pass(pass, operands) + ") cannot run on " + executor::of(where).why_not_compiled(where));
}

}  // namespace dsl::detail

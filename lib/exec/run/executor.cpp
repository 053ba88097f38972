#include "exec/run/executor.hpp"

#include <algorithm>

#include "exec/plan/text.hpp"
#include "exec/run/copy.hpp"

namespace dsl::detail {

void executor::copy_elements(const buffer_ref& to, void* at, const mapping& target,
                             const buffer_ref& from, const void* source, const mapping& elements,
                             std::size_t size) const {
  const program_code& code = copy_code(static_cast<int>(size));
  const auto in = [&](const buffer_ref& memory, const void* data, const mapping& m) {
    operand o;
    o.kind = operand_kind::array;
    o.type = code.pass.view.type(0);
    o.rank = m.rank;
    o.word[0] = reinterpret_cast<std::uintptr_t>(data);
    o.memory = memory.get();
    std::copy_n(m.extents, max_rank, o.extents);
    std::copy_n(m.strides, max_rank, o.strides);
    return o;
  };
  const operand from_to[] = {in(from, source, elements), in(to, at, target)};
  bound_pass(code, from_to, {}).run();
}

std::string executor::why_not_compiled(device where) const {
  const std::string missing(where.name());
  return missing + ": its file was compiled with DSL_BACK_ENDS, which leaves " + missing + " out";
}

void require_one_process(device where, const char* operation, const pass_view* pass,
                         const operand* operands) {
  if (back_end::of(where).processes() == nullptr) return;
  const std::string of = pass != nullptr ? ", " + spell_pass(*pass, operands) + "," : "";
  raise<device_error>(operation + of +
                      " of elements of several processes: work on dsl::local of the arrays, and "
                      "put together what the processes have");
}

void throw_not_compiled(device where, const char* name, const pass_view& pass,
                        const operand* operands) {
  raise<device_error>(spell_kernel(name) + " (" + spell_pass(pass, operands) + ") cannot run on " +
                      executor::of(where).why_not_compiled(where));
}

}  // namespace dsl::detail

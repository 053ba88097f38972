#include "exec/work.hpp"

#include "exec/layout.hpp"
#include "exec/text.hpp"

namespace dsl::detail {

namespace {

profiled_work work_of(std::string text, std::int64_t elements, std::int64_t steps, const cost& per_element) {
  return {std::move(text), elements, steps, steps * elements * (per_element.load_bytes + per_element.store_bytes),
          steps * elements * per_element.flops};
}

}  // namespace

profiled_work work_of(const prepared& pass, std::int64_t steps) {
  constexpr std::size_t longest_formula = 80;  // of a table's column
  const program_code& code = pass.code();
  const program_view& elements = code.pass.view.elements;
  const bool is_copy = elements.nodes == 1 && head{elements.heads[0]}.code() == op::load && !code.reduces();
  const std::string formula = (is_copy ? "copy of " : "") + spell_pass(code.pass.view, pass.operands(), longest_formula),
                    name = name_of_kernel(code.name);
  return work_of(name.empty() ? formula : name + ": " + formula, pass.space().elements, steps, pass.cost_per_element());
}

profiled_work work_of(const scan_code& code, const operand* operands, std::int64_t elements) {
  const auto array_of = [operands](std::uint64_t k) { return first_of_array(operands, static_cast<int>(k)); };
  return work_of("scan of " + spell_pass(code.view, operands), elements, 1, cost_of(code.view, array_of));
}

}  // namespace dsl::detail

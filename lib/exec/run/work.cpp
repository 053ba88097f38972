#include "exec/run/work.hpp"

#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"

namespace dsl::detail {

namespace {

profiled_work work_of(std::string name, std::string formula, std::int64_t elements,
                      std::int64_t steps, const cost& per_element) {
  return {std::move(name),
          std::move(formula),
          elements,
          steps,
          steps * elements * (per_element.load_bytes + per_element.store_bytes),
          steps * elements * per_element.flops};
}

constexpr std::size_t longest_formula = 80, longest_name = 40;

bool copies(const pass_view& p) {
  return p.reductions == 0 && p.elements.nodes == 1 && head{p.elements.heads[0]}.code() == op::load;
}

}  // namespace

profiled_work work_of(const prepared& pass, std::int64_t steps) {
  const program_code& code = pass.code();
  const auto spell = [&](std::size_t longest) {
    return spell_pass(code.pass.view, pass.operands(), longest);
  };
  std::string name = name_of_kernel(code.name), formula;
  if (name.empty()) name = (copies(code.pass.view) ? "copy of " : "") + spell(longest_name);
  else formula = spell(longest_formula);
  return work_of(std::move(name), std::move(formula), pass.space().elements, steps,
                 pass.cost_per_element());
}

profiled_work work_of(const char* kind, const pass_view& pass, const operand* operands,
                      std::int64_t elements) {
  const auto array_of = [operands](std::uint64_t k) {
    return first_of_array(operands, static_cast<int>(k));
  };
  return work_of(kind + spell_pass(pass, operands, longest_name), {}, elements, 1,
                 cost_of(pass, array_of));
}

}  // namespace dsl::detail

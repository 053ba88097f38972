#include "exec/run/work.hpp"

#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/executor.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {

namespace {

profiled_work cost_named(std::string name, std::string formula, std::int64_t elements,
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

profiled_work profile_of(const bound_pass& pass, std::int64_t steps) {
  const program_code& code = pass.code();
  const auto spell = [&](std::size_t longest) {
    return spell_pass(code.pass.view, pass.operands(), 0, longest);
  };
  std::string name = name_of_kernel(code.name), formula;
  if (name.empty()) name = (copies(code.pass.view) ? "copy of " : "") + spell(longest_name);
  else formula = spell(longest_formula);
  return cost_named(std::move(name), std::move(formula), pass.space().elements, steps,
                    pass.cost_per_element());
}

profiled_work profile_of(const char* kind, const work_record& of) {
  return cost_named(kind + spell_pass(of.pass, of.operands, 0, longest_name), {}, of.space.elements,
                    1, cost_of(of.pass, [&of](std::uint64_t k) {
                      return first_of_array(of.operands, static_cast<int>(k));
                    }));
}

void plan_work(const work& w) { executor::of(w.where()).plan(w); }

void queue(const work& w) {
  if (w.is_empty()) return;
  const work_record of = w.record();
  const stream on = stream::current(of.space.where);
  const profiled_range range([&w] { return w.profile(); });
  use_operands(of.operands, of.inputs, of.targets, on);
  executor::of(of.space.where).run(w, on);
}

void queue_all(const work* const* all, std::size_t count, const std::vector<late_copy>& copies) {
  for (std::size_t k = 0; k < count && count > 1; ++k)
    if (!all[k]->is_empty()) all[k]->plan_once();
  for (std::size_t k = 0; k < count; ++k) queue(*all[k]);
  for (const late_copy& copy : copies) copy_elements(copy.from, copy.to);
}

}  // namespace dsl::detail

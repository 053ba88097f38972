// Explanations of loops.
#include <algorithm>
#include <utility>

#include <dsl/exec/loop/loop.hpp>

#include "exec/explain/explain.hpp"
#include "exec/run/executor.hpp"

namespace dsl::detail {

explanation explain_loop(const loop& of, std::int64_t steps) {
  const loop_plan p = of.make_plan();
  explained_statement s;
  s.where = of.where();
  s.is_loop = true;
  s.steps = std::max<std::int64_t>(1, steps);
  if (steps > 0) s.overhead_seconds = loop_overhead_seconds(s.where);
  s.note = name_of(p.loop);
  const operand_names names(of.operands(), of.code().inputs);
  const target_names called(names, of.code().outputs());
  const auto list = [&](const bound_pass& pass, const plan& how, int before) {
    const program_code& code = pass.code();
    explained_kernel k = list_pass(code.pass.view, pass.operands(), code.inputs, code.outputs(),
                                   pass.space(), p.lanes, names, called, before);
    k.path = spell_path(pass.space().linear ? "linear" : "strided", code.pass.view, pass.space(),
                        pass.operands(), code.inputs, code.inputs + code.outputs(), names);
    k.launch = spell_plan(how);
    k.demand =
        demand_of(code.pass.view, pass.operands(), code.inputs, code.outputs(), pass.space(), p);
    return k;
  };
  const bool is_kernel_a_phase = p.loop == strategy::launches || p.loop == strategy::graph;
  explained_kernel all;
  for (const bound_pass& phase : of.phases()) {
    explained_kernel k = list(phase, is_kernel_a_phase ? plan(phase.make_plan()) : plan(p),
                              static_cast<int>(all.operations.size()));
    if (is_kernel_a_phase) {
      k.predicted = predict(k.demand, of.where());
      s.kernels.push_back(std::move(k));
    } else {
      std::move(k.operations.begin(), k.operations.end(), std::back_inserter(all.operations));
      all.formula += k.formula + "; ";
      for (std::size_t u = 0; u < unit_count; ++u) all.demand.amounts[u] += k.demand.amounts[u];
    }
  }
  explained_kernel last = list(of, p, static_cast<int>(all.operations.size()));
  std::move(last.operations.begin(), last.operations.end(), std::back_inserter(all.operations));
  last.operations = std::move(all.operations);
  last.formula = all.formula + last.formula;
  for (std::size_t u = 0; u < unit_count; ++u) last.demand.amounts[u] += all.demand.amounts[u];
  last.predicted = predict_step(last.demand, p);
  for (const explained_kernel& k : s.kernels) s.formula += k.formula + "; ";
  s.formula += last.formula;
  s.kernels.push_back(std::move(last));
  return explanation(s);
}

}  // namespace dsl::detail

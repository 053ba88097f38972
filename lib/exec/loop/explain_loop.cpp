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
  const program_code& code = of.code();
  const operand_names names(of.operands(), code.inputs);
  const target_names called(names, code.outputs());
  explained_kernel k = list_pass(code.pass.view, of.operands(), code.inputs, code.outputs(),
                                 of.space(), p.lanes, names, called);
  k.path = spell_path(of.space().linear ? "linear" : "strided", code.pass.view, of.space(),
                      of.operands(), code.inputs, code.inputs + code.outputs(), names);
  k.launch = spell_plan(p);
  k.demand = demand_of(code.pass.view, of.operands(), code.inputs, code.outputs(), of.space(), p);
  k.predicted = predict_step(k.demand, p);
  s.formula = k.formula;
  s.kernels.push_back(std::move(k));
  return explanation(s);
}

}  // namespace dsl::detail

#include <dsl/exec/by_key/compress.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "exec/explain/explain.hpp"
#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/copy.hpp"
#include "exec/run/executor.hpp"
#include "exec/run/work.hpp"
#include "exec/scan/scan.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

void run_compress(const compress_code& code, const operand* operands) {
  scan_space s;
  lay_out_in_order(s, operands, code.inputs, 0, code.lanes, code.view);
  const geometry& g = s.space;
  const executor& kernels = executor::of(g.where);
  kernels.require_one_process("a selection", &code.view, operands);
  // Targets of the values, then the target of their number.
  const int outputs = code.view.target_count;
  const auto shares_memory = [&](int output) {
    return std::any_of(operands, operands + code.inputs + output, [&](const operand& o) {
      return o.memory != nullptr && share_memory(o.memory, operands[code.inputs + output].memory);
    });
  };
  for (int i = 0; i < outputs; ++i) {
    const operand& to = operands[code.inputs + i];
    if (to.memory == nullptr)
      raise<memory_error>("a target without memory of " + spell_pass(code.view, operands));
    if (to.memory->where != g.where)
      raise<device_error>("a target on another device than its operands, " +
                          std::string(to.memory->where.name()) + " and " +
                          std::string(g.where.name()) + ", in " + spell_pass(code.view, operands));
    if (!shares_memory(i)) continue;
    // Elements after the last selected one keep their values, so the temporary starts as a copy of
    // the target.
    std::vector<operand> redirected(operands, operands + code.inputs + outputs);
    const late_copy copy = redirect(redirected[static_cast<std::size_t>(code.inputs + i)]);
    copy_elements(copy.to, copy.from);
    run_compress(code, redirected.data());
    return copy_elements(copy.from, copy.to);
  }
  const plan p = kernels.plan_compress(code, operands, g);
  if (run_notes::wanted())
    run_notes::note({&code}, [&] { return explain_selection(code, operands); });
  queue_work(
      g.where, operands, code.inputs, outputs,
      [&] { return work_of("compress ", code.view, operands, g.elements); },
      [&](const stream& on) { kernels.run_compress(code, operands, g, p, on); });
}

std::int64_t elements_of(const operand* operands, int count, const pass_view& pass) {
  std::int64_t shape[max_rank];
  int rank = 0;
  broadcast_shape(shape, rank, operands, count, pass);
  return element_count(shape, rank, 1);
}

}  // namespace dsl::detail

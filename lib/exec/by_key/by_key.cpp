#include <dsl/exec/by_key/by_key.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "exec/by_key/by_key_space.hpp"
#include "exec/explain/explain.hpp"
#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/copy.hpp"
#include "exec/run/executor.hpp"
#include "exec/run/work.hpp"
#include "exec/scan/scan.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

void require_groups(const by_key_request& request, const operand& target) {
  if (target.extents[0] != request.groups)
    raise<shape_error>("a reduction by key of " + std::to_string(request.groups) +
                       " groups cannot be assigned to shape " + spell_shape(target.extents, 1));
}

void lay_out_by_key(scan_space& s, const by_key_code& code, const operand* operands,
                    const by_key_request& request) {
  lay_out_in_order(s, operands, code.inputs, 0, code.lanes, code.view);
  const operand* const targets = operands + code.inputs;
  for (int i = 0; i < code.targets; ++i) {
    if (targets[i].memory->where != s.space.where)
      raise<device_error>("a target on another device than its operands, " +
                          std::string(targets[i].memory->where.name()) + " and " +
                          std::string(s.space.where.name()) + ", in " +
                          spell_pass(code.view, operands));
    if (i < code.groups) require_groups(request, targets[i]);
  }
  executor::of(s.space.where).require_one_process("a reduction by key", &code.view, operands);
}

void run_by_key(const by_key_code& code, const operand* operands, const by_key_request& request) {
  scan_space s;
  lay_out_by_key(s, code, operands, request);
  if (request.groups == 0) return;
  const executor& kernels = executor::of(s.space.where);
  const operand* const targets = operands + code.inputs;
  // A target that shares memory with an input is redirected: there may be several launches, and the
  // first writes results before the last has read the inputs.
  for (int i = 0; i < code.targets; ++i)
    for (int k = 0; k < code.inputs; ++k) {
      if (operands[k].memory == nullptr || !share_memory(operands[k].memory, targets[i].memory))
        continue;
      std::vector<operand> redirected(operands, operands + code.inputs + code.targets);
      const late_copy copy = redirect(redirected[static_cast<std::size_t>(code.inputs + i)]);
      run_by_key(code, redirected.data(), request);
      return copy_elements(copy.from, copy.to);
    }
  const by_key_plan p = kernels.plan_by_key(code, operands, s.space, request);
  if (run_notes::wanted())
    run_notes::note({&code}, [&] { return explain_by_key(code, operands, request); });
  queue_work(
      s.space.where, operands, code.inputs, code.targets,
      [&] { return work_of("by key: ", code.view, operands, s.space.elements); },
      [&](const stream& on) { kernels.run_by_key(code, operands, s.space, request, p, on); });
}

bool is_space_of_keys(const operand* leaves, int first, int second) {
  std::int64_t keys[max_rank], other[max_rank];
  int rank = 0, other_rank = 0;
  broadcast_shape(keys, rank, leaves, first, pass_view{});
  broadcast_shape(other, other_rank, leaves + first, second, pass_view{});
  return rank == other_rank && std::equal(keys, keys + rank, other) &&
         element_count(keys, rank, 1) > 0;
}

}  // namespace dsl::detail

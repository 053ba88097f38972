#include <dsl/exec/by_key/by_key.hpp>

#include <algorithm>
#include <string>
#include <vector>

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

void run_by_key(const by_key_code& code, const operand* operands, const by_key_request& request) {
  scan_space s;
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
  const executor& kernels = executor::of(s.space.where);
  kernels.require_one_process("a reduction by key", &code.view, operands);
  if (request.groups == 0) return;
  // Groups may take several launches, and results of the first are written before the last has
  // read.
  for (int i = 0; i < code.targets; ++i)
    for (int k = 0; k < code.inputs; ++k) {
      if (operands[k].memory == nullptr || !share_memory(operands[k].memory, targets[i].memory))
        continue;
      std::vector<operand> by_way(operands, operands + code.inputs + code.targets);
      buffer_ref memory;
      operand& instead = by_way[static_cast<std::size_t>(code.inputs + i)];
      instead = temporary_for(targets[i], memory, false);
      run_by_key(code, by_way.data(), request);
      return copy_elements(instead, targets[i]);
    }
  const profiled_range range(
      [&] { return work_of("by key: ", code.view, operands, s.space.elements); });
  const stream on = stream::current(s.space.where);
  use_operands(operands, code.inputs, code.targets, on);
  kernels.run_by_key(code, operands, s.space, request, on);
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

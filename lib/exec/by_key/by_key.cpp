#include <dsl/exec/by_key/by_key.hpp>

#include <algorithm>
#include <string>

#include "exec/by_key/by_key_work.hpp"
#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/executor.hpp"

namespace dsl::detail {

void require_groups(const by_key_request& request, const operand& target) {
  if (target.extents[0] != request.groups)
    raise<shape_error>("a reduction by key of " + std::to_string(request.groups) +
                       " groups cannot be assigned to shape " + spell_shape(target.extents, 1));
}

by_key_work::by_key_work(const by_key_code& code, const operand* operands,
                         const by_key_request& request)
    : planned_work(work_kind::by_key, &code, code.view, operands, code.inputs, code.targets),
      code_(code),
      request_(request) {
  lay_out();
}

void by_key_work::lay_out() {
  lay_out_in_order(ordered_, operands(), code_.inputs, 0, code_.lanes, code_.view);
  require_one_device();
  for (int i = 0; i < code_.groups; ++i) require_groups(request_, target(i));
  require_one_process(where(), "a reduction by key", &code_.view, operands());
}

bool by_key_work::must_redirect(int k) const {
  return std::any_of(operands(), operands() + code_.inputs, [&](const operand& o) {
    return o.memory != nullptr && share_memory(o.memory, target(k).memory);
  });
}

void run_by_key(const by_key_code& code, const operand* operands, const by_key_request& request) {
  by_key_work(code, operands, request).assign();
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

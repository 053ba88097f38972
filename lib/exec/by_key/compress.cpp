#include <dsl/exec/by_key/compress.hpp>

#include <algorithm>
#include <string>

#include "exec/by_key/selection_work.hpp"
#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/executor.hpp"

namespace dsl::detail {

selection_work::selection_work(const compress_code& code, const operand* operands)
    : planned_work(work_kind::selection, &code, code.view, operands, code.inputs,
                   code.view.target_count),
      code_(code) {
  lay_out();
}

void selection_work::lay_out() {
  lay_out_in_order(ordered_, operands(), code_.inputs, 0, code_.lanes, code_.view);
  require_one_process(where(), "a selection", &code_.view, operands());
  for (int k = 0; k < code_.view.target_count; ++k)
    if (target(k).memory == nullptr)
      raise<memory_error>("a target without memory of " + spell_pass(code_.view, operands()));
  require_one_device();
}

bool selection_work::must_redirect(int k) const {
  return std::any_of(operands(), &target(k), [&](const operand& o) {
    return o.memory != nullptr && share_memory(o.memory, target(k).memory);
  });
}

void run_compress(const compress_code& code, const operand* operands) {
  selection_work(code, operands).assign();
}

std::int64_t elements_of(const operand* operands, int count, const pass_view& pass) {
  std::int64_t shape[max_rank];
  int rank = 0;
  broadcast_shape(shape, rank, operands, count, pass);
  return element_count(shape, rank, 1);
}

}  // namespace dsl::detail

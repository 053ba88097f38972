#include <dsl/exec/ensemble/ensemble.hpp>

#include <string>

#include "exec/ensemble/ensemble_work.hpp"
#include "exec/explain/explain.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/executor.hpp"
#include "mem/back_end.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

ensemble_work::ensemble_work(const ensemble_code& code, const operand* operands,
                             const ensemble_request& request)
    : planned_work(work_kind::ensemble),
      code_(code),
      request_(request),
      operands_(operands, operands + code.operands()) {
  space_.where = request.where;
  space_.rank = 1;
  space_.linear = true;
  space_.elements = space_.extents[0] = request.elements;
  space_.shape_rank = 1;
  space_.shape[0] = request.elements;
  described_.resize(static_cast<std::size_t>(code.variables));
  for (int v = 0; v < code.variables; ++v) {
    operand& o = described_[static_cast<std::size_t>(v)];
    o.type = code.types[v];
    o.rank = 1;
    o.extents[0] = request.elements;
    o.strides[0] = 1;
  }
  for (int k = 0; k < code.given_count; ++k)
    described_[static_cast<std::size_t>(code.given[k])] = operands[k];
  described_.insert(described_.end(), operands_.begin() + code.given_count, operands_.end());
  const auto first_target = described_.begin() + code.variables + code.scalars + code.read_arrays;
  if (request.has_table) described_.insert(first_target, request.table);
  require_one_process(space_.where, "an ensemble", &code.main_phase().pass, described_.data());
  for (const operand& o : operands_)
    if (o.memory != nullptr && o.memory->where != space_.where)
      raise<device_error>("an ensemble with arguments on different devices, " +
                          std::string(space_.where.name()) + " and " +
                          std::string(o.memory->where.name()));
  if (back_end::is_mesh(space_.where))
    raise<device_error>("an ensemble runs on one device, not on " +
                        std::string(space_.where.name()));
}

work_record ensemble_work::record() const {
  const int tables = request_.has_table ? 1 : 0;
  return {code_.main_phase().pass, space_, described_.data(),
          code_.variables + code_.scalars + code_.read_arrays + tables,
          code_.kept_count + code_.stored()};
}

explanation ensemble_work::explain() const {
  const dsl::plan& p = plan();
  const operand_names names(described_.data(), code_.variables + code_.scalars);
  explained_statement s;
  s.where = p.where;
  explained_kernel k;
  k.formula = "ensemble of " + std::to_string(p.elements) + " systems, a step of which sets " +
              std::to_string(code_.main_phase().pass.target_count) + " variables";
  k.path = p.where.kind == backend::host ? "lanes of vectors take new elements as theirs end"
           : p.where.kind == backend::opencl
               ? "a work-item an element after another"
               : "a thread an element; lanes of a warp take new elements as theirs end";
  k.launch = spell_plan(p);
  k.predicted.why_none = "how many steps each element takes is not known";
  s.formula = k.formula;
  s.kernels.push_back(std::move(k));
  return explanation(s);
}

void run_ensemble(const ensemble_code& code, const operand* operands,
                  const ensemble_request& request) {
  const ensemble_work w(code, operands, request);
  if (w.is_empty()) return;
  if (run_notes::wanted()) run_notes::note({&code}, [&w] { return w.explain(); });
  queue(w);
}

}  // namespace dsl::detail

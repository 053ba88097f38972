// Explanations of reductions by key and of selections.
#include <string>
#include <utility>
#include <vector>

#include "exec/by_key/by_key_work.hpp"
#include "exec/by_key/selection_work.hpp"
#include "exec/explain/explain.hpp"

namespace dsl::detail {

namespace {

std::string counted(std::int64_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string spell_tables(const by_key_plan& p) {
  std::string s = counted(p.tables, "table") + " of " + counted(p.span, "group");
  if (p.where.kind == backend::host)
    return s + ", one for each chunk of the elements, joined in order";
  if (p.where.kind == backend::opencl)
    return s + " in device memory, one for each work-item, joined in order";
  s += " in a block's shared memory";
  if (p.log2_copies == 5) s += ", a copy for each lane";
  else if (p.log2_copies > 0)
    s += ", " + std::to_string(1 << p.log2_copies) + " copies of each entry";
  if (p.turns > 1) s += ", at each of which " + std::to_string(p.turns) + " warps take turns";
  return s;
}

std::string spell_path(const by_key_plan& p) {
  if (p.buckets > 0)
    return "buckets: pairs of a key and a value are sorted into " + counted(p.buckets, "bucket") +
           "; " + spell_tables(p) + " reduce each";
  const std::string s = "tables: " + spell_tables(p);
  return p.launches() > 1 ? s + "; " + counted(p.launches(), "launch") + "es read all elements" : s;
}

// Lists a reduction by key or a selection as a pass whose first output, the key or the condition,
// is not stored.
explained_kernel list_keyed(const pass_view& view, const operand* operands, int inputs, int targets,
                            const geometry& g, int lanes, const operand_names& names,
                            std::string& key) {
  std::vector<operand> all(operands, operands + inputs);
  all.emplace_back().discarded = true;
  for (int i = 0; i < targets; ++i) {
    all.push_back(operands[inputs + i]);
    operand& o = all.back();
    if (o.number < 0) o.number = i;
    if (!view.is_result(1 + i)) continue;
    o.kind = operand_kind::result;
    o.reduced = ~0u;
  }
  formula_speller first(view, operands, names, 160);
  first.target(0);
  key = first.take();
  return list_pass(view, all.data(), inputs, 1 + targets, g, lanes, names,
                   target_names(names, targets));
}

explanation explain_keyed(explained_kernel k, plan p, const work_record& of) {
  p.per_element = cost_of(
      of.pass, [&of](std::uint64_t i) { return first_of_array(of.operands, static_cast<int>(i)); });
  k.launch = spell_plan(p);
  k.demand = demand_of(of.pass, of.operands, of.inputs, 0, of.space, p);
  k.predicted.why_none = "how long tables and selections take is not modelled";
  explained_statement s;
  s.where = p.where;
  s.formula = k.formula;
  s.kernels.push_back(std::move(k));
  return explanation(s);
}

}  // namespace

explanation by_key_work::explain() const {
  const by_key_code& code = code_;
  const by_key_plan& p = plan();
  const operand_names names(operands(), code.inputs);
  std::string key;
  explained_kernel k =
      list_keyed(code.view, operands(), code.inputs, code.targets, space(), code.lanes, names, key);
  k.formula += "; by key " + key + ", " + counted(request_.groups, "group");
  k.path = spell_path(p);
  return explain_keyed(std::move(k), p, record());
}

explanation selection_work::explain() const {
  const compress_code& code = code_;
  const dsl::plan& p = plan();
  const operand_names names(operands(), code.inputs);
  std::string condition;
  explained_kernel k = list_keyed(code.view, operands(), code.inputs, code.view.target_count - 1,
                                  space(), code.lanes, names, condition);
  k.formula += "; where " + condition;
  k.path = p.where.kind == backend::host
               ? "selection: chunks count their elements, then write them"
               : "selection: blocks take tiles in order, each waits for the count before it";
  return explain_keyed(std::move(k), p, record());
}

explanation explain_by_key(const by_key_code& code, const operand* operands,
                           const by_key_request& request) {
  return by_key_work(code, operands, request).explain();
}

}  // namespace dsl::detail

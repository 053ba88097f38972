// Explanations of scans.
#include <string>
#include <utility>

#include "exec/explain/explain.hpp"
#include "exec/plan/indexed_program.hpp"
#include "exec/scan/scan_work.hpp"

namespace dsl::detail {

namespace {

kernel_demand demand_of_scan(const scan_work& of) {
  const scan_code& code = of.code();
  const scan_plan& p = of.plan();
  kernel_demand w = demand_of(code.view, of.operands(), code.inputs, 1, of.space(), p);
  add_program(w, code.combine, static_cast<double>(w.elements));
  // Blocks wait for the totals before them. Measured on an H100: three quarters of a copy's
  // bandwidth, two thirds if totals have 8 bytes. Columns in chunks are read twice, for the totals
  // and for the scan; whole columns do not wait.
  if (p.along_columns && p.chunks > 1) w.read_bytes *= 2;
  if (!p.along_columns || p.chunks > 1) w.waiting = code.value_bytes >= 8 ? 1.5 : 4 / 3.0;
  return w;
}

// "cumsum", "cumprod", or "scan" for other operators.
std::string name_of_scan(const scan_code& code) {
  const indexed_program combine(code.combine);
  switch (combine.code(combine.output(0))) {
    case op::add: return "cumsum";
    case op::multiply: return "cumprod";
    default: return "scan";
  }
}

}  // namespace

explanation scan_work::explain() const {
  const scan_plan& p = plan();
  const scan_code& code = code_;
  const scan_request& request = request_;
  const operand_names names(operands(), code.inputs);
  const target_names called(names, 1);
  explained_statement s;
  s.where = p.where;
  explained_kernel k =
      list_pass(code.view, operands(), code.inputs, 1, space(), code.lanes, names, called);
  const std::string word = name_of_scan(code),
                    along = request.axis < 0 ? "" : ", axis(" + std::to_string(request.axis) + ")";
  const std::string left = called.of(target(0), 0);
  formula_speller of(code.view, operands(), names, 400);
  of.target(0);
  k.formula = left + " = " + word + "(" + of.take() + along +
              (request.exclusive ? ", exclusive" : "") + ")";
  listed_operation scan;
  scan.text = word + "(%" + std::to_string(k.operations.size()) + along +
              (request.exclusive ? ", exclusive" : "") + ")";
  scan.type = name(code.target);
  scan.from.push_back(static_cast<int>(k.operations.size()) - 1);
  scan.gives = std::exchange(k.operations.back().gives, {});
  k.operations.push_back(std::move(scan));
  k.path = p.along_columns
               ? "columns: threads walk down them, " + std::to_string(p.chunks) + " chunks a column"
               : "rows: blocks take tiles, each of which waits for the totals before it";
  k.launch = spell_plan(p);
  k.demand = demand_of_scan(*this);
  k.predicted = predict(k.demand, s.where);
  s.formula = k.formula;
  s.kernels.push_back(std::move(k));
  return explanation(s);
}

explanation explain_scan(const scan_code& code, const operand* operands,
                         const scan_request& request) {
  return scan_work(code, operands, request).explain();
}

}  // namespace dsl::detail

#include "exec/scan/scan.hpp"

#include "exec/plan/indexed_program.hpp"

namespace dsl::detail {

kernel_demand demand_of_scan(const scan_code& code, const operand* operands, const scan_space& s,
                             const scan_plan& p) {
  kernel_demand w = demand_of(code.view, operands, code.inputs, 1, s.space, p);
  add_program(w, code.combine, static_cast<double>(w.elements));
  // Blocks wait for the totals before them. Measured on an H100: three quarters of a copy's
  // bandwidth, two thirds if totals have 8 bytes. Columns in chunks are read twice, for the totals
  // and for the scan; whole columns do not wait.
  if (p.along_columns && p.chunks > 1) w.read_bytes *= 2;
  if (!p.along_columns || p.chunks > 1) w.waiting = code.value_bytes >= 8 ? 1.5 : 4 / 3.0;
  return w;
}

std::string name_of_scan(const scan_code& code) {
  const indexed_program combine(code.combine);
  switch (combine.code(combine.output(0))) {
    case op::add: return "cumsum";
    case op::multiply: return "cumprod";
    default: return "scan";
  }
}

}  // namespace dsl::detail

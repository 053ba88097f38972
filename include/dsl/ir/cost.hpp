// What a program costs for one element.
#pragma once

#include <dsl/ir/program.hpp>

namespace dsl {

/// Nominal floating point operations (ops.inc), elements and bytes moved. A scalar operand counts as nothing, and of neighbours no
/// bytes: they come out of the caches.
struct cost {
  int flops = 0, loads = 0, stores = 0, load_bytes = 0, store_bytes = 0;
};

namespace detail {

constexpr cost cost_of(const program_view& p) {
  cost c;
  for (int i = 0; i < p.nodes; ++i) {
    const head h{p.heads[i]};
    const op_info& row = info(h.code());
    if (h.code() == op::load || h.code() == op::neighbour || h.code() == op::gather) ++c.loads;
    if (h.code() == op::load || h.code() == op::gather) c.load_bytes += size_of(h.type());
    if (row.arity == 0) continue;
    int complex_operands = 0;
    for (int k = 0; k < row.arity; ++k)
      complex_operands += kind_of(reference::of(p.payloads[i], k).type()) == kind::complex ? 1 : 0;
    if (complex_operands == 0) c.flops += row.flops;
    else if (complex_operands == row.arity) c.flops += row.complex_flops;
    else if (h.code() == op::multiply || h.code() == op::divide) c.flops += 2 * row.flops;  // real with complex
    else c.flops += row.flops;
  }
  for (int i = 0; i < p.output_count; ++i) {
    const output_word o{p.outputs[i]};
    if (o.is_stored()) ++c.stores, c.store_bytes += size_of(o.type());
    else c.flops += kind_of(o.type()) == kind::complex ? 2 : 1;
  }
  return c;
}

}  // namespace detail
}  // namespace dsl

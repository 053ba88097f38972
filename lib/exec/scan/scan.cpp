#include <dsl/exec/scan/scan.hpp>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "exec/explain/explain.hpp"
#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/copy.hpp"
#include "exec/run/executor.hpp"
#include "exec/run/work.hpp"
#include "exec/scan/scan.hpp"

namespace dsl::detail {

namespace {

// Orders the dimensions, largest strides of the target first, so that writes are contiguous. If all
// elements are one row (`axis` is -1), the order stays row-major. Dimensions of one element are
// left out, except the axis. Returns the number of dimensions in `order`.
int order_dimensions(const geometry& g, const operand* target, int axis, int (&order)[max_rank]) {
  int rank = 0;
  for (int d = 0; d < g.shape_rank; ++d) {
    if (g.shape[d] == 1 && d != axis) continue;
    int at = rank++;
    for (; axis >= 0 && at > 0 &&
           std::abs(target->strides[order[at - 1]]) < std::abs(target->strides[d]);
         --at)
      order[at] = order[at - 1];
    order[at] = d;
  }
  return rank;
}

// Whether all arrays are contiguous in the order of the scan. Rows then need no dimension of their
// own.
bool is_linear(const geometry& g, const operand* operands, int count) {
  if (g.rank > 2) return false;
  for (int k = 0; k < count; ++k) {
    if (!has_elements(operands[k])) continue;
    const std::int64_t* const s = g.layouts[k].strides;
    if (s[g.rank - 1] != 1 || (g.rank == 2 && s[0] != g.extents[1])) return false;
  }
  return true;
}

}  // namespace

void lay_out_in_order(scan_space& s, const operand* operands, int inputs, int outputs, int lanes,
                      const pass_view& pass, int axis) {
  geometry& g = s.space;
  s.axis = axis;
  const int count = inputs + outputs;
  lay_out(g, operands, inputs, outputs, lanes, pass);
  g.pairs = false;
  for (int k = 0; k < count; ++k) {
    g.layouts[k] = {};
    if (has_elements(operands[k])) g.layouts[k] = layout_of(g, operands[k]);
    if (operands[k].kind == operand_kind::position) {
      std::int64_t step = 1;
      for (int d = g.shape_rank - 1; d >= 0; step *= g.shape[d--])
        g.layouts[k].strides[d] = g.shape[d] == 1 ? 0 : step;
    }
  }
  int order[max_rank];
  const int rank = order_dimensions(g, outputs > 0 ? operands + inputs : nullptr, axis, order);
  const auto places = merge_dimensions(g, count, order, rank, axis < 0 ? 0 : 1u << axis);
  if (g.rank == 0) {
    g.rank = 1;
    g.extents[0] = 1;
  }
  s.row = axis < 0 ? g.elements : g.shape[axis];
  s.columns = false;
  if (axis >= 0) {
    const int place =
                  places[static_cast<std::size_t>(std::find(order, order + rank, axis) - order)],
              last = g.rank - 1;
    // Rows of one element are scanned as columns.
    s.columns = g.rank > 1 && (place != last || s.row == 1);
    // The last dimension, in which the target is contiguous, numbers the columns; the axis is the
    // one before it.
    if (s.columns && place == last) move_dimension(g, count, last - 1, last);
    else if (s.columns) move_dimension(g, count, place, last - 1);
  }
  g.linear = !s.columns && pass.neighbours.nodes == 0 && is_linear(g, operands, count);
  if (g.linear) {
    g.rank = 1;
    g.extents[0] = g.elements;
  }
  for (int k = 0; k < count; ++k) {
    if (g.linear && has_elements(operands[k])) g.layouts[k].strides[0] = 1;
    g.layouts[k].how =
        is_wide(g, operands[k], g.layouts[k], lanes) ? access::wide : access::elements;
  }
}

void run_scan(const scan_code& code, const operand* operands, const scan_request& request) {
  scan_space s;
  lay_out_scan(s, code, operands, request.axis);
  if (s.space.elements == 0) return;
  if (overlaps(operands, code.inputs, 1, s.space)) {
    std::vector<operand> redirected(operands, operands + code.inputs + 1);
    const late_copy copy = redirect(redirected.back());
    run_scan(code, redirected.data(), request);
    return copy_elements(copy.from, copy.to);
  }
  if (run_notes::wanted())
    run_notes::note({&code}, [&] { return explain_scan(code, operands, request); });
  scan_parameters parameters{};
  parameters.row = s.row;
  parameters.init = request.init;
  parameters.has_init = request.has_init;
  parameters.exclusive = request.exclusive;
  queue_work(
      s.space.where, operands, code.inputs, 1,
      [&] { return work_of("scan of ", code.view, operands, s.space.elements); },
      [&](const stream& on) {
        executor::of(s.space.where).run_scan(code, operands, s, parameters, on);
      });
}

scan_plan plan_scan(const scan_code& code, const operand* operands, const scan_request& request) {
  scan_space s;
  lay_out_scan(s, code, operands, request.axis);
  return executor::of(s.space.where).plan_scan(code, operands, s);
}

void fit_scan_target(operand& target, const std::int64_t* shape, int rank, bool flat) {
  std::int64_t elements = 1;
  for (int d = 0; d < rank; ++d) elements *= shape[d];
  if (flat ? target.extents[0] != elements : !std::equal(shape, shape + rank, target.extents)) {
    const std::string of =
        "a scan of shape " + spell_shape(flat ? &elements : shape, flat ? 1 : rank);
    raise<shape_error>(of + " cannot be assigned to shape " +
                       spell_shape(target.extents, target.rank));
  }
  if (!flat) return;
  std::int64_t step = target.strides[0];
  target.rank = rank;
  for (int d = rank - 1; d >= 0; --d) {
    target.extents[d] = shape[d];
    target.strides[d] = step;
    step *= shape[d];
  }
}

}  // namespace dsl::detail

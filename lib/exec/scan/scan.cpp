#include <dsl/exec/scan/scan.hpp>

#include <algorithm>
#include <cstdlib>

#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/scan/scan_work.hpp"

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
      set_row_major(g.layouts[k].strides, g.shape, g.shape_rank);
      for (int d = 0; d < g.shape_rank; ++d)
        if (g.shape[d] == 1) g.layouts[k].strides[d] = 0;
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

scan_work::scan_work(const scan_code& code, const operand* operands, const scan_request& request)
    : planned_work(work_kind::scan, &code, code.view, operands, code.inputs, 1),
      code_(code),
      request_(request) {
  lay_out();
}

void scan_work::lay_out() {
  lay_out_in_order(ordered_, operands(), code_.inputs, 1, code_.lanes, code_.view, request_.axis);
}

bool scan_work::must_redirect(int) const { return overlaps(operands(), code_.inputs, 1, space()); }

cost scan_work::cost_per_element() const {
  return cost_of(code_.view, [this](std::uint64_t k) {
    return first_of_array(operands(), static_cast<int>(k));
  });
}

scan_parameters scan_work::parameters() const {
  scan_parameters p{};
  p.row = ordered_.row;
  p.init = request_.init;
  p.has_init = request_.has_init;
  p.exclusive = request_.exclusive;
  return p;
}

void run_scan(const scan_code& code, const operand* operands, const scan_request& request) {
  scan_work(code, operands, request).assign();
}

scan_plan plan_scan(const scan_code& code, const operand* operands, const scan_request& request) {
  return scan_work(code, operands, request).plan();
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
  target.rank = rank;
  std::copy_n(shape, rank, target.extents);
  set_row_major(target.strides, shape, rank, target.strides[0]);
}

}  // namespace dsl::detail

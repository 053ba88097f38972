// Index spaces whose dimensions are in the order of a scan.
#pragma once

#include <dsl/exec/plan/operand.hpp>

namespace dsl::detail {

/// An index space whose dimensions are in the order of a scan. Rows, if `columns` is false: the
/// elements of a row follow each other; the axis is the last dimension, or all elements are one
/// row. Columns: consecutive elements belong to adjacent columns; the axis is the last dimension
/// but one.
struct scan_space {
  geometry space;
  std::int64_t row;  // Elements along the axis, or all elements.
  bool columns;
  int axis;  // -1: all elements in row-major order.
};

/// Lays out `inputs` inputs, followed by `outputs` outputs (0 or 1), in the order of a scan along
/// `axis`; -1: of all elements in row-major order. Throws as `lay_out`.
void lay_out_in_order(scan_space& s, const operand* operands, int inputs, int outputs, int lanes,
                      const pass_view& pass, int axis = -1);

}  // namespace dsl::detail

// A scan's index space.
#pragma once

#include <string>

#include <dsl/exec/scan/scan.hpp>

#include "exec/explain/predict.hpp"

namespace dsl::detail {

/// The elements in an order in which each row's follow each other (`columns` is false: the axis is
/// the last dimension, or all elements are one row), or in which neighbours belong to neighbouring
/// columns (the axis is the last dimension but one).
struct scan_space {
  geometry space;
  std::int64_t row;  // elements along the axis, or all
  bool columns;
  int axis;  // -1: all elements in row-major order
};

/// Lays out the inputs and then at most one output. Throws as `lay_out`.
/// `axis` is -1 where all elements are taken in row-major order.
void lay_out_in_order(scan_space& s, const operand* operands, int inputs, int outputs, int lanes,
                      const pass_view& pass, int axis = -1);
inline void lay_out_scan(scan_space& s, const scan_code& code, const operand* operands, int axis) {
  lay_out_in_order(s, operands, code.inputs, 1, code.lanes, code.view, axis);
}

kernel_demand demand_of_scan(const scan_code& code, const operand* operands, const scan_space& s,
                             const scan_plan& p);
/// "cumsum", "cumprod", or "scan" of another operator.
std::string name_of_scan(const scan_code& code);

}  // namespace dsl::detail

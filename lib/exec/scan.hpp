// A scan's index space.
#pragma once

#include <dsl/exec/scan.hpp>

namespace dsl::detail {

/// The elements in an order in which each row's follow each other (`columns` is false: the axis is the last dimension, or all
/// elements are one row), or in which neighbours belong to neighbouring columns (the axis is the last dimension but one).
struct scan_space {
  geometry space;
  std::int64_t row;  // elements along the axis, or all
  bool columns;
};

/// Throws as `lay_out`. `axis` is -1 where all elements are scanned in row-major order.
void lay_out_scan(scan_space& s, const scan_code& code, const operand* operands, int axis);

}  // namespace dsl::detail

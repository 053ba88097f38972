// Kernels of passes that do not reduce.
#pragma once

#include <string>

#include "opencl/print/operand_text.hpp"

namespace dsl::detail::opencl {

/// The elements that a work-item computes at once.
struct item_lanes {
  int count;            ///< 1: one after another.
  bool is_adjacent;     ///< Side by side in vectors; otherwise a work-group's size apart.
  std::string pattern;  ///< What the text depends on for that.
};
item_lanes lanes_of(const operand_texts& operands, const abilities& can);

std::string print_map(const operand_texts& operands, const abilities& can);
kernel_launches launches_of_map(const operand_texts& operands, const abilities& can);

}  // namespace dsl::detail::opencl

// Numbers and positions of elements that a statement's elements are computed from, as operands.
#pragma once

#include <dsl/exec/statement/evaluation.hpp>

namespace dsl::detail {

/// An index space of a statement, as far as shapes depend on it: the space around it (0: the whole
/// statement), its leaves, and what it gives to the space around it.
struct nested_space {
  int parent = 0, first = 0, end = 0;
  enum { elements, one_value, reduced_along_axes, value_of_each_row } gives = elements;
};

/// A statement's leaves and its index spaces, from number 1 on.
struct leaves_of_spaces {
  const operand* leaves;
  int leaf_count;
  const nested_space* spaces;
  const reduced_space* reduced;
  int space_count;
};

/// Sets operands to the numbers of elements that index spaces reduce to one value, on a mesh those
/// of all devices, and to the positions among these. Shapes that do not broadcast are left to those
/// who use them.
void set_space_operands(operand* operands, const space_operand* given, int count,
                        const leaves_of_spaces& of);

}  // namespace dsl::detail

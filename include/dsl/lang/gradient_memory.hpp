// The memory of a gradient while it is computed, and the parts of it to which operands contribute.
#pragma once

#include <dsl/lang/leaves.hpp>

namespace dsl::detail {

/// A variable of a loss, and its gradient: elements in row-major order, as the variable's are.
struct variable_gradient {
  operand variable;
  buffer_ref memory;
  char* origin = nullptr;
  std::int64_t elements = 0;
  bool is_written = false;
  // The gradient is known: no operand contributes to it any more.
  bool is_complete = false;
  // Whether an operand of the loss reads the variable.
  bool occurs = false;
};

/// The variable whose elements an operand reads; null if it reads none, or if the variable's
/// gradient is complete. Throws value_error if the
/// operand reads its memory, but not as elements, or reads an element twice other than by
/// broadcasting.
variable_gradient* variable_of(const operand& leaf, variable_gradient* all, int count);

/// New memory for the gradient of a variable: an array or a scalar.
template <class T, int R>
auto gradient_like(const view<const T, R>& variable, device where) {
  if constexpr (R == 0) return scalar<T>(T{}, where);
  else return array<T, R>(variable.extents(), where);
}

/// A part of a gradient, aligned with a region of `rank` axes: its origin, its extents, and its
/// strides (in elements). Along an axis where the region's extent is larger it is summed.
struct gradient_part {
  variable_gradient* of = nullptr;
  char* origin = nullptr;
  int rank = 0;
  std::int64_t extents[max_rank]{}, strides[max_rank]{};
  // The axes along which the region's elements are summed.
  std::uint32_t summed = 0;

  bool operator==(const gradient_part& b) const {
    return of == b.of && origin == b.origin && summed == b.summed &&
           std::equal(extents, extents + rank, b.extents) &&
           std::equal(strides, strides + rank, b.strides);
  }
};
/// The part to which an operand contributes in a region of this shape.
gradient_part part_of(variable_gradient& of, const operand& leaf, const std::int64_t* shape,
                      int rank);
/// Prepares a part for a contribution. Returns whether it holds a sum to which to add; otherwise
/// the contribution is the first one.
bool begin_part(const gradient_part& part);

/// Notes a variable and the memory of its gradient. Throws value_error if the variable's elements
/// are not contiguous in row-major order.
void describe(variable_gradient& to, const operand& variable, const operand& gradient,
              const buffer_ref& memory);
template <class T, int R>
void describe(variable_gradient& to, const view<const T, R>& variable, const view<T, R>& gradient) {
  operand of[2], *at = of;
  add_leaves(variable, at);
  add_leaves(gradient, at);
  describe(to, of[0], of[1], gradient.owner());
}
/// Throws value_error if the loss does not read one of the variables.
void require_variables(const variable_gradient* all, int count);
/// Fills the gradient with zeros if nothing contributed to it.
void finish_gradient(variable_gradient& of);
/// Throws value_error if some of `count` elements that may be taken, `stride` apart from the first
/// ones, are not the variable's.
void require_taken_within(const variable_gradient& of, const operand& first, std::int64_t count,
                          std::int64_t stride);
/// Whether memory that is seen through one view belongs to that view and one array alone.
bool is_owned_by_one(const buffer_ref& of_view);
/// Throws value_error for a shift whose transpose is not a shift.
void require_linear(std::int64_t distance, boundary beyond);

}  // namespace dsl::detail

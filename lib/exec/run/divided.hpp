// Operands in memory of which each process has a part.
#pragma once

#include <dsl/exec/run/run.hpp>

#include "mem/processes.hpp"

namespace dsl::detail {

/// Whether an operand is in memory of which each process has a part of its own.
inline bool is_divided(const operand& o) {
  return o.memory != nullptr && o.memory->part != nullptr && o.memory->part->is_divided();
}
inline std::int64_t bytes_of_element(const operand& o) {
  return o.kind == operand_kind::address ? o.size : size_of(o.type);
}
/// The number of an operand's first byte in its memory.
inline std::int64_t first_byte(const operand& o) {
  return static_cast<std::int64_t>(o.word[0] - reinterpret_cast<std::uintptr_t>(o.memory->data));
}

/// The axis along which a target is divided.
int outermost_axis(const operand& o);
/// The rows along an axis of which a process has the elements.
index_range rows_along(const operand& o, int axis, int process);

/// Memory for elements of a target's shape in row-major order; on a mesh of processes each has
/// there those that it has of the target.
buffer_ref memory_like(const operand& target);

}  // namespace dsl::detail

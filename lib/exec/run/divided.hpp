// Operands whose memory is divided among processes.
#pragma once

#include <dsl/exec/run/run.hpp>

#include "mem/processes.hpp"

namespace dsl::detail {

/// Whether an operand's memory is divided among processes.
inline bool is_divided(const operand& o) {
  return o.memory != nullptr && o.memory->part != nullptr && o.memory->part->is_divided();
}
inline std::int64_t bytes_of_element(const operand& o) {
  return o.kind == operand_kind::address ? o.size : size_of(o.type);
}
/// Offset of an operand's first byte in its memory.
inline std::int64_t first_byte(const operand& o) {
  return static_cast<std::int64_t>(o.word[0] - reinterpret_cast<std::uintptr_t>(o.memory->data));
}

/// The axis along which a target is divided: the first with an extent other than 1.
int outermost_axis(const operand& o);
/// The rows along an axis that a process has.
index_range rows_along(const operand& o, int axis, int process);

/// Allocates memory for the elements of a target in row-major order. If the target's memory is
/// divided among processes, each process has the same elements of both.
buffer_ref memory_like(const operand& target);

}  // namespace dsl::detail

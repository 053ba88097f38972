// Copies of operands that a library's routine may overwrite.
#pragma once

#include <algorithm>

#include <dsl/exec/run/run.hpp>

#include "mem/buffer.hpp"

namespace dsl::detail {

/// An operand as packed elements of a shape that it is broadcast to, in memory of its own.
class packed_copy {
 public:
  packed_copy(const operand& o, const std::int64_t* extents, int rank, device where) {
    std::int64_t strides[max_rank];
    std::int64_t count = 1;
    for (int d = rank; d-- > 0; count *= extents[d]) strides[d] = count;
    memory_ = buffer_ref::allocate(static_cast<std::size_t>(count * size_of(o.type)), where);
    set_array(all, o.type, rank, memory_, memory_.data(), extents, strides);
    if (count > 0) copy_all(&o, &all, 1);
  }
  void* at() const { return memory_.data(); }
  operand all{};

 private:
  buffer_ref memory_;
};

/// The operand with its last two dimensions exchanged.
inline operand transposed(operand o) {
  std::swap(o.extents[o.rank - 1], o.extents[o.rank - 2]);
  std::swap(o.strides[o.rank - 1], o.strides[o.rank - 2]);
  return o;
}

}  // namespace dsl::detail

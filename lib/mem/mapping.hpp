// Dimensions that are contiguous in memory.
#pragma once

#include <cstdint>

#include <dsl/mem/mapping.hpp>

namespace dsl::detail {

/// Whether a dimension and the one inside it can be merged: the outer stride equals stride times
/// extent of the inner dimension.
inline bool strides_merge(std::int64_t outer_stride, std::int64_t stride, std::int64_t extent) {
  std::int64_t end = 0;
  return !__builtin_mul_overflow(stride, extent, &end) && outer_stride == end;
}

/// The same extents, contiguous in row-major order.
inline mapping row_major(mapping of) {
  std::int64_t step = 1;
  of.offset = 0;
  for (int d = of.rank - 1; d >= 0; --d) {
    of.strides[d] = step;
    step *= of.extents[d];
  }
  return of;
}

}  // namespace dsl::detail

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

/// The strides of `rank` dimensions in row-major order, of which the innermost has stride `step`.
inline void set_row_major(std::int64_t* strides, const std::int64_t* extents, int rank,
                          std::int64_t step = 1) {
  for (int d = rank - 1; d >= 0; step *= extents[d--]) strides[d] = step;
}

/// The same extents, contiguous in row-major order.
inline mapping row_major(mapping of) {
  of.offset = 0;
  set_row_major(of.strides, of.extents, of.rank);
  return of;
}

}  // namespace dsl::detail

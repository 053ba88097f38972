// Dimensions that follow each other in memory.
#pragma once

#include <cstdint>

#include <dsl/mem/mapping.hpp>

namespace dsl::detail {

/// Whether a dimension and the one inside it are one: the outer stride is where the inner dimension
/// ends.
inline bool strides_merge(std::int64_t outer_stride, std::int64_t stride, std::int64_t extent) {
  std::int64_t end = 0;
  return !__builtin_mul_overflow(stride, extent, &end) && outer_stride == end;
}

/// The same extents, elements one after another in row-major order.
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

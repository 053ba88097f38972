// Dimensions that follow each other in memory.
#pragma once

#include <cstdint>

namespace dsl::detail {

/// Whether a dimension and the one inside it are one: the outer stride is where the inner dimension ends.
inline bool strides_merge(std::int64_t outer_stride, std::int64_t stride, std::int64_t extent) {
  std::int64_t end = 0;
  return !__builtin_mul_overflow(stride, extent, &end) && outer_stride == end;
}

}  // namespace dsl::detail

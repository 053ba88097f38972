// Launch numbers of the library's own grid-stride kernels.
#pragma once

#include <algorithm>
#include <cstdint>

namespace dsl::detail::cuda {

inline constexpr int grid_stride_block = 256;

/// Number of blocks for `count` elements, at most `most`.
inline unsigned grid_stride_blocks(std::int64_t count, std::int64_t most) {
  return static_cast<unsigned>(std::min((count + grid_stride_block - 1) / grid_stride_block, most));
}

}  // namespace dsl::detail::cuda

// Divides an index space into tiles, each for one warp.
#pragma once

#include <dsl/exec/team/arguments.hpp>

#include "exec/run/parameters.hpp"

namespace dsl::detail {

struct warp_tiling {
  std::int64_t count;
  tiling tiles;  // Unused in a linear space.
};

/// Divides a space that `lay_out_in_order` laid out. Tiles follow each other in the order of its
/// elements; a thread takes `lanes` elements of a tile. Throws shape_error if there are 2^31 tiles
/// or more.
warp_tiling tile_by_warps(const geometry& g, int lanes, const pass_view& pass,
                          const operand* operands);

/// Parameters of a kernel that takes such tiles: the inputs, then `outputs`, which have no strides
/// because the kernel computes their addresses itself.
kernel_parameters warp_tile_parameters(const warp_tiling& t, const geometry& g,
                                       const operand* operands, int inputs, const pass_view& pass,
                                       const argument* outputs, int output_count);

}  // namespace dsl::detail

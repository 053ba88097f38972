// How an index space is cut into the tiles of warps.
#pragma once

#include <dsl/exec/team/arguments.hpp>

#include "exec/run/parameters.hpp"

namespace dsl::detail {

struct warp_tiling {
  std::int64_t count;
  tiling tiles;  // of a strided space
};

/// Tiles that follow each other in the order of a space's elements, which was laid out so.
warp_tiling tile_by_warps(const geometry& g, int lanes, const pass_view& pass,
                          const operand* operands);

/// The parameters of a kernel of such tiles: the inputs, and then `outputs` operands that it knows
/// itself.
kernel_parameters warp_tile_parameters(const warp_tiling& t, const geometry& g,
                                       const operand* operands, int inputs, const pass_view& pass,
                                       const argument* outputs, int output_count);

}  // namespace dsl::detail

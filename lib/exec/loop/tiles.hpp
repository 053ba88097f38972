// How the blocks of a loop over neighbours divide its grid.
#pragma once

#include <dsl/exec/loop/loop.hpp>

namespace dsl::detail {

/// A tile of the grid for each block.
struct tile_cut {
  std::int64_t tiles[3];   // along each dimension, the innermost first
  std::int64_t extent[3];  // of the largest tile, in elements; along the innermost dimension in
                           // whole vectors
  tile_schedule schedule;  // without `arrivals`
  /// Elements of the largest tile that do not fit into shared memory.
  std::int64_t in_memory() const {
    const bool by_planes = extent[2] > 1;
    return extent[0] *
           (by_planes ? extent[1] * (extent[2] - schedule.on_chip) : extent[1] - schedule.on_chip);
  }
  std::int64_t count() const { return tiles[0] * tiles[1] * tiles[2]; }
};

/// What cutting it into so many tiles along each dimension comes to, in `room` bytes of shared
/// memory.
tile_cut tiles_of(const geometry& g, const tile_needs& needs, int lanes,
                  const std::int64_t (&tiles)[3], std::int64_t room);

/// At most so many tiles, each of a block of so many threads: those whose largest one takes the
/// least of what the threads compute, what they read around it and what they keep in memory. None,
/// with a count of 0, where there are no such tiles, or the grid is none whose neighbours are found
/// by one step beyond an end.
tile_cut cut_into_tiles(const geometry& g, const operand* operands, const tile_needs& needs,
                        int lanes, int threads, std::int64_t most, std::int64_t room);

}  // namespace dsl::detail

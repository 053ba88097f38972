// Divides the grid of a loop over neighbours into tiles, one a block.
#pragma once

#include <dsl/exec/loop/loop.hpp>

namespace dsl::detail {

/// A division of the grid into tiles, one a block.
struct tile_cut {
  // Number of tiles along each dimension, the innermost first.
  std::int64_t tiles[3];
  // Extents of the largest tile, in elements; the innermost one in whole vectors.
  std::int64_t extent[3];
  tile_schedule schedule;  // All fields but `arrivals`.
  /// Elements of the largest tile that do not fit into shared memory.
  std::int64_t in_memory() const {
    const bool by_planes = extent[2] > 1;
    return extent[0] *
           (by_planes ? extent[1] * (extent[2] - schedule.on_chip) : extent[1] - schedule.on_chip);
  }
  int rows_of_patch(const tile_needs& needs) const {
    return in_memory() == 0 ? needs.rows_on_chip : needs.rows;
  }
  std::int64_t count() const { return tiles[0] * tiles[1] * tiles[2]; }
};

/// The division for given tile counts, with `room` bytes of shared memory a block.
tile_cut tiles_of(const geometry& g, const tile_needs& needs, int lanes,
                  const std::int64_t (&tiles)[3], std::int64_t room);

/// The best division into at most `most` tiles, each for a block of `threads` threads. It minimizes
/// the work of the largest tile: the elements that threads compute, the halo that they read, and
/// what stays in memory. Returns a count of 0 if there is no such division, or if a neighbour
/// beyond an end cannot be found by one wrap, clamp or reflection.
tile_cut cut_into_tiles(const geometry& g, const operand* operands, const tile_needs& needs,
                        int lanes, int threads, std::int64_t most, std::int64_t room);

}  // namespace dsl::detail

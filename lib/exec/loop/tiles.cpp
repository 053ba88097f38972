#include "exec/loop/tiles.hpp"

#include <algorithm>

#include "exec/plan/layout.hpp"
#include "exec/stencil/patches.hpp"

namespace dsl::detail {

namespace {

std::int64_t extent_of(const geometry& g, int dimension) {
  return dimension < g.rank ? g.extents[g.rank - 1 - dimension] : 1;
}

std::int32_t narrow(std::int64_t n) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(n, 1 << 30));
}

}  // namespace

namespace {

// Lays out shared memory for `on_chip` rows of a tile, or planes if the tile has several.
void make_room(tile_cut& cut, const tile_needs& needs, int lanes, bool by_planes,
               std::int64_t on_chip) {
  // In elements: after a multiple of 16 elements of any dtype, the next array is aligned.
  constexpr std::int64_t vector = 16;
  const std::int64_t width = cut.extent[0], height = by_planes ? cut.extent[1] : on_chip,
                     depth = by_planes ? on_chip : 1;
  const std::int64_t pitch = whole_vectors(needs.before[0], lanes) + width +
                             whole_vectors(needs.after[0], lanes),
                     plane = (needs.before[1] + height + needs.after[1]) * pitch,
                     back = std::max(needs.before[2], needs.after[2]),
                     up = std::max(needs.before[1], needs.after[1]) + needs.rows,
                     shift = back * plane + up * pitch,
                     all = (needs.before[2] + depth + needs.after[2]) * plane + shift +
                           needs.rows * pitch;
  tile_schedule& s = cut.schedule;
  s.on_chip = narrow(on_chip);
  s.pitch = narrow(pitch);
  s.plane = narrow(plane);
  s.shift = narrow(shift);
  s.elements = narrow(pieces(all, vector) * vector);
  s.other_pitch = narrow(width);
  s.other_plane = narrow(width * height);
  s.other_elements = narrow(pieces(width * height * depth, vector) * vector);
}

}  // namespace

tile_cut tiles_of(const geometry& g, const tile_needs& needs, int lanes,
                  const std::int64_t (&tiles)[3], std::int64_t room) {
  tile_cut cut{};
  for (int d = 0; d < 3; ++d) {
    const int length = d == 0 ? lanes : 1;
    cut.tiles[d] = tiles[d];
    cut.extent[d] = pieces(pieces(extent_of(g, d), length), tiles[d]) * length;
    cut.schedule.tiles[d] = narrow(tiles[d]);
  }
  const bool by_planes = g.rank > 2;
  // Rows or planes: `least` of them fit, `most` may.
  std::int64_t most = cut.extent[by_planes ? 2 : 1], least = 0;
  const auto fits = [&](std::int64_t on_chip) {
    make_room(cut, needs, lanes, by_planes, on_chip);
    return cut.schedule.bytes(needs) <= room;
  };
  if (fits(most)) return cut;
  while (most - least > 1) (fits((least + most) / 2) ? least : most) = (least + most) / 2;
  make_room(cut, needs, lanes, by_planes, least);
  return cut;
}

tile_cut cut_into_tiles(const geometry& g, const operand* operands, const tile_needs& needs,
                        int lanes, int threads, std::int64_t most, std::int64_t room) {
  tile_cut best{};
  if (needs.rows == 0 || g.rank < 2 || g.rank > 3 || g.kept != 0 || g.elements == 0) return best;
  // Least extents of a tile, in elements, and largest numbers of tiles.
  std::int64_t least[3], at_most[3];
  for (int d = 0; d < 3; ++d) {
    least[d] = std::max({needs.before[d], needs.after[d], needs.margin[d], 1});
    at_most[d] = std::max<std::int64_t>(
        1, extent_of(g, d) / (d == 0 ? pieces(least[d], lanes) * lanes : least[d]));
    for (int k = 0; k < 64 && needs.before[d] + needs.after[d] > 0; ++k)
      if ((needs.beside >> k & 1) != 0 && !is_near_axis(g, operands[k], d)) return best;
  }
  const int warp = properties(g.where).warp_size;
  std::int64_t cost = 0;
  for (std::int64_t z = 1; z <= std::min(most, at_most[2]); ++z)
    for (std::int64_t y = 1; y <= std::min(most / z, at_most[1]); ++y) {
      const tile_cut cut =
          tiles_of(g, needs, lanes, {std::min(most / z / y, at_most[0]), y, z}, room);
      if (cut.schedule.on_chip == 0) continue;
      const auto [width, height, depth] = cut.extent;
      const int rows = cut.rows_of_patch(needs);
      const auto lines = static_cast<int>(pieces(height, rows) * depth);
      const tile_threads shared = tile_threads::of(static_cast<int>(width / lanes), threads);
      // All of a warp's threads compute.
      const std::int64_t used = pieces(shared.across * std::min(shared.down, lines), warp) * warp,
                         computed = shared.rounds(lines) * used * rows * lanes,
                         halo = (needs.before[2] + depth + needs.after[2]) *
                                    (needs.before[1] + height + needs.after[1]) *
                                    cut.schedule.pitch -
                                width * height * depth,
                         in_memory = cut.in_memory(), mine = computed + halo + 4 * in_memory;
      if (in_memory > 0 && height < needs.rows) continue;
      if (best.count() > 0 && mine >= cost) continue;
      best = cut;
      cost = mine;
    }
  return best;
}

}  // namespace dsl::detail

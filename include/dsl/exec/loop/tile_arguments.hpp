// How the blocks of a loop divide a grid whose elements are read by their neighbours.
#pragma once

#include <dsl/exec/loop/loop_arguments.hpp>
#include <dsl/exec/stencil/patch.hpp>
#include <dsl/exec/team/tagged.hpp>

namespace dsl::detail {

/// What a loop needs of its variables to be run by tiles. Axes are counted from the right.
struct tile_needs {
  int rows = 0;                       // of a patch; 0: not by tiles
  int before[3] = {}, after[3] = {};  // how far variables are read
  int margin[3] =
      {};  // elements along a tile's sides that other tiles, and its own halo, may be made of
  int halo_bytes = 0;        // of an element, of the variables that are read beside it
  int other_bytes = 0;       // the same of the other ones
  std::uint64_t beside = 0;  // a bit for each variable that is read beside its elements
};
template <class Pass>
  requires(Pass::view().neighbours.moved == 0)
constexpr tile_needs tile_needs_of(int) {
  return {};
}
template <class Pass>
constexpr tile_needs tile_needs_of(int states) {
  using program = typename Pass::elements;
  constexpr program_view p = program::view();
  tile_needs needs;
  for (int i = 0; i < p.nodes; ++i) {
    if (head{p.heads[i]}.code() != op::neighbour) continue;
    const int slot = static_cast<int>(operand_read(p, i));
    if (slot >= states) continue;
    const near_place& place = near_places<program>[static_cast<std::size_t>(i)];
    if (!place.is_near) return {};
    needs.beside |= std::uint64_t{1} << slot;
    for (int axis = 0; axis < near_place::axes; ++axis) {
      const int at = place.at[axis], far = at < 0 ? -at : at;
      const int margin = far > 0 && place.beyond[axis] == boundary::reflect ? far + 1 : far;
      if (-at > needs.before[axis]) needs.before[axis] = -at;
      if (at > needs.after[axis]) needs.after[axis] = at;
      if (margin > needs.margin[axis]) needs.margin[axis] = margin;
    }
  }
  if (needs.beside == 0) return {};
  for (int i = 0; i < states; ++i)
    if (!Pass::is_result(i))
      ((needs.beside >> i & 1) != 0 ? needs.halo_bytes : needs.other_bytes) +=
          size_of(Pass::view().type(i));
  constexpr patch_needs patches = patch_needs_of<Pass>();
  if (patches.rows > 0) needs.rows = program::nodes > 128 ? 1 : patches.planes > 1 ? 2 : 4;
  return needs;
}

/// Tiles of a grid, one for each block, in shared memory. Of a variable that is read beside its
/// elements a tile has a halo, and lies further back before even steps than before odd ones: a step
/// moves it on, so that it never overwrites what it still reads. What does not fit there, at the
/// tile's end, stays in global memory. Dimensions are counted from the innermost, lengths in
/// elements.
struct tile_schedule {
  std::int32_t tiles[3];  // along each dimension
  std::int32_t on_chip;   // rows of a tile, or planes of one that has several, that are in shared
                          // memory, at most
  std::int32_t pitch, plane;  // from a row, and from a plane, to the next
  std::int32_t shift;         // how far a step moves a tile
  std::int32_t elements;      // all room that a variable takes
  std::int32_t other_pitch, other_plane, other_elements;  // the same of a variable without a halo
  quad*
      arrivals;  // for each block a word with the number of the last step whose sides it has stored

  /// Bytes of shared memory.
  constexpr std::int64_t bytes(const tile_needs& needs) const {
    return std::int64_t{needs.halo_bytes} * elements +
           std::int64_t{needs.other_bytes} * other_elements;
  }
};

/// Elements of a halo before the first of a row, in whole vectors.
constexpr int whole_vectors(int elements, int lanes) {
  return (elements + lanes - 1) / lanes * lanes;
}

/// How a block's threads take the groups of lanes of a tile's lines: so many side by side, and so
/// many lines at a time. A line of more groups than there are threads is taken in parts.
struct tile_threads {
  int parts, across, down;

  DSL_DETAIL_FN static constexpr tile_threads of(int groups, int threads) {
    const int parts = (groups + threads - 1) / threads, across = (groups + parts - 1) / parts;
    return {parts, across, threads / across};
  }
  DSL_DETAIL_FN constexpr int rounds(int lines) const { return (lines + down - 1) / down * parts; }
};

/// What a launch of a loop by tiles tells every thread.
template <int Operands, int States>
struct tiled_loop_arguments : strided_arguments<Operands> {
  step_schedule loop;
  tile_schedule tile;
  std::uint64_t other[States];  // of a variable that is read beside its elements: a second buffer,
                                // its elements in one line
  std::uint64_t history[Operands];  // as loop_arguments'
};
template <int Operands, int States> inline constexpr bool
    takes_patches<tiled_loop_arguments<Operands, States>> = true;

/// Whether all steps of a loop over neighbours are one kernel.
template <class Pass, int States> inline constexpr bool runs_by_tiles =
    tile_needs_of<Pass>(States).rows > 0;

}  // namespace dsl::detail

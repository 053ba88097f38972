// How the blocks of a loop divide a grid whose steps read neighbours.
#pragma once

#include <dsl/exec/loop/loop_arguments.hpp>
#include <dsl/exec/stencil/patch.hpp>
#include <dsl/exec/team/tagged.hpp>

namespace dsl::detail {

/// The properties of a loop's variables that tiled execution depends on. Axes are counted from the
/// right.
struct tile_needs {
  int rows = 0;                       // Rows of a patch; 0: not tiled.
  int before[3] = {}, after[3] = {};  // How far before and after an element variables are read.
  // Elements along a tile's sides that the halos of other tiles, or its own, may need.
  int margin[3] = {};
  int halo_bytes = 0;        // Bytes of an element of all variables whose neighbours are read.
  int other_bytes = 0;       // The same of all others.
  std::uint64_t beside = 0;  // A bit for each variable whose neighbours are read.
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

/// Tiles of a grid, one for each block, in shared memory. A variable whose neighbours are read has
/// a halo around its tile. Before even steps this tile is `shift` elements further back than before
/// odd ones: each step writes it to the other position, so that it never overwrites elements that
/// it still has to read. The end of a tile that does not fit stays in global memory. Dimensions are
/// counted from the innermost, lengths in elements.
struct tile_schedule {
  std::int32_t tiles[3];  // Tiles along each dimension.
  // Maximum rows of a tile in shared memory, or planes of a tile that has several.
  std::int32_t on_chip;
  std::int32_t pitch, plane;  // Distance between rows, and between planes.
  std::int32_t shift;         // Distance by which a step moves a tile.
  std::int32_t elements;      // Elements of shared memory for a variable.
  // The same for a variable without a halo.
  std::int32_t other_pitch, other_plane, other_elements;
  // For each block a word with the number of the last step whose borders it has stored.
  quad* arrivals;

  /// Bytes of shared memory.
  constexpr std::int64_t bytes(const tile_needs& needs) const {
    return std::int64_t{needs.halo_bytes} * elements +
           std::int64_t{needs.other_bytes} * other_elements;
  }
};

/// Elements of a halo before the first element of a row, in whole vectors.
constexpr int whole_vectors(int elements, int lanes) {
  return (elements + lanes - 1) / lanes * lanes;
}

/// How a block's threads share the groups of lanes of a tile's lines: `across` groups of a line and
/// `down` lines at a time. A line with more groups than there are threads is taken in `parts`
/// parts.
struct tile_threads {
  int parts, across, down;

  DSL_DETAIL_FN static constexpr tile_threads of(int groups, int threads) {
    const int parts = (groups + threads - 1) / threads, across = (groups + parts - 1) / parts;
    return {parts, across, threads / across};
  }
  DSL_DETAIL_FN constexpr int rounds(int lines) const { return (lines + down - 1) / down * parts; }
};

/// The parameters of a tiled loop's kernel.
template <int Operands, int States>
struct tiled_loop_arguments : strided_arguments<Operands> {
  step_schedule loop;
  tile_schedule tile;
  // For a variable whose neighbours are read: its second buffer, contiguous.
  std::uint64_t other[States];
  std::uint64_t history[Operands];  // As in loop_arguments.
};
template <int Operands, int States> inline constexpr bool
    takes_patches<tiled_loop_arguments<Operands, States>> = true;

/// Whether all steps of a loop that reads neighbours are one kernel.
template <class Pass, int States> inline constexpr bool runs_by_tiles =
    tile_needs_of<Pass>(States).rows > 0;

}  // namespace dsl::detail

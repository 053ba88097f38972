// How the blocks of a loop divide a grid whose steps read neighbours.
#pragma once

#include <dsl/exec/loop/earlier_phases.hpp>
#include <dsl/exec/stencil/patch.hpp>
#include <dsl/exec/team/tagged.hpp>

namespace dsl::detail {

/// The properties of a loop's variables that tiled execution depends on. Axes are counted from the
/// right.
struct tile_needs {
  int rows = 0;                       // Rows of a patch; 0: not tiled.
  int rows_on_chip = 0;               // The same where all tiles are in shared memory.
  int before[3] = {}, after[3] = {};  // How far before and after an element variables are read.
  // Elements along a tile's sides that the halos of other tiles, or its own, may need.
  int margin[3] = {};
  int halo_bytes = 0;        // Bytes of an element of all variables whose neighbours are read.
  int other_bytes = 0;       // The same of all others.
  std::uint64_t beside = 0;  // A bit for each variable whose neighbours are read.
};
/// The boundaries that a pass assumes around a variable, along the axes where it assumes one.
struct variable_ends {
  boundary beyond[near_place::axes] = {boundary::clamp, boundary::clamp, boundary::clamp};
  bool known[near_place::axes] = {};
  bool agree = true;
};
template <class... Pass>
constexpr variable_ends ends_of_variable(int variable) {
  variable_ends ends;
  const auto add = [&]<class Program>(std::type_identity<Program>) {
    constexpr program_view p = Program::view();
    for (int i = 0; i < p.nodes; ++i) {
      const near_place& place = near_places<Program>[static_cast<std::size_t>(i)];
      if (head{p.heads[i]}.code() != op::neighbour || !place.is_near ||
          static_cast<int>(operand_read(p, i)) != variable)
        continue;
      for (int axis = 0; axis < near_place::axes; ++axis) {
        if (place.ends_inside[axis]) continue;
        ends.agree = ends.agree && (!ends.known[axis] || ends.beyond[axis] == place.beyond[axis]);
        ends.known[axis] = true;
        ends.beyond[axis] = place.beyond[axis];
      }
    }
  };
  (add(std::type_identity<typename Pass::elements>{}), ...);
  return ends;
}

// Adds what a pass reads beside its elements. False if the pass cannot run by tiles.
template <class Pass>
  requires(Pass::view().neighbours.moved == 0)
constexpr bool add_tile_needs(tile_needs&, int) {
  return true;
}
template <class Pass>
constexpr bool add_tile_needs(tile_needs& needs, int states) {
  using program = typename Pass::elements;
  constexpr program_view p = program::view();
  bool beside = false;
  for (int i = 0; i < p.nodes; ++i) {
    if (head{p.heads[i]}.code() != op::neighbour) continue;
    const int slot = static_cast<int>(operand_read(p, i));
    if (slot >= states) continue;
    const near_place& place = near_places<program>[static_cast<std::size_t>(i)];
    if (!place.is_near) return false;
    beside = true;
    needs.beside |= std::uint64_t{1} << slot;
    for (int axis = 0; axis < near_place::axes; ++axis) {
      const int at = place.at[axis], far = at < 0 ? -at : at;
      const int margin = far > 0 && place.beyond[axis] == boundary::reflect ? far + 1 : far;
      if (-at > needs.before[axis]) needs.before[axis] = -at;
      if (at > needs.after[axis]) needs.after[axis] = at;
      if (margin > needs.margin[axis]) needs.margin[axis] = margin;
    }
  }
  if (!beside) return true;
  constexpr patch_needs patches = patch_needs_of<Pass>();
  const int rows = program::nodes > 128 ? 1 : patches.planes > 1 ? 2 : 4;
  if (needs.rows == 0 || rows < needs.rows) needs.rows = rows;
  return patches.rows > 0;
}
/// `Pass`: the last pass of a step. `Earlier`: the others. `states`: the number of variables.
template <class Pass, class... Earlier>
constexpr tile_needs tile_needs_of(int states) {
  if constexpr ((Pass::view().neighbours.moved | ... | Earlier::view().neighbours.moved) == 0)
    return {};
  tile_needs needs;
  if (!(add_tile_needs<Pass>(needs, states) && ... && add_tile_needs<Earlier>(needs, states)) ||
      needs.beside == 0)
    return {};
  needs.rows_on_chip = needs.rows < 2 ? needs.rows : 2;
  for (int i = 0; i < states; ++i) {
    if (Pass::is_result(i)) continue;
    const bool beside = (needs.beside >> i & 1) != 0;
    (beside ? needs.halo_bytes : needs.other_bytes) += size_of(Pass::view().type(i));
    if (beside && !ends_of_variable<Pass, Earlier...>(i).agree) return {};
  }
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
  DSL_DETAIL_FN constexpr std::int64_t bytes(const tile_needs& needs) const {
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
  std::uint64_t by_step[Operands];  // As in loop_arguments.
};
template <int Operands, int States> inline constexpr bool
    takes_patches<tiled_loop_arguments<Operands, States>> = true;

/// How a step is tiled.
template <class Pass, class Earlier> struct tiles_of_step;
template <class Pass, int FirstValue, class... Earlier>
struct tiles_of_step<Pass, earlier_phases<FirstValue, Earlier...>> {
  static constexpr tile_needs needs(int states) { return tile_needs_of<Pass, Earlier...>(states); }
  static constexpr variable_ends ends(int variable) {
    return ends_of_variable<Pass, Earlier...>(variable);
  }
};

/// Whether all steps of a loop that reads neighbours are one kernel.
template <class Pass, int States, class... Earlier> inline constexpr bool runs_by_tiles =
    tile_needs_of<Pass, Earlier...>(States).rows > 0;
/// Whether all steps of a loop are one kernel: it reads no neighbours of its variables, or by
/// tiles. Operands in memory have one description in all passes, which tells whether neighbours are
/// read. Phases that store elements are kernels of their own.
template <class Pass, int States, class... Earlier> inline constexpr bool one_kernel_runs = [] {
  constexpr std::uint64_t variables = (std::uint64_t{1} << States) - 1;
  constexpr bool alike =
      ((((Earlier::view().neighbours.operands | Pass::view().neighbours.operands) & ~variables) ==
        (Pass::view().neighbours.operands & ~variables)) &&
       ...);
  return alike && ((count_targets<Earlier>(false) == 0) && ...) &&
         (runs_by_tiles<Pass, States, Earlier...> ||
          ((Pass::view().neighbours.moved | ... | Earlier::view().neighbours.moved) & variables) ==
              0);
}();

}  // namespace dsl::detail

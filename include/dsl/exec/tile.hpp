// Where a block is in a strided index space.
#pragma once

#include <dsl/exec/arguments.hpp>

namespace dsl::detail {

/// A bit for each input.
constexpr std::uint64_t neighbours_of(const program_view& p) {
  std::uint64_t found = 0;
  for (int i = 0; i < p.nodes; ++i)
    if (head{p.heads[i]}.code() == op::neighbour) found |= std::uint64_t{1} << p.payloads[i];
  return found;
}

/// The place of the tile that a block works on: for each operand the offset of the tile's first element. What is the same for a
/// whole block is kept apart from what is a thread's own: the GPU computes it once a warp, in uniform registers.
template <class Arguments, int Operands, std::uint64_t Neighbours, bool Reduces>
struct tile_place {
  const Arguments& args;
  std::int64_t offset[Arguments::strided ? Operands : 1];  // strided: of the tile's first element
  std::int32_t width = 0, height = 0;                      // strided: of the tile, as far as it exists
  std::int64_t corner[2] = {};                             // neighbours: the tile's position along the two innermost dimensions
  std::uint64_t beyond = 0;                                // neighbours: a bit an input, set where all of the tile is zero

  DSL_DETAIL_KERNEL_FN explicit tile_place(const Arguments& a) : args(a) {}

  /// Finds the place of a group's tile; a kernel that does not reduce has one group.
  DSL_DETAIL_KERNEL_FN void enter(std::uint32_t group, std::uint32_t tile) {
    if constexpr (Arguments::strided) {
      const tiling& t = args.tiles_of;
      const std::uint32_t across = take(group, tile, 0, t.across), down = take(group, tile, 1, t.down);
      const std::int64_t x = static_cast<std::int64_t>(across) * t.width, y = static_cast<std::int64_t>(down) * t.height;
      width = t.extents[0] - x < t.width ? static_cast<std::int32_t>(t.extents[0] - x) : t.width;
      height = t.extents[1] - y < t.height ? static_cast<std::int32_t>(t.extents[1] - y) : t.height;
      corner[0] = x;
      corner[1] = y;
      beyond = 0;
      DSL_DETAIL_UNROLL
      for (int k = 0; k < Operands; ++k) {
        offset[k] = x * args.strides[k][0] + y * args.strides[k][1];
        if (is_neighbour(k)) enter_neighbour(k, neighbour_word::no_dimension, 0, 1);
      }
      DSL_DETAIL_ROLLED
      for (int d = 0; d < t.outer_rank; ++d) {
        const std::int64_t at = take(group, tile, d + 2, t.outer[d]);
        DSL_DETAIL_UNROLL
        for (int k = 0; k < Operands; ++k) {
          offset[k] += at * args.strides[k][d + 2];
          if (is_neighbour(k)) enter_neighbour(k, d + 2, at, t.outer[d].by);
        }
      }
    }
  }

 private:
  DSL_DETAIL_KERNEL_FN static constexpr bool is_neighbour(int k) { return k < 64 && (Neighbours >> k & 1) != 0; }

  // A number's place along a dimension, which it is divided by.
  DSL_DETAIL_KERNEL_FN std::uint32_t take(std::uint32_t& group, std::uint32_t& tile, int dimension, divisor d) const {
    const bool kept = Reduces && (args.tiles_of.kept >> dimension & 1) != 0;
    const std::uint32_t number = kept ? group : tile, rest = d.divide(number);
    if (kept) group = rest;
    else tile = rest;
    return number - rest * d.by;
  }

  // Moves a neighbour from position `at` of `n` along an outer dimension, if that is its own.
  DSL_DETAIL_KERNEL_FN void enter_neighbour(int k, int dimension, std::int64_t at, std::int64_t n) {
    const neighbour_word w{args.operand[k].descriptor};
    if (w.dimension() != dimension) return;
    const std::int64_t from = inside(w.beyond(), at - w.distance(), n);
    if (from < 0) beyond |= std::uint64_t{1} << k;
    else if (dimension != neighbour_word::no_dimension) offset[k] += (from - at) * args.strides[k][dimension];
  }
};

}  // namespace dsl::detail

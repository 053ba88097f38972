// The position of a block in a strided index space.
#pragma once

#include <dsl/exec/team/arguments.hpp>

namespace dsl::detail {

/// Where the rows of a tile may have leads (`tile_leads`): the elements by which groups of the
/// first row are moved, modulo the lanes, and the column of a row's first element that may be read.
/// Rows with leads are shorter than 2^30 elements.
template <bool HasLeads> struct place_of_leads {
  std::uint32_t first_move = 0;
  std::int32_t row_begin = 0;
};
template <> struct place_of_leads<false> {};

/// The position of the tile that a block works on: for each operand the offset of the tile's first
/// element. Values that are the same for a whole block are kept apart from those of a thread: the
/// GPU computes them once a warp, in uniform registers.
template <class Arguments, int Operands, bool Neighbours, bool Reduces>
struct tile_place : place_of_leads<takes_leads<Arguments> && !Neighbours> {
  using arguments = Arguments;
  static constexpr bool strided = Arguments::strided;
  static constexpr int operands = Operands;
  static constexpr bool has_planes = Neighbours || takes_halos<Arguments>;
  const Arguments& args;
  // Strided: offsets of the tile's first element. If most operands are read from shared memory,
  // they are computed where they are needed.
  static constexpr bool keeps_offsets = Arguments::strided && !takes_halos<Arguments>;
  std::int64_t offset[keeps_offsets ? Operands : 1];
  // In a kernel that reduces: the distance from a thread's group to its next one.
  std::int64_t group_distance[keeps_offsets && Reduces ? Operands : 1];
  // Strided: extents of the existing part of the tile. With leads the width is that up to the row's
  // end, if the tile's last group, moved by the longest lead, reaches it.
  std::int32_t width = 0, height = 0;
  // With neighbours: the tile's position along the two innermost dimensions, and along the others.
  std::int64_t corner[2] = {}, outer[Arguments::strided && has_planes ? max_rank - 2 : 1] = {};
  std::int32_t planes = 1;  // With neighbours: planes of the tile along the third dimension.
  static constexpr bool has_leads = takes_leads<Arguments> && !Neighbours, reduces = Reduces;

  DSL_DETAIL_KERNEL_FN explicit tile_place(const Arguments& a) : args(a) {}

  /// Finds the tile of a group of blocks; a kernel that does not reduce has one group.
  DSL_DETAIL_SHARED_KERNEL_FN void enter(std::uint32_t group, std::uint32_t tile) {
    if constexpr (Arguments::strided) {
      const tiling& t = args.tiles_of;
      const std::uint32_t across = take(group, tile, 0, t.across),
                          down = take(group, tile, 1, t.down);
      std::int64_t x = static_cast<std::int64_t>(across) * t.width;
      const std::int64_t y = static_cast<std::int64_t>(down) * t.height;
      if constexpr (takes_halos<Arguments>) x -= args.halos.before;
      const int most = has_leads ? t.width + t.leads.longest : t.width;
      width = t.extents[0] - x < most ? static_cast<std::int32_t>(t.extents[0] - x) : most;
      height = t.extents[1] - y < t.height ? static_cast<std::int32_t>(t.extents[1] - y) : t.height;
      corner[0] = x;
      corner[1] = y;
      if constexpr (has_leads) {
        this->first_move = t.leads.first;
        this->row_begin = t.leads.direction == 0 ? 0 : -static_cast<std::int32_t>(x);
        if constexpr (Reduces) this->row_begin -= t.leads.beyond;
      }
      if constexpr (Reduces)
        for_offsets([&](int k) {
          group_distance[k] = t.group_distance * args.strides[k][t.along_rows != 0 ? 0 : 1];
        });
      for_offsets([&](int k) { offset[k] = x * args.strides[k][0] + y * args.strides[k][1]; });
      DSL_DETAIL_ROLLED
      for (int d = 0; d < t.outer_rank; ++d) {
        std::int64_t at = take(group, tile, d + 2, t.outer[d]);
        if constexpr (has_planes) {
          if (d == 0 && t.planes > 1) {
            at *= t.planes;
            planes = t.third - at < t.planes ? static_cast<std::int32_t>(t.third - at) : t.planes;
          }
          set_outer(d, at);
        }
        if constexpr (has_leads)
          this->first_move += static_cast<std::uint32_t>(at) * t.leads.outer[d];
        for_offsets([&](int k) { offset[k] += at * args.strides[k][d + 2]; });
      }
    }
  }

  /// Moves to the tile's next plane.
  DSL_DETAIL_KERNEL_FN void enter_next_plane() {
    ++outer[0];
    for_offsets([&](int k) { offset[k] += args.strides[k][2]; });
  }

  /// The offset of the tile's first element.
  DSL_DETAIL_KERNEL_FN std::int64_t offset_of(int operand) const {
    if constexpr (!takes_halos<Arguments>) return offset[operand];
    else {
      std::int64_t sum =
          corner[0] * args.strides[operand][0] + corner[1] * args.strides[operand][1];
      DSL_DETAIL_ROLLED
      for (int d = 0; d < args.tiles_of.outer_rank; ++d)
        sum += outer_at(d) * args.strides[operand][d + 2];
      return sum;
    }
  }

  /// The distance of `count` elements along a dimension, in an operand's memory.
  DSL_DETAIL_KERNEL_FN std::int64_t distance(int operand, int dimension, std::int64_t count) const {
    return count * args.strides[operand][dimension];
  }

  /// The extent of a dimension, and the tile's position along it, counted from the innermost;
  /// dimension -1 has one element.
  DSL_DETAIL_KERNEL_FN std::int64_t extent(int dimension) const {
    return args.tiles_of.extent(dimension);
  }
  DSL_DETAIL_KERNEL_FN std::int64_t position(int dimension) const {
    return dimension < 0    ? 0
           : dimension == 0 ? corner[0]
           : dimension == 1 ? corner[1]
                            : outer_at(dimension - 2);
  }

 private:
  template <class F> DSL_DETAIL_KERNEL_FN static void for_offsets([[maybe_unused]] const F& f) {
    if constexpr (keeps_offsets) {
      DSL_DETAIL_UNROLL
      for (int k = 0; k < Operands; ++k) f(k);
    }
  }
  // With constant indices, because a variable index would put the array into local memory. With
  // per-element neighbour reads, the code for steps would need four times the registers for that.
  static constexpr bool by_constants = takes_patches<Arguments> || takes_halos<Arguments>;
  DSL_DETAIL_KERNEL_FN void set_outer(int d, std::int64_t at) {
    if constexpr (!by_constants) outer[d] = at;
    else
      each_outer([&](int e) {
        if (e == d) outer[e] = at;
      });
  }
  DSL_DETAIL_KERNEL_FN std::int64_t outer_at(int d) const {
    if constexpr (!by_constants) return outer[d];
    std::int64_t at = 0;
    each_outer([&](int e) {
      if (e == d) at = outer[e];
    });
    return at;
  }
  template <class F> DSL_DETAIL_KERNEL_FN static void each_outer(const F& f) {
    DSL_DETAIL_UNROLL
    for (int e = 0; e < static_cast<int>(sizeof(outer) / sizeof(outer[0])); ++e) f(e);
  }
  // Splits off a position along a dimension from a tile's number.
  DSL_DETAIL_KERNEL_FN std::uint32_t take(std::uint32_t& group, std::uint32_t& tile, int dimension,
                                          divisor d) const {
    const bool kept = Reduces && (args.tiles_of.kept >> dimension & 1) != 0;
    const std::uint32_t number = kept ? group : tile, rest = d.divide(number);
    if (kept) group = rest;
    else tile = rest;
    return number - rest * d.by;
  }
};

}  // namespace dsl::detail

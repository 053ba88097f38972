// Elements in consecutive tiles, in row-major order, one warp for each tile.
#pragma once

#include <dsl/exec/map/kernel.hpp>

namespace dsl::detail {

/// One thread of a pass whose tiles each belong to a warp: a group of lanes for each lane of the
/// warp. In a strided index space a tile is planned like that of a block of a warp's threads.
template <class Pass, int Inputs, class Arguments, class Memory, int WarpSize>
struct warp_tiles : kernel_body<Pass, Inputs, without_leads<Arguments>, Memory> {
  using base = kernel_body<Pass, Inputs, without_leads<Arguments>, Memory>;
  using group = typename base::group;
  using base::args, base::corner, base::height, base::lanes, base::strided;

  DSL_DETAIL_KERNEL_FN warp_tiles(const without_leads<Arguments>& a, Memory m) : base(a, m) {}

  /// Reads a lane's group of a tile, which may be beyond the last one.
  DSL_DETAIL_KERNEL_FN void read(group& g, std::int64_t tile, int lane) {
    if constexpr (strided) {
      g.count = 0;
      if (tile >= args.tiles) return;
      this->enter(0, static_cast<std::uint32_t>(tile));
      this->place_in_tile(g, this->column_of(lane), this->row_of(lane));
      if (g.row >= height) g.count = 0;
    } else {
      g.first = (tile * WarpSize + lane) * lanes;
      g.count = this->lanes_from(g.first);
      g.in_vectors = false;
    }
    if (g.count <= 0) return;
    typename base::template reader<> from{*this, g};
    base::eval::read(from);
  }
  /// The same without a branch, if all tiles are whole and all arrays are read in whole vectors.
  DSL_DETAIL_KERNEL_FN void read_whole(group& g, std::int64_t tile, int lane) const {
    g.first = (tile * WarpSize + lane) * lanes;
    g.count = lanes;
    g.in_vectors = true;
    typename base::template reader<> from{*this, g};
    base::eval::read(from);
  }
  /// Computes a lane's results from the group it has read.
  DSL_DETAIL_KERNEL_FN auto compute(const group& g) const { return this->compute_read(g); }

  /// Stores a selected element's outputs except the first, to the operands that follow the inputs
  /// and the first output.
  DSL_DETAIL_KERNEL_FN void store_at(std::int64_t at,
                                     const typename base::eval::results& out) const {
    store_at(at, out, std::make_index_sequence<Pass::targets - 1>{});
  }

  /// Whether read_whole may read all tiles up to this one.
  DSL_DETAIL_KERNEL_FN bool are_whole_to(std::int64_t tile) const {
    return !strided && this->reads_vectors() && (tile + 1) * WarpSize * lanes <= args.elements;
  }

 private:
  template <std::size_t... K>
  DSL_DETAIL_KERNEL_FN void store_at(std::int64_t at, const typename base::eval::results& out,
                                     std::index_sequence<K...>) const {
    (store_one<static_cast<int>(K) + 1>(at, out), ...);
  }
  template <int K>
  DSL_DETAIL_KERNEL_FN void store_one(std::int64_t at,
                                      const typename base::eval::results& out) const {
    using T = memory_t<Pass::elements::output(K).type()>;
    const argument& to = args.operand[Inputs + K];
    this->memory.store(
        reinterpret_cast<T*>(to.word) + at * static_cast<std::int64_t>(to.descriptor),
        static_cast<T>(nth<K>(out)));
  }
};

}  // namespace dsl::detail

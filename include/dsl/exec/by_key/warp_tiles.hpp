// Elements as the warps of a grid take them: by tiles that follow each other in row-major order.
#pragma once

#include <dsl/exec/map/kernel.hpp>

namespace dsl::detail {

/// One thread's view of a pass whose tiles are a warp's: 32 groups of lanes, a lane of the warp
/// each. Of a strided index space a tile is planned as that of a block of 32 threads.
template <class Pass, int Inputs, class Arguments, class Memory>
struct warp_tiles : kernel_body<Pass, Inputs, Arguments, Memory> {
  using base = kernel_body<Pass, Inputs, Arguments, Memory>;
  using group = typename base::group;
  using base::args, base::corner, base::height, base::lanes, base::strided;

  DSL_DETAIL_KERNEL_FN warp_tiles(const Arguments& a, Memory m) : base(a, m) {}

  /// Reads a lane's group of a tile, which may be beyond the last one.
  DSL_DETAIL_KERNEL_FN void read(group& g, std::int64_t tile, int lane) {
    if constexpr (strided) {
      g.count = 0;
      if (tile >= args.tiles) return;
      this->enter(0, static_cast<std::uint32_t>(tile));
      this->place_in_tile(g, this->column_of(lane), this->row_of(lane));
      if (g.row >= height) g.count = 0;
    } else {
      g.first = (tile * 32 + lane) * lanes;
      g.count = this->lanes_from(g.first);
      g.in_vectors = false;
    }
    if (g.count <= 0) return;
    typename base::template reader<> from{*this, g};
    base::eval::read(from);
  }
  /// The same of tiles that are all whole, and of arrays that are read in whole vectors: without a
  /// branch.
  DSL_DETAIL_KERNEL_FN void read_whole(group& g, std::int64_t tile, int lane) const {
    g.first = (tile * 32 + lane) * lanes;
    g.count = lanes;
    g.in_vectors = true;
    typename base::template reader<> from{*this, g};
    base::eval::read(from);
  }
  /// What a lane computes of what it has read.
  DSL_DETAIL_KERNEL_FN auto compute(const group& g) const { return this->compute_read(g); }

  /// Stores a selected element's outputs but for the first to the operands that follow those of the
  /// inputs and the first.
  DSL_DETAIL_KERNEL_FN void store_at(std::int64_t at,
                                     const typename base::eval::results& out) const {
    store_at(at, out, std::make_index_sequence<Pass::targets - 1>{});
  }

  /// Whether the tiles up to one, with it, may be read so.
  DSL_DETAIL_KERNEL_FN bool are_whole_to(std::int64_t tile) const {
    return !strided && this->reads_vectors() && (tile + 1) * 32 * lanes <= args.elements;
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

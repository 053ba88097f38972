// The position of a block in an index space that is computed in patches.
#pragma once

#include <dsl/exec/access/tile.hpp>

namespace dsl::detail {

/// As `tile_place`, if positions along the three innermost dimensions fit in 32 bits, and so does
/// the distance in bytes between elements along two of them: their product is then one instruction.
template <class Arguments, int Operands>
struct patch_place {
  using arguments = Arguments;
  static constexpr bool strided = true, has_leads = false, reduces = false;
  static constexpr int operands = Operands;
  const Arguments& args;
  std::int64_t offset[Operands];                   // Offsets of the tile's first element.
  std::int32_t width = 0, height = 0, planes = 1;  // Extents of the existing part of the tile.
  std::int32_t corner[3] = {}, outer[max_rank - 3] = {};

  DSL_DETAIL_KERNEL_FN explicit patch_place(const Arguments& a) : args(a) {}

  DSL_DETAIL_SHARED_KERNEL_FN void enter(std::uint32_t /*group*/, std::uint32_t tile) {
    const tiling& t = args.tiles_of;
    corner[0] = take(tile, t.across) * t.width;
    corner[1] = take(tile, t.down) * t.height;
    corner[2] = take(tile, t.outer[0]) * t.planes;
    width = least(extent(0) - corner[0], t.width);
    height = least(extent(1) - corner[1], t.height);
    planes = least(extent(2) - corner[2], t.planes);
    for_operands([&](int k) {
      offset[k] = distance(k, 0, corner[0]) + distance(k, 1, corner[1]) + distance(k, 2, corner[2]);
    });
    DSL_DETAIL_ROLLED
    for (int d = 3; d < t.outer_rank + 2; ++d) {
      const std::int32_t at = take(tile, t.outer[d - 2]);
      set_outer(d, at);
      for_operands([&](int k) { offset[k] += at * args.strides[k][d]; });
    }
  }
  /// Moves to the tile's next plane.
  DSL_DETAIL_KERNEL_FN void enter_next_plane() {
    ++corner[2];
    for_operands([&](int k) { offset[k] += args.strides[k][2]; });
  }

  DSL_DETAIL_KERNEL_FN std::int64_t offset_of(int operand) const { return offset[operand]; }
  /// The distance of `count` elements along one of the three innermost dimensions, in an operand's
  /// memory.
  DSL_DETAIL_KERNEL_FN std::int64_t distance(int operand, int dimension, std::int32_t count) const {
    const std::int64_t stride = args.strides[operand][dimension];
    return dimension < 2 ? add_product(std::int64_t{0}, count, static_cast<std::int32_t>(stride))
                         : count * stride;
  }
  /// The element `count` further along one of them.
  template <class T>
  DSL_DETAIL_KERNEL_FN const T* moved(const T* from, int operand, int dimension,
                                      std::int32_t count) const {
    const std::int64_t stride = args.strides[operand][dimension];
    if (dimension >= 2) return from + count * stride;
    const T* const to = add_product(
        from, count, static_cast<std::int32_t>(stride) * static_cast<std::int32_t>(sizeof(T)));
#if DSL_DETAIL_ON_DEVICE
    __builtin_assume(__isGlobal(to));
#endif
    return to;
  }

  /// The extent of a dimension, and the tile's position along it, counted from the innermost;
  /// dimension -1 has one element.
  DSL_DETAIL_KERNEL_FN std::int32_t extent(int dimension) const {
    const tiling& t = args.tiles_of;
    return static_cast<std::int32_t>(dimension == 2 ? t.third : t.extent(dimension));
  }
  DSL_DETAIL_KERNEL_FN std::int32_t position(int dimension) const {
    if (dimension < 3)
      return dimension < 0    ? 0
             : dimension == 0 ? corner[0]
             : dimension == 1 ? corner[1]
                              : corner[2];
    std::int32_t at = 0;
    DSL_DETAIL_UNROLL
    for (int e = 3; e < max_rank; ++e)
      if (e == dimension) at = outer[e - 3];
    return at;
  }

 private:
  // A number, or an address in bytes, in one instruction, which nvcc misses if it proves in another
  // basic block that the factors have 32 bits.
  template <class Word> DSL_DETAIL_KERNEL_FN static Word add_product(Word to, std::int32_t a,
                                                                     std::int32_t b) {
#if DSL_DETAIL_ON_DEVICE
    asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(to) : "r"(a), "r"(b));
    return to;
#else
    return reinterpret_cast<Word>(reinterpret_cast<std::int64_t>(to) +
                                  static_cast<std::int64_t>(a) * b);
#endif
  }
  DSL_DETAIL_KERNEL_FN static std::int32_t least(std::int32_t a, std::int32_t b) {
    return a < b ? a : b;
  }
  // Splits off a position along a dimension from a tile's number.
  DSL_DETAIL_KERNEL_FN static std::int32_t take(std::uint32_t& number, divisor d) {
    const std::uint32_t rest = d.divide(number), at = number - rest * d.by;
    number = rest;
    return static_cast<std::int32_t>(at);
  }
  // With constant indices, because a variable one would put the array into local memory.
  DSL_DETAIL_KERNEL_FN void set_outer(int dimension, std::int32_t at) {
    DSL_DETAIL_UNROLL
    for (int e = 3; e < max_rank; ++e)
      if (e == dimension) outer[e - 3] = at;
  }
  template <class F> DSL_DETAIL_KERNEL_FN static void for_operands(const F& f) {
    DSL_DETAIL_UNROLL
    for (int k = 0; k < Operands; ++k) f(k);
  }
};

}  // namespace dsl::detail

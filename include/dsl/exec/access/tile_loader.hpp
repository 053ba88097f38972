// Copies tiles of operands to shared memory before the block's threads read them.
#pragma once

#include <array>

#include <dsl/exec/access/tile.hpp>

namespace dsl::detail {

/// Starts a thread's share of the copies. It knows only operands' numbers and elements' sizes, so a
/// kernel has one copy of the code for each size.
template <class Place, class Memory>
struct tile_loader {
  const Place& place;
  const Memory& memory;
  std::uint64_t beside;  // The operands whose neighbours are read.
  int thread, block;

  /// Copies the operands that are read in shared memory. Each set has a bit for each operand with
  /// elements of 1, 2, 4, 8 or 16 bytes.
  template <std::uint64_t Of1, std::uint64_t Of2, std::uint64_t Of4, std::uint64_t Of8,
            std::uint64_t Of16>
  DSL_DETAIL_SHARED_KERNEL_FN void load_arrays() const {
    if constexpr (Of1 != 0) load_words<std::uint8_t>(Of1);
    if constexpr (Of2 != 0) load_words<std::uint16_t>(Of2);
    if constexpr (Of4 != 0) load_words<std::uint32_t>(Of4);
    if constexpr (Of8 != 0) load_words<std::uint64_t>(Of8);
    if constexpr (Of16 != 0) load_words<std::array<std::uint64_t, 2>>(Of16);
  }

 private:
  // Elements are as large as a `Word`.
  template <class Word>
  DSL_DETAIL_KERNEL_FN void load_words(std::uint64_t operands) const {
    DSL_DETAIL_ROLLED
    for (int k = 0; k < Place::operands; ++k) {
      if (k >= 64 || (operands >> k & 1) == 0) continue;
      const argument& a = place.args.operand[k];
      if (place.how_reached(k, beside) >= in_tile)
        load(reinterpret_cast<const Word*>(a.word) + offset(k), place.args.strides[k],
             a.descriptor - in_tile);
    }
  }
  // A variable index would put the offsets into local memory.
  DSL_DETAIL_KERNEL_FN std::int64_t offset(int k) const {
    std::int64_t found = 0;
    DSL_DETAIL_UNROLL
    for (int i = 0; i < Place::operands; ++i)
      if (i == k) found = place.offset[i];
    return found;
  }
  template <class Word>
  DSL_DETAIL_KERNEL_FN void load(const Word* corner, const std::int64_t* strides,
                                 std::uint64_t shared_offset) const {
    const tiling& t = place.args.tiles_of;
    const std::int64_t across = strides[0], down = strides[1];
    unsigned char* const tile = memory.shared() + static_cast<std::uint32_t>(shared_offset);
    if (down == 0) {  // A row that all rows share.
      Word* const to = reinterpret_cast<Word*>(tile);
      DSL_DETAIL_ROLLED
      for (int i = thread; i < place.width; i += block)
        memory.copy_async(to + i, corner + i * across);
      return;
    }
    // Adjacent threads read adjacent elements along the second dimension.
    const int threads = t.in_column.by,
              lines = static_cast<int>(t.in_column.divide(static_cast<std::uint32_t>(block)));
    const int first = static_cast<int>(t.in_column.divide(static_cast<std::uint32_t>(thread)));
    if (first >= lines) return;
    // Where rows have leads, groups may begin some columns before the tile.
    int begin = first, end = place.width;
    if constexpr (Place::has_leads) {
      if (place.row_begin < 0) begin -= t.leads.longest;
      if (end > t.width) end = t.width;
    }
    for (int j = thread - first * threads; j < place.height; j += threads) {
      const Word* from = corner + j * down + begin * across;
      Word* to =
          reinterpret_cast<Word*>(tile + j * tile_pitch(t.shared_columns, sizeof(Word))) + begin;
      for (int i = begin; i < end; i += lines, from += lines * across, to += lines)
        memory.copy_async(to, from);
    }
  }
};

/// A bit for each of at most 64 arrays that a program reads element by element, if an element has
/// 2^log2_size bytes.
constexpr std::uint64_t arrays_of_size(const program_view& p, int log2_size) {
  std::uint64_t found = 0;
  for (int i = 0; i < p.nodes; ++i) {
    const head h{p.heads[i]};
    if (h.code() == op::load && size_of(h.type()) == 1 << log2_size && p.payloads[i] < 64)
      found |= std::uint64_t{1} << p.payloads[i];
  }
  return found;
}

}  // namespace dsl::detail

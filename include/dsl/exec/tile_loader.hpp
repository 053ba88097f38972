// What a block brings into shared memory of a tile before its threads read it.
#pragma once

#include <dsl/exec/arguments.hpp>
#include <dsl/ir/evaluate.hpp>

namespace dsl::detail {

/// Starts a thread's share of the copies.
template <class Body>
struct tile_loader {
  const Body& body;
  int thread, block;

  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read() const {
    if constexpr (Code == op::load) load<memory_t<D>, N>();
  }

 private:
  template <class T, int K>
  DSL_DETAIL_KERNEL_FN void load() const {
    const tiling& t = body.args.tiles_of;
    const argument& a = body.args.operand[K];
    if (Body::template how_reached<K>(body.args) < in_tile) return;
    const std::int64_t across = body.args.strides[K][0], down = body.args.strides[K][1];
    unsigned char* const tile = body.memory.shared() + Body::tile_offset(a);
    const T* const corner = reinterpret_cast<const T*>(a.word) + body.offset[K];
    if (body.template is_row<K>()) {
      T* const to = reinterpret_cast<T*>(tile);
      DSL_DETAIL_ROLLED
      for (int i = thread; i < body.width; i += block) body.memory.copy_async(to + i, corner + i * across);
      return;
    }
    // Threads side by side read side by side along the second dimension.
    const int threads = t.in_column.by, lines = block / threads;
    const int first = static_cast<int>(t.in_column.divide(static_cast<std::uint32_t>(thread)));
    if (first >= lines) return;
    for (int j = thread - first * threads; j < body.height; j += threads) {
      const T* from = corner + j * down + first * across;
      T* to = reinterpret_cast<T*>(tile + j * tile_pitch(body.tile_width(), sizeof(T))) + first;
      for (int i = first; i < body.width; i += lines, from += lines * across, to += lines) body.memory.copy_async(to, from);
    }
  }
};

}  // namespace dsl::detail

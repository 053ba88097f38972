// Reductions of pairs: formulas of arrays each of which varies along one of two dimensions.
#pragma once

#include <dsl/exec/arguments.hpp>
#include <dsl/exec/lanes.hpp>
#include <dsl/ir/evaluate.hpp>

namespace dsl::detail {

/// Whether a pass can be one of pairs, wherever its arrays lie: it reduces what it computes of two arrays at least, and stores
/// nothing else.
constexpr bool may_pair(const pass_view& p) {
  int arrays = 0;
  for (int i = 0; i < p.elements.nodes; ++i) {
    const op code = head{p.elements.heads[i]}.code();
    if (code == op::neighbour) return false;
    arrays += code == op::load ? 1 : 0;
  }
  return p.reductions > 0 && !p.reduces_beside_arrays() && arrays >= 2;
}

/// Reads a group's inputs on its way along a row. Once: all but what is in shared memory. Then, for each place: what is, and what
/// is computed of the place.
template <class Body, bool Along>
struct pair_reader {
  const Body& body;
  typename Body::group& g;
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read() const {
    if constexpr (Code == op::load) {
      using T = memory_t<D>;
      const argument& a = body.args.operand[N];
      if (Along != (a.descriptor >= in_tile)) return;
      if constexpr (Along) {
        const auto* const row = reinterpret_cast<const T*>(body.memory.shared() + Body::tile_offset(a));
        const auto all = body.memory.template load<pack<T, Body::lanes>>(row + g.column);
        DSL_DETAIL_UNROLL
        for (int l = 0; l < Body::lanes; ++l) input_of<Head>(g.in[l]) = all.lane[l];
      } else {
        const T one = body.memory.template load<T>(reinterpret_cast<const T*>(a.word) + body.template place<N>(g));
        DSL_DETAIL_UNROLL
        for (int l = 0; l < Body::lanes; ++l) input_of<Head>(g.in[l]) = one;
      }
    } else if constexpr (Along == (Code == op::index || Code == op::address)) {
      body.template read<Code, D, N, Head>(g);
    }
  }
};

}  // namespace dsl::detail

// Reductions of pairs: formulas of arrays each of which varies along one of two dimensions.
#pragma once

#include <dsl/exec/arguments.hpp>
#include <dsl/exec/lanes.hpp>
#include <dsl/exec/reduction.hpp>

namespace dsl::detail {

/// Whether a pass can be one of pairs, wherever its arrays lie: it reduces what it computes of two arrays at least, and stores
/// nothing else.
constexpr bool may_pair(const pass_view& p) {
  int arrays = 0;
  for (int i = 0; i < p.elements.nodes; ++i) {
    const op code = head{p.elements.heads[i]}.code();
    if (is_placed(code)) return false;
    arrays += code == op::load ? 1 : 0;
  }
  return p.reductions > 0 && !p.reduces_beside_arrays() && arrays >= 2;
}

/// A row that a block's rows share is in shared memory at the place of its operand's number, which the kernel knows while it is
/// compiled, and takes no more bytes than that.
inline constexpr int pair_row_bytes = 2048;
/// Vectors of a row that a thread takes at a time.
inline constexpr int pair_vectors = 2;

/// The largest block that the kernel of a reduction is compiled for, or 0 for one that nvcc does not ask about. Of pairs of few
/// operands nvcc would take registers that it does not need (88, where 50 give the same instructions), unless 1024 threads have
/// to do with them.
template <class Pass>
constexpr int pair_block(bool strided) {
  constexpr pass_view p = Pass::view();
  constexpr int to_compute = 24, most = 56, short_formula = 64;
  if (!strided || !may_pair(p) || p.elements.nodes > short_formula) return 0;
  int bytes = 2 * static_cast<int>(sizeof(typename reductions_of<typename Pass::reductions>::accumulators));
  for (int i = 0; i < p.elements.nodes; ++i) {
    const head h{p.elements.heads[i]};
    if (h.code() == op::load) bytes += size_of(h.type());
  }
  return lanes_of_pass<Pass> * bytes / 4 + to_compute <= most ? 1024 : 0;
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
      if (Along != ((body.args.tiles_of.in_rows[N / 32] >> N % 32 & 1) != 0)) return;
      if constexpr (Along) {
        const auto* const row = reinterpret_cast<const T*>(body.memory.shared() + N * pair_row_bytes);
        operand_lanes<Head>(g).load(body.memory, row + g.column);
      } else {
        const T one = body.memory.template load<T>(reinterpret_cast<const T*>(a.word) + body.template place<N>(g));
        DSL_DETAIL_UNROLL
        for (int l = 0; l < Body::lanes; ++l) operand_lanes<Head>(g).set(l, one);
      }
    } else if constexpr (Along == (Code == op::index || Code == op::address)) {
      body.template read<Code, D, N, Head>(g);
    }
  }
};

/// Adds up a row of pairs from a column on, as far as there are whole vectors; gives the column that is left. What is the same
/// along the row is read once, the rest by vectors from shared memory. Each lane has a sum of its own.
template <class Body>
struct row_of_pairs {
  using accumulators = typename Body::accumulators;
  using reductions = typename Body::reductions;
  static constexpr int lanes = Body::lanes;

  DSL_DETAIL_KERNEL_FN static int reduce(const Body& body, int column, int row, accumulators& sum) {
    const int across = lanes << body.args.tiles_of.log2_columns;
    typename Body::group g;
    g.row = row;
    g.count = lanes;
    pair_reader<Body, false> once{body, g};
    Body::eval::read(once);
    accumulators of_lane[lanes];
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) of_lane[l] = reductions::identities();
    DSL_DETAIL_ROLLED
    for (; column + across + lanes <= body.width; column += pair_vectors * across) {
      DSL_DETAIL_UNROLL
      for (int u = 0; u < pair_vectors; ++u) {
        g.column = column + u * across;
        pair_reader<Body, true> along{body, g};
        Body::eval::read(along);
        const auto out = body.compute_read(g);
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) reductions::add(of_lane[l], reductions::of_element(out.of[l]));
      }
    }
    DSL_DETAIL_UNROLL
    for (int l = 1; l < lanes; ++l) reductions::add(of_lane[0], of_lane[l]);
    reductions::add(sum, of_lane[0]);
    return column;
  }
};

}  // namespace dsl::detail

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

/// Reads a group's inputs that are the same along a row, once.
template <class Body>
struct own_reader {
  const Body& body;
  typename Body::group& g;
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read() const {
    if constexpr (Code == op::load) {
      using T = memory_t<D>;
      const argument& a = body.args.operand[N];
      if (a.descriptor >= in_tile) return;
      const T one = body.memory.template load<T>(reinterpret_cast<const T*>(a.word) + body.template place<N>(g));
      DSL_DETAIL_UNROLL
      for (int l = 0; l < Body::lanes; ++l) operand_lanes<Head>(g).set(l, one);
    } else if constexpr (Code != op::index && Code != op::address) {
      body.template read<Code, D, N, Head>(g);
    }
  }
};

/// Reads those that are in shared memory, and what is computed of the place, as it goes along a row.
template <class Body>
struct row_reader {
  const Body& body;
  typename Body::group& g;
  std::uint32_t in_rows[2];
  const unsigned char* at[5];  // the place in the row of operand 0, of elements of 1, 2, 4, 8 and 16 bytes

  DSL_DETAIL_KERNEL_FN row_reader(const Body& b, typename Body::group& to) : body(b), g(to) {
    for (int k = 0; k < 2; ++k) in_rows[k] = body.args.tiles_of.in_rows[k];
    for (int k = 0; k < 5; ++k) at[k] = body.memory.shared() + (static_cast<std::size_t>(g.column) << k);
  }
  DSL_DETAIL_KERNEL_FN void advance(int columns) {
    g.column += columns;
    for (int k = 0; k < 5; ++k) at[k] += columns << k;
  }
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read() const {
    if constexpr (Code == op::load) {
      using T = memory_t<D>;
      constexpr int log2_size = __builtin_ctz(sizeof(T));
      if ((in_rows[N / 32] >> N % 32 & 1) != 0)
        operand_lanes<Head>(g).load(body.memory, reinterpret_cast<const T*>(at[log2_size] + N * pair_row_bytes));
    } else if constexpr (Code == op::index || Code == op::address) {
      body.template read<Code, D, N, Head>(g);
    }
  }
};

/// Adds up a row of pairs from a column on, as far as there are whole vectors of which no element is in doubt; gives the column
/// that is left. Each lane has a sum of its own.
template <class Body>
struct row_of_pairs {
  using accumulators = typename Body::accumulators;
  using reductions = typename Body::reductions;
  using eval = typename Body::eval;
  static constexpr int lanes = Body::lanes;
  static constexpr bool computes_quickly = eval::has_quick_forms && !eval::gathers;

  DSL_DETAIL_KERNEL_FN static int reduce(const Body& body, int column, int row, accumulators& sum) {
    const int across = lanes << body.args.tiles_of.log2_columns;
    typename Body::group g;
    g.column = column;
    g.row = row;
    g.count = lanes;
    own_reader<Body> once{body, g};
    eval::read(once);
    if constexpr (computes_quickly) {
      quick_range range;
      static_cast<void>(eval::compute_quickly(g.lane(0), range));
      if (range.strange) return column;
    }
    accumulators of_lane[lanes];
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) of_lane[l] = reductions::identities();
    row_reader<Body> along(body, g);
    DSL_DETAIL_ROLLED
    while (g.column + across + lanes <= body.width) {
      DSL_DETAIL_UNROLL
      for (int u = 0; u < pair_vectors; ++u) {
        eval::read(along);
        if (is_in_doubt(g)) return add(of_lane, g.column, sum);
        const auto out = compute(body, g);
        DSL_DETAIL_UNROLL
        for (int l = 0; l < lanes; ++l) reductions::add(of_lane[l], reductions::of_element(out.of[l]));
        along.advance(across);
      }
    }
    return add(of_lane, g.column, sum);
  }

 private:
  // What it computes is not computed again: but sums are fused with products that stand on this side of the branch alone.
  DSL_DETAIL_KERNEL_FN static bool is_in_doubt([[maybe_unused]] const typename Body::group& g) {
    quick_range range;
    if constexpr (computes_quickly) {
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) static_cast<void>(eval::compute_quickly(g.lane(l), range));
    }
    return range.in_doubt();
  }
  DSL_DETAIL_KERNEL_FN static auto compute(const Body& body, const typename Body::group& g) {
    if constexpr (computes_quickly) {
      quick_range range;
      typename Body::lane_results out;
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) out.of[l] = eval::compute_quickly(g.lane(l), range);
      return out;
    } else {
      return body.compute_read(g);
    }
  }
  DSL_DETAIL_KERNEL_FN static int add(const accumulators (&of_lane)[lanes], int column, accumulators& sum) {
    accumulators all = of_lane[0];
    DSL_DETAIL_UNROLL
    for (int l = 1; l < lanes; ++l) reductions::add(all, of_lane[l]);
    reductions::add(sum, all);
    return column;
  }
};

}  // namespace dsl::detail

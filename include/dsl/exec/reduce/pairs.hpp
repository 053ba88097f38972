// Reductions over pairs: formulas of arrays each of which varies along one of two dimensions.
#pragma once

#include <dsl/exec/access/lanes.hpp>
#include <dsl/exec/reduce/pair_sides.hpp>
#include <dsl/exec/reduce/reduction.hpp>
#include <dsl/exec/team/arguments.hpp>
#include <dsl/ir/cost.hpp>

namespace dsl::detail {

/// Whether a pass may be a reduction over pairs, depending on its arrays: it reduces values
/// computed from at least two arrays, and stores no elements.
constexpr bool may_pair(const pass_view& p) {
  int arrays = 0;
  for (int i = 0; i < p.elements.nodes; ++i) {
    const op code = head{p.elements.heads[i]}.code();
    if (is_placed(code)) return false;
    arrays += code == op::load ? 1 : 0;
  }
  return p.reductions > 0 && !p.reduces_beside_arrays() && arrays >= 2;
}

/// A row that all of a block's rows share is in shared memory at an offset given by its operand's
/// number, known at compile time; this is its maximum size.
inline constexpr int pair_row_bytes = 2048;
/// Vectors of a row that a thread takes at a time, if the arrays in rows are known at compile time.
inline constexpr int pair_vectors = 2;

/// Reads once a group's inputs that are constant along a row.
template <class Body, class Sides>
struct own_reader {
  const Body& body;
  typename Body::group& g;
  const Sides& sides;
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read() const {
    if constexpr (Code == op::load) {
      using T = memory_t<D>;
      if (sides.template is_in_row<N>()) return;
      const T* const from =
          reinterpret_cast<const T*>(body.args.operand[N].word) + body.place(N, g);
      const T one = body.memory.template load<T>(from);
      DSL_DETAIL_UNROLL
      for (int l = 0; l < Body::lanes; ++l) operand_lanes<Head>(g).set(l, one);
    } else if constexpr (Code != op::index && Code != op::address) {
      body.template read<Code, D, N, Head>(g);
    }
  }
};

/// Reads inputs that are in shared memory or computed from the position.
template <class Body, class Sides>
struct row_reader {
  const Body& body;
  typename Body::group& g;
  const Sides& sides;
  // The position in operand 0's row, for elements of 1, 2, 4, 8 and 16 bytes.
  const unsigned char* at[5];

  DSL_DETAIL_KERNEL_FN row_reader(const Body& b, typename Body::group& to, const Sides& s)
      : body(b), g(to), sides(s) {
    for (int k = 0; k < 5; ++k)
      at[k] = body.memory.shared() + (static_cast<std::size_t>(g.column) << k);
  }
  DSL_DETAIL_KERNEL_FN void advance(int columns) {
    g.column += columns;
    for (int k = 0; k < 5; ++k) at[k] += columns << k;
  }
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read() const {
    if constexpr (Code == op::load) {
      using T = memory_t<D>;
      if (sides.template is_in_row<N>())
        operand_lanes<Head>(g).load(
            body.memory,
            reinterpret_cast<const T*>(body.memory.shared() + N * pair_row_bytes) + g.column);
    } else if constexpr (Code == op::index || Code == op::address) {
      body.template read<Code, D, N, Head>(g);
    }
  }
};

/// Reduces a row of pairs from a column on, in whole vectors, with an accumulator for each lane;
/// returns the first column that is left. If an element is in doubt, that is the column passed in.
template <class Body>
struct row_of_pairs {
  using accumulators = typename Body::accumulators;
  using reductions = typename Body::reductions;
  using eval = typename Body::eval;
  static constexpr int lanes = Body::lanes;
  static constexpr bool computes_quickly = eval::quick_forms > 0 && !eval::gathers;
  static constexpr likely_sides likely = likely_sides_of<typename Body::program>();

  DSL_DETAIL_KERNEL_FN static int reduce(const Body& body, int column, int row, accumulators& sum) {
    if constexpr (computes_quickly) {
      typename Body::group g;
      typename Body::template reader<false, true> scalars{body, g};
      eval::read(scalars);
      shared_range shared;
      static_cast<void>(eval::compute_quickly(g.lane(0), shared));
      if (shared.in_doubt) return column;
      if constexpr (eval::divides_shared) {
        if (shared.all_one) return reduce_in_range<quick_range<true>>(body, column, row, sum);
      }
    }
    return reduce_in_range<quick_range<false>>(body, column, row, sum);
  }

 private:
  template <class Range>
  DSL_DETAIL_KERNEL_FN static int reduce_in_range(const Body& body, int column, int row,
                                                  accumulators& sum) {
    const any_sides sides{body.args.tiles_of.in_rows};
    constexpr bool is_worth_loops = instructions_of(Body::program::view()) >= 12;
    if constexpr (likely.in_rows != 0 && is_worth_loops) {
      if (sides.in_rows == likely.in_rows)
        return along_row<Range, pair_vectors>(body, column, row, sum,
                                              known_sides<likely.in_rows>{});
      if (sides.in_rows == likely.alternative_in_rows)
        return along_row<Range, pair_vectors>(body, column, row, sum,
                                              known_sides<likely.alternative_in_rows>{});
    }
    return along_row<Range, 1>(body, column, row, sum, sides);
  }
  template <class Range, int Vectors, class Sides>
  DSL_DETAIL_KERNEL_FN static int along_row(const Body& body, int column, int row,
                                            accumulators& sum, const Sides& sides) {
    const int across = lanes << body.args.tiles_of.log2_columns;
    typename Body::group g;
    g.column = column;
    g.row = row;
    g.count = lanes;
    own_reader<Body, Sides> own{body, g, sides};
    eval::read(own);
    accumulators of_lane[lanes];
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) of_lane[l] = reductions::identities();
    Range range;
    row_reader<Body, Sides> along(body, g, sides);
    const auto take = [&] {
      eval::read(along);
      const auto out = compute(body, g, range);
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l)
        reductions::add(of_lane[l], reductions::of_element(out.of[l]));
      along.advance(across);
    };
    DSL_DETAIL_ROLLED
    while (g.column + (Vectors - 1) * across + lanes <= body.width) {
      DSL_DETAIL_UNROLL
      for (int u = 0; u < Vectors; ++u) take();
    }
    if (Vectors > 1 && g.column + lanes <= body.width) take();
    if (computes_quickly && range.in_doubt()) return column;
    DSL_DETAIL_UNROLL
    for (int l = 1; l < lanes; ++l) reductions::add(of_lane[0], of_lane[l]);
    reductions::add(sum, of_lane[0]);
    return g.column;
  }
  template <class Range>
  DSL_DETAIL_KERNEL_FN static auto compute(const Body& body, const typename Body::group& g,
                                           [[maybe_unused]] Range& range) {
    if constexpr (computes_quickly) {
      typename Body::lane_results out;
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) out.of[l] = eval::compute_quickly(g.lane(l), range);
      return out;
    } else {
      return body.compute_read(g);
    }
  }
};

}  // namespace dsl::detail

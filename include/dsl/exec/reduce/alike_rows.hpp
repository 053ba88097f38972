// Reductions of rows of which each thread has the same lanes.
#pragma once

#include <dsl/exec/access/operand_access.hpp>

namespace dsl::detail {

/// Whether a kernel may reduce rows of which each thread has the same lanes
/// (`tiling::has_alike_rows`).
template <class Body> inline constexpr bool may_have_alike_rows =
    Body::strided && Body::lanes <= 8 && arrays_read_in_place<typename Body::eval> >= 0 &&
    !Body::pass::view().reduces_beside_arrays();
/// And whether it reads several of them together if they are shorter than a group. More arrays or
/// lanes would take more registers.
template <class Body> inline constexpr bool may_have_short_rows =
    may_have_alike_rows<Body> && Body::ahead > 1 && Body::lanes <= 4 &&
    arrays_read_in_place<typename Body::eval> == 1 && sizeof(typename Body::accumulators) <= 8;

/// Reads a group of such a row, of at most `Most` lanes.
template <class Body, int Most>
struct alike_row_reader {
  const Body& body;
  typename Body::group& g;
  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read() {
    using T = memory_t<D>;
    if constexpr (Code == op::load) {
      const T* const first = reinterpret_cast<const T*>(body.args.operand[N].word);
      body.template load_adjacent<Most>(N, g.count, first + body.place(N, g),
                                        operand_lanes<Head>(g));
    } else {
      body.template read<Code, D, N, Head>(g);
    }
  }
};

/// Reduces the rows of a thread in the entered tile: each row of threads has one row at a time.
template <class Body>
struct alike_rows {
  using group = typename Body::group;
  static constexpr int ahead = Body::ahead, lanes = Body::lanes;
  Body& body;
  int column;  // The thread's first one.
  typename Body::accumulators* sums;

  DSL_DETAIL_KERNEL_FN void reduce(int first_row) {
    if (column >= body.width) return;
    const int rows = body.args.tiles_of.rows, height = body.height;
    DSL_DETAIL_ROLLED
    for (int row = first_row; row < height; row += ahead * rows) {
      if constexpr (may_have_short_rows<Body>) {
        if (body.width < lanes && row + (ahead - 1) * rows < height) {
          reduce_together<ahead, lanes - 1>(row, 0);
          continue;
        }
      }
      DSL_DETAIL_ROLLED
      for (int u = 0; u < ahead && row + u * rows < height; ++u)
        reduce_together<1, lanes>(row + u * rows, u);
    }
  }

 private:
  // Several rows, of at most `Most` lanes: from `row` on, which adds to the accumulators of
  // `number`.
  template <int Rows, int Most>
  DSL_DETAIL_KERNEL_FN void reduce_together(int row, int number) {
    group g[Rows];
    DSL_DETAIL_UNROLL
    for (int u = 0; u < Rows; ++u) {
      g[u].column = column;
      g[u].row = row;
      g[u].further = u;
      g[u].count = body.width - column < Most ? body.width - column : Most;
      alike_row_reader<Body, Most> from{body, g[u]};
      Body::eval::read(from);
    }
    DSL_DETAIL_UNROLL
    for (int u = 0; u < Rows; ++u) body.add_group(g[u], body.compute_read(g[u]), sums, number + u);
  }
};

}  // namespace dsl::detail

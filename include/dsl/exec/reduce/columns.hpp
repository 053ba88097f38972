// Reductions down columns of rows that begin anywhere.
#pragma once

#include <dsl/exec/reduce/reduction.hpp>

namespace dsl::detail {

/// Moves accumulators from the lanes that read a column to those that give its result. Threads side
/// by side, a part of a warp, read rows in whole vectors, so that a thread's lanes are up to a
/// vector before its columns (`tile_leads`). `Body` is a kernel_body. Called by all threads.
template <class Body, class Team>
DSL_DETAIL_KERNEL_FN void align_columns(const Body& body, typename Body::accumulators* sums,
                                        const Team& team) {
  if constexpr (Body::reads_beyond) {
    if (!body.are_columns_moved()) return;
    using reductions = typename Body::reductions;
    const int by = body.moved_lanes(team.thread());
    DSL_DETAIL_ROLLED
    for (int k = 0; k + 1 < Body::lanes; ++k) {
      const auto next = next_of_warp<reductions>(sums[0], team);
      if (k >= by) continue;
      DSL_DETAIL_UNROLL
      for (int l = 0; l + 1 < Body::lanes; ++l) sums[l] = sums[l + 1];
      sums[Body::lanes - 1] = next;
    }
  }
}

}  // namespace dsl::detail

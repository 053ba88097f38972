#include "exec/run/tiling.hpp"

#include <algorithm>

#include "exec/plan/layout.hpp"

namespace dsl::detail {

tiling tile_of(const geometry& g, int threads, int lanes) {
  tiling t{};
  t.extents[0] = g.extents[g.rank - 1];
  t.extents[1] = g.rank > 1 ? g.extents[g.rank - 2] : 1;
  while ((1 << t.log2_columns) < threads && (std::int64_t{lanes} << t.log2_columns) < t.extents[0])
    ++t.log2_columns;
  t.rows = t.height = threads >> t.log2_columns;
  t.width = lanes << t.log2_columns;
  t.outer_rank = std::max(0, g.rank - 2);
  return t;
}

std::int64_t cover(tiling& t, const geometry& g) {
  t.across = divisor::of(pieces(t.extents[0], t.width));
  t.down = divisor::of(pieces(t.extents[1], t.height));
  t.in_column = divisor::of(1);
  t.dimension_of_axis = dimensions_of_axes(g);
  std::int64_t count = static_cast<std::int64_t>(t.across.by) * t.down.by;
  for (int d = 0; d < t.outer_rank; ++d) {
    const std::int64_t extent = g.extents[g.rank - 3 - d];
    t.outer[d] = divisor::of(extent);
    count *= extent;
  }
  return count;
}

}  // namespace dsl::detail

#include "exec/reduce/pairs.hpp"

#include <algorithm>

#include <dsl/exec/reduce/pairs.hpp>

#include "exec/plan/layout.hpp"

namespace dsl::detail {

namespace {

// How much of the device is busy while blocks come, as many at once as are resident.
double busy(std::int64_t blocks, std::int64_t resident) {
  return static_cast<double>(blocks) /
         static_cast<double>(std::max<std::int64_t>(1, pieces(blocks, resident)) * resident);
}
constexpr double busy_enough = 0.9;

}  // namespace

bool plan_pairs(reduction_plan& p, const geometry& g, const operand* inputs, int count,
                int multiprocessors, int most_threads, const launch& fixed) {
  constexpr int least_rows = 16, least_spans = 8;
  constexpr std::int64_t least_pairs = 256;  // a thread's, to be worth a larger block
  while (fixed.block == 0 && 2 * p.block <= most_threads && p.blocks_per_multiprocessor % 2 == 0 &&
         g.elements >= least_pairs * multiprocessors * 2 * p.block) {
    p.block *= 2;
    p.blocks_per_multiprocessor /= 2;
  }
  const std::int64_t resident =
      fixed.grid > 0 ? fixed.grid
                     : static_cast<std::int64_t>(multiprocessors) * p.blocks_per_multiprocessor;
  int widest = 0;
  int shared_bytes = 0;
  for (int k = 0; k < count; ++k) {
    if (g.layouts[k].how != access::row) continue;
    widest = std::max(widest, size_of(inputs[k].type));
    shared_bytes = (k + 1) * pair_row_bytes;
  }
  const std::int64_t inner = g.extents[g.rank - 1];
  const std::int64_t second = g.extents[g.rank - 2];
  int rows = p.block;
  while (rows > least_rows &&
         static_cast<double>(second) < 0.9 * static_cast<double>(pieces(second, rows) * rows))
    rows /= 2;
  const int columns = p.block / rows;
  const int span = columns * p.lanes;
  const int most = pair_row_bytes / (widest * span);
  if (most == 0 || shared_bytes > p.policy.tile_memory) return false;
  std::int64_t kept_around = 1;
  std::int64_t reduced_around = 1;
  for (int d = 0; d < g.rank - 2; ++d)
    ((g.kept >> d & 1) != 0 ? kept_around : reduced_around) *= g.extents[d];
  const bool rows_kept = (g.kept >> (g.rank - 2) & 1) != 0;
  const std::int64_t row_tiles = pieces(second, rows);
  const std::int64_t spans = pieces(inner, span);
  p.groups = kept_around * (rows_kept ? row_tiles : 1);
  const std::int64_t tiles_of_span = reduced_around * (rows_kept ? 1 : row_tiles);
  const std::int64_t all = spans * tiles_of_span;
  const std::int64_t most_splits = std::max<std::int64_t>(1, all / least_spans);
  std::int64_t splits =
      std::clamp<std::int64_t>(resident / std::max<std::int64_t>(p.groups, 1), 1, most_splits);
  if (fixed.grid == 0) {
    const std::int64_t first = splits;
    for (std::int64_t s = first;
         s < std::min(most_splits, first + 8) && busy(p.groups * splits, resident) < busy_enough;
         ++s)
      if (busy(p.groups * s, resident) > busy(p.groups * splits, resident)) splits = s;
  }
  // Pieces so long that the blocks of a result have equally many.
  const auto tiles_by = [&](std::int64_t steps) { return pieces(spans, steps) * tiles_of_span; };
  std::int64_t steps = std::min<std::int64_t>(most, spans);
  for (std::int64_t s = steps; s >= pieces(steps, 4) && busy(tiles_by(steps), splits) < busy_enough;
       --s)
    if (busy(tiles_by(s), splits) > busy(tiles_by(steps), splits)) steps = s;
  steps = pieces(spans, pieces(spans, steps));
  p.path = "pairs";
  p.tile = {columns, rows, static_cast<int>(steps * span), rows, shared_bytes, tiles_by(steps)};
  p.splits = static_cast<int>(std::min(p.tile.count, splits));
  p.distance = 1;
  p.threads_a_result = rows_kept ? columns : p.block;
  return true;
}

}  // namespace dsl::detail

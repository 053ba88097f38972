#include "exec/reduce/along_axes.hpp"

#include <algorithm>

#include "exec/plan/layout.hpp"
#include "exec/plan/row_leads.hpp"

namespace dsl::detail {

namespace {

// The columns whose results `threads` side by side give. Where rows begin anywhere, one thread
// reads what the others' groups have before these columns.
std::int64_t width_down(const geometry& g, int threads, int lanes) {
  return std::int64_t{threads - (g.leads.lanes > 0 ? 1 : 0)} * lanes;
}

// The number of threads side by side that reduce down columns: a power of two, at most `most`. With
// fewer, fewer lie beyond the row's end. But each row of threads reads a shorter piece of memory,
// and a piece that begins anywhere takes one sector of 32 bytes more.
int columns_down(const geometry& g, int lanes, int most) {
  constexpr int thread_bytes = 16, sector = 32, least = 4;
  const std::int64_t inner = g.extents[g.rank - 1];
  int best = most;
  double most_used = 0;
  for (int columns = most; columns >= least; columns /= 2) {
    const std::int64_t width = width_down(g, columns, lanes);
    const double bytes = columns * thread_bytes;
    const double used = static_cast<double>(inner) /
                        static_cast<double>(pieces(inner, width) * columns * lanes) * bytes /
                        (bytes + sector);
    if (used <= most_used) continue;
    best = columns;
    most_used = used;
  }
  return best;
}

// The number of threads that share a row that they reduce: a power of two, at most `most`. With
// fewer, fewer take part in combining the row's accumulators, which pays the more the wider these
// are. `are_enough(columns)`: whether so few leave enough blocks.
template <class AreEnough>
int columns_of_row(const geometry& g, const operand* operands, int count, int lanes, bool wide,
                   int most, const AreEnough& are_enough) {
  constexpr int least = 2;
  const std::int64_t vectors = pieces(row_with_lead(g), lanes);
  const bool has_leads = g.leads.lanes > 0;
  bool whole = !has_leads, apart = false;
  for (int k = 0; k < count; ++k) {
    if (operands[k].kind != operand_kind::array) continue;
    const std::int64_t step = g.layouts[k].strides[g.rank - 1];
    whole = whole && (step == 0 || g.layouts[k].how == access::wide);
    apart = apart || (step != 0 && step != 1);
  }
  // Rows of few vectors, and steps that leave few threads idle.
  const int few = whole ? (wide ? 5 : 8) : has_leads ? 6 : 5;
  if (vectors < few || (whole && !wide && vectors == most) ||
      (apart && vectors <= most && vectors * 4 >= most * 3))
    return most;
  // Vectors that are not read ahead together cost more: those at the ends of a row that begins
  // anywhere.
  const int vectors_a_thread = (whole ? 4 : lanes + 2) * (wide ? 4 : 1);
  int columns = most;
  while (columns > least && std::int64_t{columns} * vectors_a_thread > vectors &&
         are_enough(columns / 2))
    columns /= 2;
  return columns;
}

}  // namespace

void plan_along_axes(reduction_plan& p, const geometry& g, const operand* operands, int count,
                     int accumulator_bytes, std::int64_t resident, bool block_is_fixed) {
  tile_plan& t = p.tile;
  const int ahead = p.policy.strided_vectors_ahead;
  // Blocks that keep the memory busy, where threads load vectors ahead.
  const std::int64_t busy = ahead >= 4 ? resident / 2 : resident;
  const int last = g.rank - 1;
  const bool columns_kept = (g.kept >> last & 1) != 0;
  const std::int64_t inner = row_with_lead(g);
  const std::int64_t second = g.extents[last - 1];
  const int across = power_of_two_from(pieces(inner, p.lanes), 1024);
  const int down = power_of_two_from(second, 1024);
  while (!block_is_fixed && p.block > p.policy.least_block &&
         p.block > static_cast<std::int64_t>(across) * down)
    p.block /= 2;
  std::int64_t kept_around = 1;
  std::int64_t reduced_around = 1;
  for (int d = 0; d < last - 1; ++d)
    ((g.kept >> d & 1) != 0 ? kept_around : reduced_around) *= g.extents[d];

  // A warp reads 512 contiguous bytes at most. If there are enough columns, each thread has its
  // own.
  constexpr int warp = 32;
  t.columns = columns_with_leads(g, std::min({p.block, across, warp}), p.lanes, p.block);
  if (columns_kept) {
    t.columns = columns_down(g, p.lanes, t.columns);
    // Where rows begin anywhere, threads side by side exchange accumulators within a warp.
    if (g.leads.lanes == 0)
      t.columns = std::min(p.block, std::max(t.columns, std::min(across, p.block / down)));
    while (g.leads.lanes == 0 && 2 * t.columns <= std::min(p.block, across) &&
           kept_around * pieces(inner, 2LL * t.columns * p.lanes) >= busy)
      t.columns *= 2;
  } else {
    t.columns = columns_of_row(
        g, operands, count, p.lanes, accumulator_bytes > 8, t.columns,
        [&](int columns) { return kept_around * pieces(second, p.block / columns) >= busy; });
  }
  t.rows = p.block / t.columns;
  p.distance = columns_kept ? t.columns : 1;
  p.threads_a_result = columns_kept ? t.rows : t.columns;
  const std::int64_t span = columns_kept ? t.rows : t.columns * p.lanes;
  const std::int64_t spans = pieces(columns_kept ? second : inner, span);
  const std::int64_t all = spans * reduced_around;
  p.results_a_thread = columns_kept ? p.lanes : 1;
  // Rows that a thread reads at once: each thread takes several of them if there are many.
  if (!columns_kept && all == 1 &&
      kept_around * pieces(second, static_cast<std::int64_t>(t.rows) * ahead) >= busy)
    p.results_a_thread = ahead;
  const std::int64_t rows =
      static_cast<std::int64_t>(t.rows) * (columns_kept ? 1 : p.results_a_thread);
  const std::int64_t width = width_down(g, t.columns, p.lanes);
  p.groups = kept_around * (columns_kept ? pieces(g.extents[last], width) : pieces(second, rows));
  // Each block leaves a partial result. More blocks than keep the memory busy pay if each has many
  // spans, and if a block does more than load vectors and add them.
  constexpr std::int64_t many_spans = 32;
  const std::int64_t groups = std::max<std::int64_t>(p.groups, 1);
  std::int64_t splits = busy / groups;
  if (accumulator_bytes > 4 || !are_in_vectors(operands, g, count))
    splits = std::max(splits, std::min(resident / groups, all / many_spans));
  const std::int64_t least_spans = ahead >= 4 ? 2 : 1;
  splits = std::clamp<std::int64_t>(splits, 1, std::max<std::int64_t>(1, all / least_spans));
  // A tile's extents have 32 bits.
  constexpr std::int64_t longest = 1 << 30;
  const std::int64_t steps = std::clamp<std::int64_t>(
      pieces(all, splits), 1, std::max<std::int64_t>(1, std::min(spans, longest / span)));
  t.width = static_cast<int>(columns_kept ? width : span * steps);
  t.height = static_cast<int>(columns_kept ? span * steps : rows);
  t.count = pieces(spans, steps) * reduced_around;
  p.splits = static_cast<int>(std::clamp<std::int64_t>(t.count, 1, splits));
}

}  // namespace dsl::detail

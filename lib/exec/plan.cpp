#include <dsl/exec/plan.hpp>

#include <algorithm>
#include <cstdio>

#include "exec/executor.hpp"
#include "exec/layout.hpp"
#include "exec/text.hpp"

namespace dsl {

text plan::describe() const {
  char line[160];
  std::string all;
  const auto add = [&](const char* format, auto... values) {
    std::snprintf(line, sizeof line, format, values...);
    all += line;
  };
  add("%s, %s, %lld elements", where.name().c_str(), path, static_cast<long long>(elements));
  all += detail::executor::of(where).describe(*this);
  add(", %d flops and %d + %d bytes an element", per_element.flops, per_element.load_bytes, per_element.store_bytes);
  return text(all.c_str());
}

namespace detail {

namespace {

int power_of_two_from(std::int64_t n, int most) {
  int p = 1;
  while (p < n && p < most) p *= 2;
  return p;
}

// The largest power of two that divides a block, as the number of threads in a row; no more than a row needs.
int columns_of(std::int64_t inner, int lanes, int block) {
  int columns = 1;
  while (columns * static_cast<std::int64_t>(lanes) < inner && block % (2 * columns) == 0) columns *= 2;
  return columns;
}

// Square tiles of at least a cache line in both directions, for as many operands as find room in the shared memory that every
// kernel may use. The others are read element by element.
void plan_transposing(plan& p, const geometry& g, const operand* inputs, int count) {
  constexpr int shared_memory = 48 << 10;
  int narrowest = 16;
  for (int k = 0; k < count; ++k)
    if (g.walks[k].how == access::tiled) narrowest = std::min(narrowest, size_of(inputs[k].type));
  const int side = narrowest >= 8 ? 32 : narrowest >= 2 ? 64 : 128;
  if (p.block % (side / p.lanes) != 0) return;
  const int columns = side / p.lanes, rows = p.block / columns, steps = std::max(1, side / rows);
  int bytes = 0;
  for (int k = 0; k < count; ++k) {
    const int tile = g.walks[k].how == access::tiled ? tile_bytes(side, rows * steps, size_of(inputs[k].type)) : 0;
    if (bytes + tile <= shared_memory) bytes += tile;
  }
  if (bytes > 0) p.path = "transposing", p.tile_bytes = bytes, p.columns = columns, p.rows = rows, p.width = side, p.height = rows * steps;
}

// The index space in tiles that blocks take one by one.
void plan_tiles(plan& p, const geometry& g, const operand* inputs, int input_count, int ahead, int multiprocessors) {
  if (g.linear) {
    p.tiles = pieces(g.elements, static_cast<std::int64_t>(p.block) * p.lanes * ahead);
    return;
  }
  const std::int64_t inner = g.extents[g.rank - 1], second = g.rank > 1 ? g.extents[g.rank - 2] : 1;
  p.columns = columns_of(inner, p.lanes, p.block), p.rows = p.block / p.columns;
  p.width = p.columns * p.lanes, p.height = p.rows, p.tile_bytes = 0;
  std::int64_t around = 1;
  for (int d = 0; d < g.rank - 2; ++d) around *= g.extents[d];
  const auto count = [&] { return around * pieces(inner, p.width) * pieces(second, p.height); };
  // Finding the tile's place costs about as much as a row: several rows a thread, where there is work for all.
  constexpr int rows_a_thread = 4;
  if (count() >= 8LL * rows_a_thread * multiprocessors) p.height *= rows_a_thread;
  if (g.rank > 1) plan_transposing(p, g, inputs, input_count);
  p.tiles = count();
}

// Reductions that keep some dimensions. Where the innermost one is reduced, rows of threads make one result each; where it is kept,
// columns of threads do. A tile is as long in the reduced dimension as leaves work for all multiprocessors.
void plan_kept(plan& p, const geometry& g, const pass_traits& pass, std::int64_t resident, bool block_is_fixed) {
  const int last = g.rank - 1;
  const bool columns_kept = (g.kept >> last & 1) != 0;
  const std::int64_t inner = g.extents[last], second = g.extents[last - 1];
  const int across = power_of_two_from(pieces(inner, p.lanes), 1024), down = power_of_two_from(second, 1024);
  while (!block_is_fixed && p.block > 64 && p.block > static_cast<std::int64_t>(across) * down) p.block /= 2;
  std::int64_t kept_around = 1, walked_around = 1;
  for (int d = 0; d < last - 1; ++d) ((g.kept >> d & 1) != 0 ? kept_around : walked_around) *= g.extents[d];

  // A warp reads 512 bytes side by side, or a whole row if that is shorter. Where there are columns enough, each thread has its own.
  constexpr int warp = 32;
  p.columns = std::min({p.block, across, warp});
  if (columns_kept) {
    p.columns = std::min(p.block, std::max(p.columns, std::min(across, p.block / down)));
    while (2 * p.columns <= std::min(p.block, across) && kept_around * pieces(inner, 2LL * p.columns * p.lanes) >= resident) p.columns *= 2;
  }
  p.rows = p.block / p.columns;
  p.distance = columns_kept ? p.columns : 1, p.parts = columns_kept ? p.rows : p.columns;
  const std::int64_t span = columns_kept ? p.rows : p.columns * p.lanes, walked = columns_kept ? second : inner;
  const std::int64_t spans = pieces(walked, span), all = spans * walked_around;
  p.slots = columns_kept ? p.lanes : 1;
  // Rows that a thread reads at once are several at a time, where there are many.
  if (!columns_kept && all == 1 && kept_around * pieces(second, static_cast<std::int64_t>(p.rows) * pass.ahead[1]) >= resident) p.slots = pass.ahead[1];
  const std::int64_t rows = static_cast<std::int64_t>(p.rows) * (columns_kept ? 1 : p.slots);
  p.groups = kept_around * (columns_kept ? pieces(inner, p.columns * p.lanes) : pieces(second, rows));
  const std::int64_t splits = std::clamp<std::int64_t>(resident / std::max<std::int64_t>(p.groups, 1), 1, std::max<std::int64_t>(all, 1));
  constexpr std::int64_t longest = 1 << 30;  // a tile's extents are counted in 32 bits
  const std::int64_t steps = std::clamp<std::int64_t>(pieces(all, splits), 1, std::max<std::int64_t>(1, std::min(spans, longest / span)));
  p.width = static_cast<int>(columns_kept ? p.columns * p.lanes : span * steps);
  p.height = static_cast<int>(columns_kept ? span * steps : rows);
  p.tiles = pieces(spans, steps) * walked_around;
  p.splits = static_cast<int>(std::clamp<std::int64_t>(p.tiles, 1, splits));
}

}  // namespace

void require_grid(const launch& fixed, std::int64_t grid, const pass_view& pass) {
  if (fixed.grid < 0 || (fixed.grid > 0 && fixed.grid < grid))
    raise<device_error>("at most " + std::to_string(fixed.grid) + " blocks were asked for; this kernel takes " + std::to_string(grid) + ": " + spell_pass(pass));
}

plan make_plan(const geometry& g, const operand* inputs, int input_count, const pass_traits& pass, const kernel_attributes& attributes,
               const launch& fixed) {
  plan p;
  p.where = g.where, p.path = g.linear ? "linear" : "strided";
  p.elements = g.elements, p.lanes = pass.lanes;
  const device_properties& device = properties(g.where);
  const bool folds = pass.view.folds > 0;
  const int most = attributes.max_block > 0 ? attributes.max_block : 1024;
  const bool fits = fixed.block % 32 == 0 && (!folds || (fixed.block & (fixed.block - 1)) == 0);
  if (fixed.block < 0 || !fits || fixed.block > most)
    raise<device_error>("a block of " + std::to_string(fixed.block) + " threads was asked for; this kernel takes " +
                        (folds ? "powers of two from 32" : "multiples of 32") + " up to " + std::to_string(most) + ": " + spell_pass(pass.view));
  p.block = fixed.block != 0 ? fixed.block : default_block;
  p.registers = attributes.registers;
  p.blocks_per_multiprocessor = attributes.blocks_per_multiprocessor > 0 ? attributes.blocks_per_multiprocessor
                                                                         : device.threads_per_multiprocessor / p.block;
  // Blocks of a kernel that reduces that are on the device at once. What is written beside a reduction comes out faster with half of
  // the threads that fit (docs/performance.md).
  const auto resident = [&]() -> std::int64_t {
    if (fixed.grid > 0) return fixed.grid;
    const int threads = pass.view.folds_beside_arrays() ? device.threads_per_multiprocessor / 2 : device.threads_per_multiprocessor;
    return static_cast<std::int64_t>(device.multiprocessors) * std::max(1, std::min(p.blocks_per_multiprocessor, threads / p.block));
  };
  if (g.kept != 0) {
    plan_kept(p, g, pass, resident() / (pass.ahead[1] >= 4 ? 2 : 1), fixed.block != 0);
    p.grid = p.groups * p.splits;
  } else {
    const auto cut = [&] { plan_tiles(p, g, inputs, input_count, pass.ahead[0], device.multiprocessors); };
    cut();
    // A small job is spread over more multiprocessors by smaller blocks.
    while (fixed.block == 0 && p.block > 64 && p.tiles < device.multiprocessors) p.block /= 2, cut();
    p.grid = p.tiles;
    if (folds) p.grid = std::max<std::int64_t>(1, std::min(p.tiles, resident())), p.splits = static_cast<int>(p.grid), p.parts = p.block;
  }
  p.shared_bytes = std::max(p.tile_bytes, p.parts > 1 && p.block > 32 ? p.block * pass.state_bytes : 0);
  require_grid(fixed, p.grid, pass.view);
  if (std::max(p.tiles, p.grid) > 0x7fffffff)
    raise<shape_error>(std::to_string(g.elements) + " elements need more blocks than a grid has: " + spell_pass(pass.view));
  return p;
}

}  // namespace detail
}  // namespace dsl

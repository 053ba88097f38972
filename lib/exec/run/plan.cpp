#include <dsl/exec/plan/plan.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "exec/plan/layout.hpp"
#include "exec/plan/row_leads.hpp"
#include "exec/plan/text.hpp"
#include "exec/reduce/along_axes.hpp"
#include "exec/reduce/pairs.hpp"
#include "exec/run/executor.hpp"
#include "exec/run/shares.hpp"
#include "exec/stencil/halos.hpp"
#include "exec/stencil/patches.hpp"

namespace dsl {

namespace {

// Whether the plan is one of a kernel on blocks of threads.
bool has_kernel(const plan& p) { return p.blocks_per_multiprocessor > 0; }

}  // namespace

namespace detail {

std::string spell_rows(const row_plan& p) {
  const auto count = [](std::int64_t n, const std::string& what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  std::string s = count(p.rows, "row") + " of " + count(p.row, "element");
  if (!has_kernel(p)) return s + ", a block of rows at a time in the cache";
  s += " on chip: ";
  s += p.blocks_a_row > 1
           ? count(p.blocks_a_row, "block") + (p.in_cluster ? ", a cluster, a row, " : " a row, ")
           : "";
  s += count(p.threads_a_row, "thread") + (p.blocks_a_row > 1 ? " of each, " : " a row, ");
  if (p.rows_a_block > 1) s += std::to_string(p.rows_a_block) + " rows a block, ";
  s += count(p.vectors, "vector") + " of " + std::to_string(p.lanes) + " a thread in " +
       (p.in_registers ? "registers" : "shared memory");
  return s;
}

}  // namespace detail

namespace {

// A text that is built piece by piece; it is cut when it is full.
class line {
 public:
  template <class... Values>
  void add(const char* format, Values... values) {
    const int room = static_cast<int>(sizeof text_) - length_;
    const int wanted =
        std::snprintf(text_ + length_, static_cast<std::size_t>(room), format, values...);
    length_ += std::min(wanted, room - 1);
  }
  text done() const { return text(text_); }

 private:
  char text_[800] = "";
  int length_ = 0;
};

long long number(std::int64_t n) { return static_cast<long long>(n); }

void add_launch(line& to, const plan& p) {
  to.add("%s, %s, %lld elements", p.where.name().c_str(), p.path, number(p.elements));
  to.add(", %s", detail::executor::of(p.where).describe_launch(p).c_str());
}
void add_tile(line& to, const tile_plan& t) {
  if (t.columns == 0) return;
  to.add(", %d x %d threads on tiles of ", t.rows, t.columns);
  if (t.planes > 1) to.add("%d x ", t.planes);
  to.add("%d x %d", t.height, t.width);
  if (t.halos > 0)
    to.add(", what lies around them of %d %s in shared memory", t.halos,
           t.halos > 1 ? "arrays" : "array");
  if (t.patch_rows == 0) return;
  to.add(", neighbours of ");
  if (t.planes > 1) to.add("%d x ", t.planes);
  to.add("%d x %d elements a thread in registers", t.patch_rows, t.width / t.columns);
}
void add_kernel(line& to, const plan& p) {
  if (p.shared_bytes > 0) to.add(", %d bytes of shared memory", p.shared_bytes);
  if (p.registers > 0)
    to.add(", %d registers, %d blocks an SM", p.registers, p.blocks_per_multiprocessor);
  to.add(", %d flops and %d + %d bytes an element", p.per_element.flops, p.per_element.load_bytes,
         p.per_element.store_bytes);
}
void add_policy(line& to, const map_policy& p) {
  to.add("; policy: blocks of %d, at least %d, %d rows a thread, tiles in %d bytes", p.block,
         p.least_block, p.rows_a_thread, p.tile_memory);
}

}  // namespace

text plan::describe() const {
  line to;
  add_launch(to, *this);
  add_kernel(to, *this);
  return to.done();
}

text map_plan::describe() const {
  line to;
  add_launch(to, *this);
  add_tile(to, tile);
  add_kernel(to, *this);
  if (has_kernel(*this)) add_policy(to, policy);
  return to.done();
}

text reduction_plan::describe() const {
  line to;
  add_launch(to, *this);
  add_tile(to, tile);
  if (splits > 1)
    to.add(", %d blocks a result%s", splits,
           in_two_launches ? ", which a second launch joins" : "");
  if (threads_a_result > 1) to.add(", %d threads a result", threads_a_result);
  add_kernel(to, *this);
  if (!has_kernel(*this)) return to.done();
  add_policy(to, policy);
  to.add(", %d and %d vectors ahead, %d %% of the threads", policy.vectors_ahead,
         policy.strided_vectors_ahead, policy.occupancy);
  return to.done();
}

text row_plan::describe() const {
  line to;
  add_launch(to, *this);
  to.add(", %s", detail::spell_rows(*this).c_str());
  add_kernel(to, *this);
  if (!has_kernel(*this)) return to.done();
  to.add(
      "; policy: blocks of %d and %d, %d vectors in registers, %d of other rows, %d in shared "
      "memory, there at least %d "
      "elements of a column, rows in %d bytes, of up to %d elements in %d",
      policy.block, policy.usual_block, policy.vectors_held, policy.vectors_of_others,
      policy.vectors, policy.elements_across, policy.row_memory, policy.staged_elements,
      policy.staged_memory);
  return to.done();
}

text loop_plan::describe() const {
  line to;
  add_launch(to, *this);
  if (block_vectors > 0)
    to.add(", %d in registers, %d in shared memory, %d streamed", held, in_shared, streamed);
  if (tiles[0] > 0)
    to.add(", %lld x %lld x %lld tiles, %d bytes each in shared memory and %lld elements elsewhere",
           number(tiles[2]), number(tiles[1]), number(tiles[0]), shared_bytes,
           number(tile_in_memory));
  if (on_chip) to.add(", all of the state on chip");
  if (reused_bytes > 0) to.add(", and %d bytes an element that phases reuse", reused_bytes);
  if (l2_resident > 0) to.add(" of which the L2 cache keeps %d in 8", l2_resident);
  add_kernel(to, *this);
  if (!has_kernel(*this)) return to.done();
  to.add(
      "; policy: blocks of %d, %d vectors held, %d rows ahead, %d joined, %d %% of the L2 cache, "
      "one block up to %.2g operations",
      policy.block, policy.vectors_held, policy.rows_ahead, policy.rows_joined,
      policy.resident_percent, policy.one_block);
  return to.done();
}

text scan_plan::describe() const {
  line to;
  add_launch(to, *this);
  if (along_columns) to.add(", columns in %lld chunks", number(chunks));
  else to.add(", rows in %lld tiles", number(tiles));
  add_kernel(to, *this);
  if (!has_kernel(*this)) return to.done();
  to.add(
      "; policy: %d rounds, %d blocks an SM, columns %d, %d rows ahead, runs of %d and %d, %d "
      "threads an SM, chunks of at least "
      "%d",
      policy.rounds, policy.blocks, policy.column_blocks, policy.rows_ahead, policy.column_run,
      policy.totals_run, policy.column_threads, policy.least_chunk);
  return to.done();
}

namespace detail {

namespace {

// Threads along a row: the largest power of two that divides a block, but no more than the row
// needs.
int columns_of(std::int64_t inner, int lanes, int block) {
  int columns = 1;
  while (columns * static_cast<std::int64_t>(lanes) < inner && block % (2 * columns) == 0)
    columns *= 2;
  return columns;
}

// Square tiles of at least a cache line in both directions, for as many operands as fit into the
// shared memory that every kernel may use. The other operands are read element by element.
void plan_transposing(reduction_plan& p, const geometry& g, const operand* inputs, int count) {
  int narrowest = 16;
  for (int k = 0; k < count; ++k)
    if (g.layouts[k].how == access::tiled) narrowest = std::min(narrowest, size_of(inputs[k].type));
  const int side = narrowest >= 8 ? 32 : narrowest >= 2 ? 64 : 128;
  if (p.block % (side / p.lanes) != 0) return;
  const int columns = side / p.lanes;
  const int rows = p.block / columns;
  if (g.leads.lanes > 0 && rows % p.lanes != 0) return;
  const int height = rows * std::max(1, side / rows);
  int bytes = 0;
  for (int k = 0; k < count; ++k) {
    const int tile = g.layouts[k].how == access::tiled
                         ? tile_bytes(columns_in_shared(g, side), height, size_of(inputs[k].type))
                         : 0;
    if (bytes + tile <= p.policy.tile_memory) bytes += tile;
  }
  if (bytes == 0) return;
  p.path = "transposing";
  p.tile = {columns, rows, side, height, bytes};
}

// Tiles of patches, one patch a thread. A tile is as wide as a warp reads at a time.
void plan_tiles_of_patches(reduction_plan& p, const geometry& g) {
  tile_plan& t = p.tile;
  constexpr int warp = 32;
  t.columns = std::min(warp, columns_of(g.extents[g.rank - 1], p.lanes, p.block));
  t.rows = p.block / t.columns;
  t.width = t.columns * p.lanes;
  t.height = t.rows * t.patch_rows;
  t.count = pieces(g.extents[g.rank - 1], t.width) * pieces(g.extents[g.rank - 2], t.height);
  for (int d = 0; d < g.rank - 2; ++d)
    t.count *= d == g.rank - 3 ? pieces(g.extents[d], t.planes) : g.extents[d];
  p.path = "strided";
}

// Tiles with halos: twice as wide as a thread's lanes are apart, or as wide if they have planes; in
// one dimension, several blocks wide. As many planes and rows a thread as fit into shared memory.
void plan_tiles_with_halos(reduction_plan& p, const geometry& g, int multiprocessors) {
  tile_plan& t = p.tile;
  found_halos& halos = *p.halos;
  constexpr int least = halo_tiles::lane_step;
  const bool is_line = g.rank == 1;
  std::int64_t planes = 1;
  for (int i = 0; i < halos.count; ++i)
    if (halos.arrays[i].reach[2] > 0)
      planes = std::min<std::int64_t>(p.policy.halo_planes, g.extents[g.rank - 3]);
  const int most_columns = is_line ? p.block : planes > 1 ? least : 2 * least;
  t.columns =
      std::max(least, std::min(most_columns, columns_of(g.extents[g.rank - 1], p.lanes, p.block)));
  t.rows = p.block / t.columns;
  const auto cut = [&](int rows_a_thread) {
    t.width = t.columns * p.lanes * (is_line ? rows_a_thread : 1);
    t.height = is_line ? 1 : t.rows * rows_a_thread;
    t.planes = static_cast<int>(planes);
    t.shared_bytes = lay_out_halos(halos, t.width, t.height, t.planes);
    t.count = pieces(g.extents[g.rank - 1] + halos.before, t.width) *
              (is_line ? 1 : pieces(g.extents[g.rank - 2], t.height));
    for (int d = 0; d < g.rank - 2; ++d)
      t.count *= d == g.rank - 3 ? pieces(g.extents[d], t.planes) : g.extents[d];
  };
  int rows_a_thread = p.policy.halo_rows;
  cut(rows_a_thread);
  while (rows_a_thread > 1 &&
         (t.shared_bytes > p.policy.halo_memory || t.count < 2LL * multiprocessors))
    cut(rows_a_thread /= 2);
  for (; planes > 1 && t.shared_bytes > p.policy.halo_memory; cut(rows_a_thread)) planes /= 2;
  p.path = "halos";
}

// Divides the index space into tiles, which blocks take one by one.
void plan_tiles(reduction_plan& p, const geometry& g, const operand* inputs, int input_count,
                bool reduces, int multiprocessors) {
  tile_plan& t = p.tile;
  if (t.patch_rows > 0) return plan_tiles_of_patches(p, g);
  if (t.halos > 0) return plan_tiles_with_halos(p, g, multiprocessors);
  if (g.linear || t.displaced) {
    const int vectors = t.displaced ? 1 : reduces ? p.policy.vectors_ahead : p.policy.vectors;
    t.width = p.block * p.lanes * vectors;
    t.count = pieces(g.elements, t.width);
    return;
  }
  const std::int64_t inner = row_with_lead(g);
  const std::int64_t second = g.rank > 1 ? g.extents[g.rank - 2] : 1;
  const int columns = columns_with_leads(g, columns_of(inner, p.lanes, p.block), p.lanes, p.block);
  p.path = "strided";
  t = {columns, p.block / columns, columns * p.lanes, p.block / columns};
  std::int64_t around = 1;
  for (int d = 0; d < g.rank - 2; ++d) around *= g.extents[d];
  const auto count = [&] { return around * pieces(inner, t.width) * pieces(second, t.height); };
  // Finding a tile's place costs about as much as a row. So each thread takes several rows if there
  // is still work for all.
  if (count() >= 8LL * p.policy.rows_a_thread * multiprocessors) t.height *= p.policy.rows_a_thread;
  if (g.rank > 1) plan_transposing(p, g, inputs, input_count);
  t.count = count();
}

}  // namespace

void require_grid(const launch& fixed, std::int64_t grid, const pass_view& pass) {
  if (fixed.grid < 0 || (fixed.grid > 0 && fixed.grid < grid))
    raise<device_error>("at most " + std::to_string(fixed.grid) +
                        " blocks were asked for; this kernel takes " + std::to_string(grid) + ": " +
                        spell_pass(pass));
}

map_plan as_map(const reduction_plan& p) { return {p, p.tile, p.policy}; }

reduction_plan plan_neighbours(const geometry& g, const operand* all, int input_count,
                               const pass_traits& pass) {
  reduction_plan p;
  const int count = input_count + pass.view.target_count;
  p.tile.displaced = can_read_displaced(g, all, count, pass);
  plan_patches(p.tile, g, all, count, pass);
  if (p.tile.patch_rows == 0 && !p.tile.displaced)
    p.halos = find_halos(g, all, input_count, input_count + pass.view.target_count, pass);
  if (p.halos) p.tile.halos = p.halos->count;
  return p;
}

reduction_plan make_plan(reduction_plan found, const geometry& g, const operand* all,
                         int input_count, const pass_traits& pass, const reduction_policy& policy,
                         const kernel_attributes& attributes, const launch& fixed) {
  reduction_plan p = std::move(found);
  p.where = g.where;
  p.devices = members_for(g.where, all, input_count + pass.view.target_count);
  p.path = g.linear ? "linear" : p.tile.displaced ? "displaced" : "strided";
  p.elements = g.elements;
  p.policy = policy;
  p.lanes = p.tile.displaced ? 1 : pass.lanes;
  const device_properties& device =
      properties_for(g.where, all, input_count + pass.view.target_count);
  const bool reduces = pass.view.reductions > 0;
  const int warp = device.warp_size;
  const int most = attributes.max_block > 0 ? attributes.max_block : 1024;
  const bool fits = fixed.block % warp == 0 && (!reduces || (fixed.block & (fixed.block - 1)) == 0);
  if (fixed.block < 0 || !fits || fixed.block > most)
    raise<device_error>("a block of " + std::to_string(fixed.block) +
                        " threads was asked for; this kernel takes " +
                        (reduces ? "powers of two from " : "multiples of ") + std::to_string(warp) +
                        " up to " + std::to_string(most) + ": " + spell_pass(pass.view));
  p.block = fixed.block != 0        ? fixed.block
            : p.tile.patch_rows > 0 ? p.policy.patch_block
                                    : p.policy.block;
  p.registers = attributes.registers;
  p.blocks_per_multiprocessor = attributes.blocks_per_multiprocessor > 0
                                    ? attributes.blocks_per_multiprocessor
                                    : device.threads_per_multiprocessor / p.block;
  // Resident blocks of a kernel that reduces.
  const auto resident = [&]() -> std::int64_t {
    if (fixed.grid > 0) return fixed.grid;
    const int threads = device.threads_per_multiprocessor * p.policy.occupancy / 100;
    return static_cast<std::int64_t>(device.multiprocessors) *
           std::max(1, std::min(p.blocks_per_multiprocessor, threads / p.block));
  };
  if (g.pairs && plan_pairs(p, g, all, input_count, device.multiprocessors, most, fixed)) {
    p.grid = p.groups * p.splits;
  } else if (g.kept != 0) {
    plan_along_axes(p, g, all, input_count + pass.view.target_count, pass.accumulator_bytes,
                    resident(), fixed.block != 0);
    p.grid = p.groups * p.splits;
  } else {
    const auto cut = [&] { plan_tiles(p, g, all, input_count, reduces, device.multiprocessors); };
    cut();
    // Small jobs get smaller blocks, to use more multiprocessors.
    while (fixed.block == 0 && p.block > p.policy.least_block &&
           p.tile.count < device.multiprocessors) {
      p.block /= 2;
      cut();
    }
    p.grid = p.tile.count;
    if (reduces) {
      p.grid = std::max<std::int64_t>(1, std::min(p.tile.count, resident()));
      const cost each = cost_of(
          pass.view, [all](std::uint64_t k) { return first_of_array(all, static_cast<int>(k)); });
      const std::int64_t traffic =
          g.elements * (each.load_bytes + each.store_bytes) / device.multiprocessors;
      p.in_two_launches = pass.kernels.finish && fixed.grid == 0 && p.tile.count > p.grid &&
                          traffic >= p.policy.finish_apart_from;
      if (p.in_two_launches) p.grid = pieces(p.tile.count, std::max(1, p.policy.tiles_a_block));
      p.splits = static_cast<int>(p.grid);
      p.threads_a_result = p.block;
    }
  }
  const bool combines_warps = p.threads_a_result > 1 && p.block > warp;
  const int combined = g.linear || p.tile.displaced ? p.block / warp * pass.accumulator_bytes
                                                    : p.block * pass.state_bytes;
  p.shared_bytes = std::max(p.tile.shared_bytes, combines_warps ? combined : 0);
  require_grid(fixed, p.grid, pass.view);
  if (std::max(p.tile.count, p.grid) > 0x7fffffff)
    raise<shape_error>(std::to_string(g.elements) +
                       " elements need more blocks than a grid has: " + spell_pass(pass.view));
  return p;
}

}  // namespace detail
}  // namespace dsl

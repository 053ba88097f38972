#include <dsl/exec/plan.hpp>

#include <algorithm>
#include <cstdio>

#include "text.hpp"

namespace dsl {

text plan::describe() const {
  char line[320];
  int n = std::snprintf(line, sizeof line, "%s, %s, %lld elements", where.name().c_str(), path, static_cast<long long>(elements));
  const auto add = [&](const char* format, auto... values) {
    n += std::snprintf(line + n, sizeof line - static_cast<std::size_t>(n), format, values...);
  };
  if (where.kind == backend::host) {
    add(", blocks of %d on %d threads", block, properties(where).multiprocessors);
  } else {
    add(", grid %lld x block %d, %d lanes a thread", static_cast<long long>(grid), block, lanes);
    if (columns > 0) add(", %d x %d threads of %d rows", rows, columns, steps);
    if (shared_bytes > 0) add(", %d bytes of shared memory", shared_bytes);
    if (registers > 0) add(", %d registers, %d blocks an SM", registers, blocks_per_multiprocessor);
  }
  add(", %d flops and %d + %d bytes an element", per_element.flops, per_element.load_bytes, per_element.store_bytes);
  return text(line);
}

namespace detail {

namespace {

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
  if (bytes > 0) p.path = "transposing", p.shared_bytes = bytes, p.columns = columns, p.rows = rows, p.steps = steps;
}

}  // namespace

plan make_plan(const geometry& g, const operand* inputs, int input_count, int lanes, bool reduces, const kernel_attributes& attributes,
               const launch& fixed, const program_view& program) {
  plan p;
  p.where = g.where, p.path = g.linear ? "linear" : "strided";
  p.elements = g.elements, p.lanes = lanes;
  if (g.where.kind == backend::host) {
    p.block = host_block;
    p.grid = (g.elements + host_block - 1) / host_block;
    return p;
  }
  const device_properties& device = properties(g.where);
  const int most = attributes.max_block > 0 ? attributes.max_block : 1024;
  if (fixed.block != 0 && (fixed.block < 0 || fixed.block % 32 != 0 || fixed.block > most))
    raise<device_error>("a block of " + std::to_string(fixed.block) + " threads was asked for; this kernel takes multiples of 32 up to " +
                        std::to_string(most) + ": " + spell_program(program));
  p.block = fixed.block != 0 ? fixed.block : default_block;
  p.registers = attributes.registers;
  p.blocks_per_multiprocessor = attributes.blocks_per_multiprocessor > 0 ? attributes.blocks_per_multiprocessor
                                                                         : device.threads_per_multiprocessor / p.block;

  const std::int64_t inner = g.extents[g.rank - 1], second = g.rank > 1 ? g.extents[g.rank - 2] : 1;
  const auto pieces = [](std::int64_t n, std::int64_t piece) { return (n + piece - 1) / piece; };
  const auto cut = [&] {
    if (g.linear) {
      p.tiles = pieces(g.elements, static_cast<std::int64_t>(p.block) * lanes);
      return;
    }
    p.columns = columns_of(inner, lanes, p.block), p.rows = p.block / p.columns, p.steps = 1;
    std::int64_t around = 1;
    for (int d = 0; d < g.rank - 2; ++d) around *= g.extents[d];
    const auto count = [&] { return around * pieces(inner, static_cast<std::int64_t>(p.columns) * lanes) * pieces(second, static_cast<std::int64_t>(p.rows) * p.steps); };
    // Finding the tile's place costs about as much as a row: several rows a thread, where there is work for all.
    constexpr int rows_a_thread = 4;
    if (count() >= 8LL * rows_a_thread * device.multiprocessors) p.steps = rows_a_thread;
    if (g.rank > 1) plan_transposing(p, g, inputs, input_count);
    p.tiles = count();
  };
  cut();
  // A small job is spread over more multiprocessors by smaller blocks.
  while (fixed.block == 0 && p.block > 64 && p.tiles < device.multiprocessors) p.block /= 2, cut();
  p.grid = p.tiles;
  if (reduces) {
    // What is written beside a reduction comes out faster with half of the threads that fit (docs/performance.md).
    bool stores = false;
    for (int i = 0; i < program.output_count; ++i) stores = stores || output_word{program.outputs[i]}.is_stored();
    const int most_threads = stores ? device.threads_per_multiprocessor / 2 : device.threads_per_multiprocessor;
    const int blocks = std::max(1, std::min(p.blocks_per_multiprocessor, most_threads / p.block));
    p.grid = std::max<std::int64_t>(1, std::min<std::int64_t>(p.grid, fixed.grid > 0 ? fixed.grid : static_cast<std::int64_t>(device.multiprocessors) * blocks));
  }
  if (p.tiles > 0x7fffffff) raise<shape_error>(std::to_string(g.elements) + " elements need more blocks than a grid has: " + spell_program(program));
  return p;
}

}  // namespace detail
}  // namespace dsl

// Runs chains of passes over rows on a grid of blocks of threads.
#include <dsl/exec/rows/row_arguments.hpp>
#include <dsl/exec/rows/row_policy.hpp>
#include <dsl/exec/team/team.hpp>

#include <algorithm>
#include <bit>
#include <vector>

#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/rows/row_memory.hpp"
#include "exec/rows/rows.hpp"
#include "exec/run/grid_executor.hpp"
#include "exec/run/parameters.hpp"
#include "exec/run/scratch.hpp"
#include "exec/run/shares.hpp"

namespace dsl::detail {

namespace {

const device_properties& properties_of(const row_chain& rows) {
  return properties_for(rows.space().where, rows.operands(), rows.operand_count());
}

// The number of threads for a row of `vectors` vectors; at least `needed` of them are necessary to
// hold it. At least two threads, which read a whole 32-byte sector. With two vectors a thread, the
// two reads of a warp lie further apart; this pays only if the row has few vectors, where as many
// threads would be idle otherwise.
std::int64_t threads_of_vectors(std::int64_t vectors, std::int64_t needed) {
  constexpr std::int64_t few = 8;
  const bool in_twos = vectors <= few && std::has_single_bit(static_cast<std::uint64_t>(vectors));
  return std::max({needed, std::min<std::int64_t>(vectors, 2), in_twos ? vectors / 2 : 1});
}

// Plans staged rows: short rows that cannot be read in vectors go through shared memory, as many as
// fit into a block's share of it. Returns false if this does not apply.
bool plan_staged(row_plan& p, const row_chain& rows, std::int64_t inner, int block) {
  const geometry& g = rows.space();
  if (!rows.lies_along_rows() || g.count > p.policy.staged_elements) return false;
  int bytes = 0;
  for (int k = 0; k < rows.operand_count(); ++k) bytes += staged_bytes(rows, k);
  const int warp = properties_of(rows).warp_size;
  std::int64_t count = std::min<std::int64_t>(p.policy.staged_memory / std::max(1, bytes),
                                              pieces(inner, warp) * warp);
  count = count >= block ? count / block * block : count / warp * warp;
  if (count == 0 || (inner < warp && g.results > inner)) return false;
  p.staged = true;
  p.kernel = row_kernel::any;
  p.in_vectors = false;
  p.lanes = 1;
  p.vectors = static_cast<int>(g.count);
  p.block = static_cast<int>(std::min<std::int64_t>(block, count));
  p.rows_a_block = static_cast<int>(std::min(
      count, pieces(pieces(g.results, properties_of(rows).multiprocessors), p.block) * p.block));
  for (int k = 0; k < rows.operand_count(); ++k)
    p.shared_bytes += staged_bytes(rows, k, p.rows_a_block);
  return true;
}

// The number of threads side by side when rows lie across memory. Each thread takes a vector of
// columns; each of `planes` planes has `vectors_a_plane` of these vectors, and a block has memory
// for `vectors` of them. A row's contiguous piece is whole cache lines. It is longer if whole
// columns still fit into a block and all multiprocessors still have blocks.
int row_parallel_threads(std::int64_t vectors_a_plane, std::int64_t planes, std::int64_t rows,
                         std::int64_t vectors, int multiprocessors) {
  constexpr int line = 8;
  int side = std::min(line, power_of_two_from(vectors_a_plane));
  while (side < 32 && side < vectors_a_plane && rows * 2 * side <= vectors &&
         planes * pieces(vectors_a_plane, 2 * side) >= multiprocessors)
    side *= 2;
  return side;
}

// Whether one phase alone loads an array that varies along rows.
bool loads_alone(const row_chain& rows) {
  const chain_code& code = rows.code();
  for (int k = 0; k < rows.leaves(); ++k)
    if (code.vector_bytes[k] > 0 && (code.loaded_by_several >> k & 1) == 0 &&
        varies_in_row(rows, k))
      return true;
  return false;
}

struct cluster_shape { int blocks, threads; };

// The blocks of a cluster and the threads of each, for rows of `vectors` vectors of which a thread
// holds `held` at most. Few rows are spread over all multiprocessors, a vector a thread. Otherwise
// as many threads as possible are resident on a multiprocessor, idle ones not counted. `widest`:
// the most threads of a block.
cluster_shape shape_of_cluster(std::int64_t rows, std::int64_t vectors, int held, int widest,
                               const device_properties& device, int multiprocessors,
                               const kernel_attributes& known) {
  const std::int64_t threads = pieces(vectors, held), least = pieces(threads, widest),
                     spread = std::min<std::int64_t>(multiprocessors / rows, known.largest_cluster);
  if (spread > least) {
    const std::int64_t blocks = std::min(spread, pieces(vectors, widest));
    return {static_cast<int>(blocks),
            std::min(widest, whole_warps(pieces(vectors, blocks), device.warp_size))};
  }
  const std::int64_t resident = std::int64_t{widest} * std::max(1, known.blocks_per_multiprocessor);
  cluster_shape best{static_cast<int>(least), widest};
  double most = 0;
  for (std::int64_t blocks = least; blocks <= known.largest_cluster; ++blocks) {
    const int block = whole_warps(pieces(threads, blocks), device.warp_size);
    const std::int64_t resident_of_blocks = resident / block * block;
    const double used = static_cast<double>(threads) / static_cast<double>(blocks * block) *
                        static_cast<double>(resident_of_blocks);
    if (used <= most) continue;
    most = used;
    best = {static_cast<int>(blocks), block};
  }
  return best;
}

// Maximum number of blocks' sums that a thread reads one after another.
constexpr int polled = 4;

}  // namespace

// Chooses threads and blocks for each row. The plan has no grid if a row does not fit, or if no
// file compiled the chain for these devices.
row_plan row_chain::plan_for(const grid_executor& devices) const {
  const row_chain& rows = *this;
  const chain_code& code = rows.code();
  const geometry& g = rows.space();
  if (devices.compiled(code.kernels) == nullptr) return {};
  const chain_kernels& kernels = *devices.compiled(code.kernels);
  const launch& fixed = rows.fixed();
  const pass_view& pass = code.phase[code.phases - 1].pass.view;
  const device_properties& device = properties_of(rows);
  row_plan p;
  p.where = g.where;
  p.devices = members_for(g.where, rows.operands(), rows.operand_count());
  p.path = rows.lies_along_rows() ? "rows" : "columns";
  p.elements = g.elements;
  p.policy = kernels.policy;
  p.lanes = code.lanes;
  p.rows = g.results;
  p.row = g.count;
  const auto attributes_of = [&](int kernel) {
    return devices.attributes(
        {kernels.kernel[kernel], kernels.architectures, code.phase[0].name, pass},
        kernels.policy.block, g.where.index);
  };
  const bool columns = columns_are_in_vectors(rows, lanes_of_columns(code.lanes));
  const row_vectors aligned =
      !columns && rows.lies_along_rows() ? vectors_of_rows(rows) : row_vectors{};
  if (columns) {
    p.kernel = row_kernel::columns;
    p.lanes = lanes_of_columns(code.lanes);
  } else if (aligned.ends > 0) {
    p.kernel = row_kernel::with_ends;
  }
  // On one device, since each row is on one device.
  const int warp = device.warp_size, members = std::max(1, p.devices),
            multiprocessors = device.multiprocessors / members;
  kernel_attributes known = attributes_of(static_cast<int>(p.kernel));
  const int most = known.max_block > 0 ? std::min(known.max_block, p.policy.block) : p.policy.block;
  if (fixed.block < 0 || fixed.block % warp != 0 || (fixed.block & (fixed.block - 1)) != 0 ||
      fixed.block > most)
    raise<device_error>("a block of " + std::to_string(fixed.block) +
                        " threads was asked for; this kernel takes powers of two " + "from " +
                        std::to_string(warp) + " up to " + std::to_string(most) + ": " +
                        spell_pass(pass));

  const std::int64_t length = length_in_vectors(rows, aligned),
                     vectors = pieces(length, elements_of_vector(p));
  const int vector_bytes = bytes_of_vectors(rows, p, true),
            beside_bytes = bytes_of_vectors(rows, p, false);
  const std::int64_t inner = g.rank > 1 ? g.extents[g.rank - 2] : 1;
  const int room = static_cast<int>(device.shared_per_block) - known.static_shared;
  const int target = std::min(p.policy.row_memory, room);
  // The largest and the usual number of threads a block.
  const int widest = fixed.block > 0 ? fixed.block : most,
            usual = fixed.block > 0 ? fixed.block : std::min(most, p.policy.usual_block);
  const auto resident = [&](std::int64_t shared) {
    const std::int64_t by_shared = (static_cast<std::int64_t>(device.shared_per_block) + 1024) /
                                   (shared + known.static_shared + 1024);
    const std::int64_t by_threads =
        known.blocks_per_multiprocessor > 0
            ? static_cast<std::int64_t>(known.blocks_per_multiprocessor) * kernels.policy.block /
                  p.block
            : device.threads_per_multiprocessor / p.block;
    return std::max<std::int64_t>(1, std::min(by_shared, by_threads));
  };
  // Adds the grid: blocks for all rows; if several blocks share a row without a cluster, only as
  // many as are resident at once, since they wait for each other.
  const auto with_grid = [&](row_plan made) {
    made.blocks_per_multiprocessor = static_cast<int>(resident(made.shared_bytes));
    const std::int64_t tiles = g.results / inner * pieces(inner, made.rows_a_block);
    made.grid = tiles * (made.in_cluster ? made.blocks_a_row : 1);
    if (!made.in_cluster && made.blocks_a_row > 1) {
      const std::int64_t of_device = std::int64_t{made.blocks_per_multiprocessor} * multiprocessors;
      made.grid =
          std::min(tiles, members * std::max<std::int64_t>(1, of_device / made.blocks_a_row)) *
          made.blocks_a_row;
    }
    require_grid(fixed, made.grid, pass);
    if (made.grid > 0x7fffffff)
      raise<shape_error>(std::to_string(g.elements) +
                         " elements need more blocks than a grid has: " + spell_pass(pass));
    return made;
  };
  const std::int64_t in_vectors = pieces(vectors, p.policy.vectors_held);
  p.in_vectors = columns || aligned.found;
  const bool whole = aligned.found && in_vectors <= widest;
  p.registers = known.registers;
  if (!(whole && aligned.ends == 0) && plan_staged(p, rows, inner, usual)) return with_grid(p);
  const row_share share = whole     ? row_share::whole_vectors
                          : columns ? row_share::in_shared
                                    : share_of_other_rows(p.policy);
  const int held = vectors_held(p.policy, share);
  p.in_registers = held > 0;
  if (whole) {
    p.kernel = row_kernel::whole;
    known = attributes_of(static_cast<int>(p.kernel));
    const std::int64_t threads =
        std::max<std::int64_t>(aligned.ends, threads_of_vectors(vectors, in_vectors));
    p.threads_a_row = threads <= warp ? power_of_two_from(threads) : whole_warps(threads, warp);
  } else {
    int& side = p.rows_side_by_side;
    if (columns)
      side = row_parallel_threads(inner / p.lanes, g.results / inner, g.count,
                                  target / std::max(1, vector_bytes), device.multiprocessors);
    else if (!rows.lies_along_rows()) side = std::min(32, power_of_two_from(inner));
    // A thread has one element of the ends at most.
    const std::int64_t threads =
        std::max<std::int64_t>(aligned.ends, p.in_registers ? pieces(vectors, held)
                                             : columns || rows.lies_along_rows()
                                                 ? pieces(vectors, p.policy.vectors)
                                                 : pieces(g.count, p.policy.elements_across));
    const std::int64_t of_cluster = std::int64_t{widest} * known.largest_cluster;
    if (p.in_registers && threads * side > widest) {  // A row needs several blocks.
      int narrow = side;
      while (narrow > 16 && threads * narrow > of_cluster) narrow /= 2;
      const bool fits = threads * narrow <= of_cluster;
      if (fits) side = narrow;
      p.threads_a_row = (fits ? widest : usual) / side;
      if (fits && side == 1 && fixed.block == 0 && fixed.grid == 0) {
        const cluster_shape of =
            shape_of_cluster(g.results, vectors, held, widest, device, multiprocessors, known);
        p.threads_a_row = of.threads;
        p.blocks_a_row = of.blocks;
      }
    } else if (threads * side <= warp || side > 1) {
      p.threads_a_row = std::min(widest / side, power_of_two_from(threads));
    } else {
      p.threads_a_row = std::min(widest, whole_warps(threads, warp));
    }
  }
  // `known` may be the kernel for whole rows by now.
  p.registers = known.registers;
  const int group_threads = p.threads_a_row * p.rows_side_by_side;
  int groups = 1;
  const bool is_shared =
      p.in_registers && (p.blocks_a_row > 1 || vectors > std::int64_t{held} * p.threads_a_row);
  if (!is_shared && (group_threads <= warp || (group_threads & (group_threads - 1)) == 0)) {
    groups = std::max(1, std::min<int>(usual / group_threads,
                                       power_of_two_from(pieces(
                                           g.results, p.rows_side_by_side * rows_of_vector(p)))));
    if (group_threads * groups < warp) groups = warp / group_threads;
  }
  const auto vectors_of = [&](std::int64_t part) {
    return pieces(part, static_cast<std::int64_t>(p.threads_a_row) * elements_of_vector(p));
  };
  const auto bytes_of = [&](std::int64_t count) -> std::int64_t {
    return p.in_registers ? 0 : (count * vector_bytes + beside_bytes) * p.block;
  };
  p.block = group_threads * groups;
  std::int64_t part = length;
  while (groups > 1 && bytes_of(vectors_of(part)) > target) {
    groups /= 2;
    p.block = group_threads * groups;
  }
  const int sums = bytes_of_sums(p, code.accumulator_bytes);
  // A row that does not fit into a block goes to several: to a cluster if possible, otherwise to
  // blocks that exchange sums through global memory, if there are few enough to read them fast.
  const std::int64_t fit =
      p.in_registers
          ? held
          : std::max<std::int64_t>(1, (target - sums - beside_bytes * p.block) /
                                          (std::int64_t{std::max(1, vector_bytes)} * p.block));
  if (groups == 1 && (vectors_of(part) > fit || p.blocks_a_row > 1)) {
    const std::int64_t needed = std::max<std::int64_t>(
        p.blocks_a_row, pieces(length, fit * p.threads_a_row * elements_of_vector(p)));
    p.in_cluster = (p.in_registers || columns) && needed <= known.largest_cluster &&
                   (fixed.grid == 0 || needed <= fixed.grid);
    if (p.in_cluster) {
      p.blocks_a_row = static_cast<int>(needed);
    } else if (devices.is_cooperative(g.where.index) &&
               needed <= std::int64_t{polled} * p.threads_a_row) {
      const std::int64_t blocks = resident(p.in_registers ? sums : target) * multiprocessors;
      p.blocks_a_row =
          static_cast<int>(std::min({blocks, needed, fixed.grid > 0 ? fixed.grid : blocks}));
    }
    part = part_of_block(length, p);
  }
  p.rows_a_block = p.rows_side_by_side * rows_of_vector(p) * groups;
  p.vectors = static_cast<int>(vectors_of(part));
  if (p.in_registers ? p.vectors > held
                     : bytes_of(p.vectors) + sums > (p.blocks_a_row > 1 ? target : room))
    return p;  // No room for a row.
  p.shared_bytes =
      static_cast<int>(bytes_of(p.vectors)) + sums + bytes_of_cluster(p, code.accumulator_bytes);
  row_plan made = with_grid(p);
  // One row after another on all multiprocessors, each of which waits for an array that only a
  // later phase loads: a launch for each phase takes less time.
  if (p.blocks_a_row > 1 && !p.in_cluster && made.grid == p.blocks_a_row && g.results > 1 &&
      rows.lies_along_rows() && fixed.grid == 0 && loads_alone(rows))
    made.grid = 0;
  return made;
}

namespace {

row_schedule schedule_of(const row_chain& rows, const row_plan& p, int sums) {
  const geometry& g = rows.space();
  const bool columns = p.kernel == row_kernel::columns;
  const row_vectors aligned = p.in_vectors && !columns ? vectors_of_rows(rows) : row_vectors{};
  const std::int64_t length = length_in_vectors(rows, aligned);
  row_schedule s{};
  const std::int64_t inner = g.rank > 1 ? g.extents[g.rank - 2] : 1;
  const std::int64_t across = pieces(inner, p.rows_a_block);
  const int group_threads = p.threads_a_row * p.rows_side_by_side;
  s.tiles = g.results / inner * across;
  s.rows = inner;
  s.count = static_cast<std::int32_t>(g.count);
  s.parts = p.blocks_a_row;
  s.groups = static_cast<std::int32_t>(p.grid / p.blocks_a_row);
  s.of_parts = divisor::of(s.parts);
  s.part = s.parts == 1 ? s.count : static_cast<std::int32_t>(part_of_block(length, p));
  s.log2_across = std::countr_zero(static_cast<unsigned>(p.rows_side_by_side));
  s.log2_group_threads =
      group_threads == p.block ? 31 : std::countr_zero(static_cast<unsigned>(group_threads));
  s.group_threads = group_threads;
  s.row_threads = p.threads_a_row;
  s.thread_groups = p.staged ? p.rows_a_block : p.block / group_threads;
  s.lane_step = p.in_vectors ? 1 : s.row_threads;
  s.thread_step = p.in_vectors ? p.lanes : 1;
  s.vector_step = s.row_threads * p.lanes;
  s.of_step = divisor::of(p.staged       ? s.count
                          : columns      ? s.row_threads
                          : p.in_vectors ? s.vector_step
                                         : s.lane_step);
  s.vectors = p.vectors;
  s.staged = p.staged ? 1 : 0;
  s.in_vectors = p.in_vectors ? 1 : 0;
  s.vector_leaves = aligned.leaves;
  s.aligned_by = aligned.aligned_by;
  s.first_lane = aligned.first_lane;
  s.whole = g.count == static_cast<std::int64_t>(s.parts) * s.row_threads * p.lanes * s.vectors;
  s.waits = inner % p.rows_a_block != 0 ? 1 : 0;
  s.in_cluster = p.in_cluster ? 1 : 0;
  s.shared_sums = sums;
  s.outer_rank = std::max(0, g.rank - 2);
  s.across = divisor::of(across);
  for (int d = 0; d < s.outer_rank; ++d) s.outer[d] = divisor::of(g.extents[g.rank - 3 - d]);
  return s;
}

}  // namespace

void row_chain::run_on(const grid_executor& devices, const stream& on) const {
  const row_chain& rows = *this;
  const chain_code& code = rows.code();
  const geometry& g = rows.space();
  const chain_kernels& kernels = *devices.compiled(code.kernels);
  const row_plan& p = rows.plan();
  const int sums = bytes_of_sums(p, code.accumulator_bytes),
            shared_before_rows = sums + bytes_of_cluster(p, code.accumulator_bytes);
  const bool exchanges = p.blocks_a_row > 1 && !p.in_cluster;
  row_schedule schedule = schedule_of(rows, p, sums);
  exchange_cells shared{};
  memory_range cells{};
  if (exchanges) {
    const std::size_t bytes = bytes_of_cells(p, code.accumulator_bytes);
    const std::int64_t steps = pieces(schedule.tiles, p.grid / p.blocks_a_row) * code.phases;
    shared = cells_of(on, bytes, steps);
    schedule.cells = shared.cells;
    schedule.epoch = shared.epoch;
    cells = {shared.cells, bytes, false};
  }
  kernel_parameters given({{}, g.elements, 1, {}});
  for (int k = 0; k < rows.leaves(); ++k)
    if (same_as(rows, k) == k) schedule.distinct |= std::uint64_t{1} << k;
  given.put(schedule);
  int at = 0;
  std::vector<std::uint64_t> places(static_cast<std::size_t>(rows.operand_count()));
  for (int k = 0; k < rows.operand_count(); ++k) {
    const operand& o = rows.operands()[k];
    argument a{o.discarded ? 0 : o.word[0],
               k < rows.leaves() ? descriptor_of(rows.operands(), k, g, pass_view{}) : 0};
    if (p.staged) {
      if (k >= rows.leaves() || code.vector_bytes[k] > 0) {
        const int bytes = staged_bytes(rows, k, p.rows_a_block);
        if (bytes > 0) {
          const staged_piece piece{at, staged_pitch(rows, k), varies_in_row(rows, k) ? 1 : 0};
          places[static_cast<std::size_t>(k)] = piece.word();
          at += bytes;
        }
        a.descriptor = places[static_cast<std::size_t>(k < rows.leaves() ? same_as(rows, k) : k)];
      }
    } else if (k < rows.leaves() && code.vector_bytes[k] > 0) {
      const bool varies = varies_in_row(rows, k);
      const int first = same_as(rows, k);
      if (first == k) {
        places[static_cast<std::size_t>(k)] = static_cast<std::uint64_t>(shared_before_rows + at) |
                                              static_cast<std::uint64_t>(varies ? p.block : 0)
                                                  << 32;
        at += bytes_of_vector(rows, p, k) * p.block * (varies ? p.vectors : 1);
      }
      a.descriptor = places[static_cast<std::size_t>(first)];
    }
    given.put(a);
  }
  given.put_strides(g, rows.operand_count());
  const program_code& last = code.phase[code.phases - 1];
  kernel_launch k{{kernels.kernel[static_cast<int>(p.kernel)], kernels.architectures, last.name,
                   last.pass.view},
                  p.grid,
                  p.block,
                  p.shared_bytes,
                  given.range(),
                  rows.operands(),
                  rows.leaves(),
                  rows.operand_count() - rows.leaves(),
                  g.elements,
                  exchanges,
                  &cells,
                  exchanges ? 1 : 0,
                  rows.phases()[code.phases - 1].operands(),
                  p.in_cluster ? p.blocks_a_row : 1};
  if (exchanges) k.blocks_together = p.blocks_a_row;
  devices.launch_kernel(k, on);
}

}  // namespace dsl::detail

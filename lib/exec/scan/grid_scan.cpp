// Scans on a grid of blocks of threads.
#include <algorithm>

#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/grid_executor.hpp"
#include "exec/run/parameters.hpp"
#include "exec/run/scratch.hpp"
#include "exec/run/shares.hpp"
#include "exec/run/tiling.hpp"
#include "exec/scan/scan_work.hpp"
#include "mem/buffer.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {

namespace {

// The plan of a scan, and in a strided space its tiles.
struct tiled_scan {
  scan_plan plan;
  tiling tiles{};
};

scan_kernel_number kernel_of(const scan_space& s) {
  if (s.columns) return scan_of_columns;
  if (!s.space.linear) return scan_of_rows;
  return s.row < s.space.elements ? scan_of_linear_rows : scan_of_one_row;
}

tiled_scan tile_scan(const scan_space& s, const scan_code& code, const scan_policy& policy) {
  const geometry& g = s.space;
  tiled_scan made;
  scan_plan& p = made.plan;
  constexpr int block = scan_block_threads;
  p.where = g.where;
  p.path = g.linear ? "linear" : "strided";
  p.elements = g.elements;
  p.lanes = code.lanes;
  p.block = block;
  p.policy = policy;
  p.along_columns = s.columns;
  if (g.linear) {
    p.tiles = pieces(g.elements, static_cast<std::int64_t>(block) * code.lanes);
    p.grid = pieces(p.tiles, policy.rounds);
  } else {
    made.tiles = tile_of(g, block, code.lanes);
    tiling& t = made.tiles;
    if (s.columns) {
      // Columns are divided into chunks if there are too few of them to occupy the device.
      const std::int64_t threads = static_cast<std::int64_t>(policy.column_threads) *
                                   std::max(1, properties(g.where).multiprocessors);
      const std::int64_t columns =
          g.elements / s.row / t.extents[0] * pieces(t.extents[0], code.lanes);
      const std::int64_t wanted = std::clamp<std::int64_t>(threads / columns, 1, 1 << 15);
      t.rows = 1;
      t.height = static_cast<int>(
          std::clamp<std::int64_t>(pieces(s.row, wanted), policy.least_chunk, 1 << 20));
      p.chunks = pieces(s.row, t.height);
    }
    p.tiles = cover(t, g);
    p.grid = s.columns ? pieces(p.tiles, block >> t.log2_columns) : pieces(p.tiles, policy.rounds);
  }
  if (p.tiles > 0x7fffffff)
    raise<shape_error>(std::to_string(g.elements) +
                       " elements need more blocks than a grid has: a scan of " +
                       spell_pass(code.view));
  return made;
}

// Launches a scan. Rows: one launch; on a mesh up to two, the first for totals of rows that several
// members share. Whole columns: one launch. Columns in chunks: three, which compute the chunks'
// totals, scan the totals, and scan the elements.
class grid_scan {
 public:
  grid_scan(const grid_executor& kernels, const scan_kernels& compiled, const scan_work& of,
            const stream& on)
      : kernels_(kernels),
        compiled_(compiled),
        code_(of.code()),
        operands_(of.operands()),
        space_(of.ordered()),
        parameters_(of.parameters()),
        on_(on),
        tiled_(tile_scan(space_, code_, compiled.policy)),
        plan_(tiled_.plan) {}

  void run() {
    if (space_.columns) run_columns();
    else run_rows();
  }

 private:
  void run_rows() {
    if (members_for(space_.space.where, operands_, code_.inputs + 1) > 1)
      return run_rows_by_members();
    const tile_cells cells(plan_.grid, code_);
    // Returns to the pool after the kernel, in the order of the stream.
    const buffer_ref scratch = buffer_ref::allocate_briefly(cells.bytes, space_.space.where);
    cells.place(parameters_, scratch.data());
    other_ = {scratch.data(), cells.bytes, false};
    kernel_parameters given = arguments();
    kernel_launch k = launch_of(kernel_of(space_), plan_.grid, given.range());
    k.zeroed = {scratch.data(), cells.bytes, 0};
    kernels_.launch_kernel(k, on_);
  }

  // Each member of a mesh takes consecutive tiles. If a row continues from one member to the next,
  // a launch before the scan computes the total of the first one's part of the row.
  void run_rows_by_members() {
    member_tiles shares(*this);
    const tile_cells cells(shares.most_tiles(), code_);
    const std::size_t carries = shares.ends.size() * cells.cell;
    const member_workspace scratch = scratch_of_members(on_, carries + cells.bytes);
    shares.scratch = &scratch;
    shares.cells = &cells;
    other_ = {scratch.memory, scratch.all_bytes, false};
    kernel_parameters given = arguments();
    const auto run = [&](bool finds_totals) {
      const std::vector<std::int64_t> ends = finds_totals ? shares.ends_of_totals() : shares.ends;
      if (ends.back() == 0) return;
      shares.finds_totals = finds_totals;
      kernel_launch k = launch_of(kernel_of(space_), ends.back(), given.range());
      k.zeroed = {static_cast<unsigned char*>(scratch.memory) + carries, cells.bytes,
                  scratch.copy_bytes};
      k.member_ends = &ends;
      k.parameters = &given;
      k.of_members = &shares;
      kernels_.launch_kernel(k, on_);
    };
    run(true);
    run(false);
  }

  // The memory in which blocks leave the totals of their tiles: a ticket, then one cell for each
  // tile, each group of tiles and each prefix of groups.
  struct tile_cells {
    std::size_t cell, tiles, groups, bytes;
    tile_cells(std::int64_t count, const scan_code& code)
        : cell(tagged_bytes(static_cast<std::size_t>(code.value_bytes))),
          tiles(static_cast<std::size_t>(count)),
          groups(tiles / scan_groups + 1),
          bytes(16 + cell * (tiles + groups + groups / scan_groups + 2)) {}

    void place(scan_parameters& p, void* memory) const {
      auto* const at = static_cast<unsigned char*>(memory);
      p.ticket = reinterpret_cast<unsigned*>(at);
      p.tiles = at + 16;
      p.groups = at + 16 + cell * tiles;
      p.prefixes = at + 16 + cell * (tiles + groups);
    }
  };

  // The tiles of each member of a mesh, and the cells in which members exchange totals. A member's
  // memory has cells for the totals of the members before it, followed by those of its own tiles.
  struct member_tiles final : member_parameters {
    // The end of each member's tiles.
    std::vector<std::int64_t> ends;
    // Lengths of a row and of a tile: in elements, or in a strided space in pieces of rows.
    std::int64_t row, in_tile;
    const member_workspace* scratch = nullptr;
    const tile_cells* cells = nullptr;
    bool finds_totals = false;

    explicit member_tiles(const grid_scan& of) {
      const scan_space& s = of.space_;
      const scan_plan& p = of.plan_;
      const bool one_row = s.row == s.space.elements;
      in_tile = s.space.linear
                    ? static_cast<std::int64_t>(scan_block_threads) * p.lanes * p.policy.rounds
                    : p.policy.rounds;
      row = s.space.linear ? s.row : one_row ? p.tiles : of.tiled_.tiles.across.by;
      // One warp combines the members' totals, so only the first 32 members or fewer take tiles,
      // each at least one.
      const auto all = static_cast<std::int64_t>(back_end::of(s.space.where).members().size()),
                 used = std::min({all, std::int64_t{32}, p.grid});
      for (std::int64_t m = 1; m <= all; ++m)
        ends.push_back(pieces(p.grid * std::min(m, used), used));
    }

    std::int64_t first(std::size_t m) const { return m == 0 ? 0 : ends[m - 1]; }
    std::int64_t most_tiles() const {
      std::int64_t most = 0;
      for (std::size_t m = 0; m < ends.size(); ++m) most = std::max(most, ends[m] - first(m));
      return most;
    }
    // The first tile of the row that continues past the end of a member's tiles; that end if no row
    // does.
    std::int64_t row_begins(std::size_t m) const {
      const std::int64_t place = ends[m] * in_tile, into_row = place % row;
      return ends[m] == ends.back() || into_row == 0 ? ends[m] : (place - into_row) / in_tile;
    }
    std::int64_t first_of_totals(std::size_t m) const { return std::max(first(m), row_begins(m)); }
    std::vector<std::int64_t> ends_of_totals() const {
      std::vector<std::int64_t> of;
      std::int64_t end = 0;
      for (std::size_t m = 0; m < ends.size(); ++m)
        of.push_back(end += ends[m] - std::min(ends[m], first_of_totals(m)));
      return of;
    }

    void fill(kernel_parameters& given, int member, std::int64_t,
              std::int64_t blocks) const override {
      scan_parameters& p = given.last<scan_parameters>();
      const auto m = static_cast<std::size_t>(member);
      const auto copy = [&](std::size_t of) {
        return static_cast<unsigned char*>(scratch->memory) + of * scratch->copy_bytes;
      };
      const std::size_t carries = ends.size() * cells->cell;
      cells->place(p, copy(m) + carries);
      p.first_tile = static_cast<std::uint32_t>(finds_totals ? first_of_totals(m) : first(m));
      p.total_tiles = finds_totals ? static_cast<std::uint32_t>(blocks) : 0;
      p.later_members = static_cast<std::int32_t>(ends.size() - m) - 1;
      p.total_to = p.later_members > 0 ? copy(m + 1) + m * cells->cell : nullptr;
      p.copy_bytes = static_cast<std::int64_t>(scratch->copy_bytes);
      p.carry_count = 0;
      if (finds_totals || m == 0) return;
      const std::int64_t begins = row_begins(m - 1);
      const auto from = static_cast<std::size_t>(
          std::upper_bound(ends.begin(), ends.end(), begins) - ends.begin());
      p.carries = copy(m) + from * cells->cell;
      p.carry_count = static_cast<std::uint32_t>(m - std::min(m, from));
    }
  };

  void run_columns() {
    const std::int64_t rows = space_.row, across = space_.space.extents[space_.space.rank - 1],
                       columns = space_.space.elements / rows;
    buffer_ref totals;
    parameters_.columns = columns;
    parameters_.chunks = plan_.chunks;
    parameters_.across = across;
    if (plan_.chunks > 1) {
      const auto bytes = static_cast<std::size_t>(columns * plan_.chunks * code_.value_bytes);
      totals = buffer_ref::allocate_briefly(bytes, space_.space.where);
      parameters_.totals = totals.data();
      other_ = {totals.data(), bytes, true};
    }
    const auto pass = [&](bool last) {
      parameters_.last_pass = last ? 1 : 0;
      kernel_parameters given = arguments();
      kernels_.launch_kernel(launch_of(scan_of_columns, plan_.grid, given.range()), on_);
    };
    if (plan_.chunks > 1) {
      pass(false);
      other_.is_empty = false;
      scan_totals_arguments given{{}, parameters_};
      const std::int64_t grid =
          plan_.chunks <= scan_block_threads ? pieces(columns, scan_block_threads) : columns;
      kernels_.launch_kernel(launch_of(scan_of_totals, grid, &given.range), on_);
    }
    pass(true);
  }

  kernel_parameters arguments() const {
    const geometry& g = space_.space;
    argument_header header{};
    header.elements = g.elements;
    header.tiles = plan_.tiles;
    header.in_vectors = are_in_vectors(operands_, g, code_.inputs + 1) ? 1 : 0;
    kernel_parameters given(header);
    if (!g.linear) given.put(tiled_.tiles);
    for (int k = 0; k <= code_.inputs; ++k)
      given.put(argument{operands_[k].word[0], descriptor_of(operands_, k, g, code_.view)});
    if (!g.linear) given.put_strides(g, code_.inputs + 1);
    given.put(parameters_);
    return given;
  }

  kernel_launch launch_of(scan_kernel_number number, std::int64_t grid,
                          block_range* arguments) const {
    return {{compiled_.kernel[number], compiled_.architectures, nullptr, code_.view},
            grid,
            scan_block_threads,
            0,
            arguments,
            operands_,
            code_.inputs,
            1,
            space_.space.elements,
            false,
            &other_,
            other_.bytes > 0 ? 1 : 0};
  }

  const grid_executor& kernels_;
  const scan_kernels& compiled_;
  const scan_code& code_;
  const operand* operands_;
  const scan_space& space_;
  scan_parameters parameters_;
  const stream& on_;
  tiled_scan tiled_;
  const scan_plan& plan_;
  // Memory for totals that blocks or launches leave to others.
  memory_range other_{};
};

}  // namespace

scan_plan scan_work::plan_for(const grid_executor& devices) const {
  const scan_kernels& kernels =
      compiled_for(where(), devices.compiled(code_.kernels), nullptr, code_.view, operands());
  scan_plan p = tile_scan(ordered_, code_, kernels.policy).plan;
  const kernel_attributes known = devices.attributes(
      {kernels.kernel[kernel_of(ordered_)], kernels.architectures, nullptr, code_.view},
      scan_block_threads, where().index);
  p.registers = known.registers;
  p.blocks_per_multiprocessor =
      known.blocks_per_multiprocessor > 0 ? known.blocks_per_multiprocessor : kernels.policy.blocks;
  p.devices = members_for(where(), operands(), code_.inputs + 1);
  p.per_element = cost_per_element();
  return p;
}

void scan_work::run_on(const grid_executor& devices, const stream& on) const {
  const scan_kernels& kernels =
      compiled_for(where(), devices.compiled(code_.kernels), nullptr, code_.view, operands());
  grid_scan(devices, kernels, *this, on).run();
}

}  // namespace dsl::detail

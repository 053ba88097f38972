// Scans on a grid of blocks of threads.
#include <algorithm>

#include "exec/grid_executor.hpp"
#include "exec/layout.hpp"
#include "exec/parameters.hpp"
#include "exec/scan.hpp"
#include "exec/shares.hpp"
#include "exec/text.hpp"
#include "exec/tiling.hpp"
#include "mem/buffer.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {

namespace {

// A scan's plan, and how its tiles lie in the index space.
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
      // Columns are cut into chunks where there are too few of them to occupy the device.
      const std::int64_t threads =
          static_cast<std::int64_t>(policy.column_threads) * std::max(1, properties(g.where).multiprocessors);
      const std::int64_t columns = g.elements / s.row / t.extents[0] * pieces(t.extents[0], code.lanes);
      const std::int64_t wanted = std::clamp<std::int64_t>(threads / columns, 1, 1 << 15);
      t.rows = 1;
      t.height = static_cast<int>(std::clamp<std::int64_t>(pieces(s.row, wanted), policy.least_chunk, 1 << 20));
      p.chunks = pieces(s.row, t.height);
    }
    p.tiles = cover(t, g);
    p.grid = s.columns ? pieces(p.tiles, block >> t.log2_columns) : pieces(p.tiles, policy.rounds);
  }
  if (p.tiles > 0x7fffffff)
    raise<shape_error>(std::to_string(g.elements) + " elements need more blocks than a grid has: a scan of " +
                       spell_pass(code.view));
  return made;
}

// A scan's launches: one for rows; for columns two, and in between one that combines what their chunks come to.
class grid_scan {
 public:
  grid_scan(const grid_executor& kernels, const scan_kernels& compiled, const scan_code& code, const operand* operands,
            const scan_space& s, const scan_parameters& given, const stream& on)
      : kernels_(kernels),
        compiled_(compiled),
        code_(code),
        operands_(operands),
        space_(s),
        parameters_(given),
        on_(on),
        tiled_(tile_scan(s, code, compiled.policy)),
        plan_(tiled_.plan) {}

  void run() {
    if (space_.columns) run_columns();
    else run_rows();
  }

 private:
  void run_rows() {
    const std::size_t cell = tagged_bytes(static_cast<std::size_t>(code_.value_bytes));
    const auto tiles = static_cast<std::size_t>(plan_.grid), groups = tiles / scan_groups + 1,
               prefixes = groups / scan_groups + 2;
    const std::size_t bytes = 16 + cell * (tiles + groups + prefixes);
    const buffer_ref scratch = buffer_ref::allocate(bytes, space_.space.where);  // goes back to the pool behind the kernel
    auto* const at = static_cast<unsigned char*>(scratch.data());
    parameters_.ticket = reinterpret_cast<unsigned*>(at);
    parameters_.tiles = at + 16;
    parameters_.groups = at + 16 + cell * tiles;
    parameters_.prefixes = at + 16 + cell * (tiles + groups);
    stream_state& s = stream_state::of(on_);
    s.on.set_zero(at, bytes, s.index, s.native);
    other_ = {at, bytes, false};
    kernel_parameters given = arguments();
    launch(kernel_of(space_), plan_.grid, given.range());
  }

  void run_columns() {
    const std::int64_t rows = space_.row, across = space_.space.extents[space_.space.rank - 1],
                       columns = space_.space.elements / rows;
    buffer_ref totals;
    parameters_.columns = columns;
    parameters_.chunks = plan_.chunks;
    parameters_.across = across;
    if (plan_.chunks > 1) {
      const auto bytes = static_cast<std::size_t>(columns * plan_.chunks * code_.value_bytes);
      totals = buffer_ref::allocate(bytes, space_.space.where);
      parameters_.totals = totals.data();
      other_ = {totals.data(), bytes, true};
    }
    const auto pass = [&](bool last) {
      parameters_.last_pass = last ? 1 : 0;
      kernel_parameters given = arguments();
      launch(scan_of_columns, plan_.grid, given.range());
    };
    if (plan_.chunks > 1) {
      pass(false);
      other_.is_empty = false;
      scan_totals_arguments given{{}, parameters_};
      launch(scan_of_totals, plan_.chunks <= scan_block_threads ? pieces(columns, scan_block_threads) : columns, &given.range);
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
    for (int k = 0; k <= code_.inputs; ++k) given.put(argument{operands_[k].word[0], descriptor_of(operands_, k, g, code_.view)});
    if (!g.linear) given.put_strides(g, code_.inputs + 1);
    given.put(parameters_);
    return given;
  }

  void launch(scan_kernel_number number, std::int64_t grid, block_range* arguments) const {
    kernel_launch k{{compiled_.kernel[number], compiled_.architectures, nullptr, code_.view},
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
    k.looks_back = !space_.columns;
    kernels_.launch_kernel(k, on_);
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
  memory_range other_{};  // what the launches tell each other
};

}  // namespace

scan_plan grid_executor::plan_scan(const scan_code& code, const operand* operands, const scan_space& s) const {
  const scan_kernels& kernels = compiled_for(s.space.where, compiled(code.kernels), nullptr, code.view, operands);
  scan_plan p = tile_scan(s, code, kernels.policy).plan;
  const kernel_attributes known = attributes({kernels.kernel[kernel_of(s)], kernels.architectures, nullptr, code.view},
                                             scan_block_threads, s.space.where.index);
  p.registers = known.registers;
  p.blocks_per_multiprocessor = known.blocks_per_multiprocessor > 0 ? known.blocks_per_multiprocessor : kernels.policy.blocks;
  p.devices = members_for(s.space.where, operands, code.inputs + 1);
  p.per_element = cost_of(code.view, [operands](std::uint64_t k) { return first_of_array(operands, static_cast<int>(k)); });
  return p;
}

void grid_executor::run_scan(const scan_code& code, const operand* operands, const scan_space& s,
                             const scan_parameters& parameters, const stream& on) const {
  const scan_kernels& kernels = compiled_for(s.space.where, compiled(code.kernels), nullptr, code.view, operands);
  grid_scan(*this, kernels, code, operands, s, parameters, on).run();
}

}  // namespace dsl::detail

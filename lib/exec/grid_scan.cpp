// Scans on a grid of blocks of threads.
#include <algorithm>

#include "exec/grid_executor.hpp"
#include "exec/layout.hpp"
#include "exec/parameters.hpp"
#include "exec/scan.hpp"
#include "exec/text.hpp"
#include "mem/buffer.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {

namespace {

// How the kernels cover a scan's space.
struct scan_plan {
  tiling tiles_of{};
  std::int64_t tiles = 0, grid = 0, chunks = 1;
};

scan_plan plan_scan(const scan_space& s, const scan_code& code) {
  const geometry& g = s.space;
  scan_plan p;
  constexpr int block = scan_block_threads;
  if (g.linear) {
    p.tiles = pieces(g.elements, static_cast<std::int64_t>(block) * code.lanes);
    p.grid = pieces(p.tiles, code.rounds);
  } else {
    tiling& t = p.tiles_of;
    t.extents[0] = g.extents[g.rank - 1], t.extents[1] = g.rank > 1 ? g.extents[g.rank - 2] : 1;
    while ((1 << t.log2_columns) < block && (std::int64_t{code.lanes} << t.log2_columns) < t.extents[0]) ++t.log2_columns;
    t.rows = block >> t.log2_columns, t.height = t.rows, t.outer_rank = std::max(0, g.rank - 2), t.width = code.lanes << t.log2_columns;
    if (s.columns) {
      // Columns are cut into chunks where there are too few of them to occupy the device.
      const std::int64_t threads = 1024LL * std::max(1, properties(g.where).multiprocessors);
      const std::int64_t columns = g.elements / s.row / t.extents[0] * pieces(t.extents[0], code.lanes);
      const std::int64_t wanted = std::clamp<std::int64_t>(threads / columns, 1, 1 << 15);
      t.rows = 1, t.height = static_cast<int>(std::clamp<std::int64_t>(pieces(s.row, wanted), 16, 1 << 20));
      p.chunks = pieces(s.row, t.height);
    }
    t.across = divisor::of(pieces(t.extents[0], t.width)), t.down = divisor::of(pieces(t.extents[1], t.height)), t.in_column = divisor::of(1);
    p.tiles = static_cast<std::int64_t>(t.across.by) * t.down.by;
    for (int d = 0; d < t.outer_rank; ++d) t.outer[d] = divisor::of(g.extents[g.rank - 3 - d]), p.tiles *= g.extents[g.rank - 3 - d];
    p.grid = s.columns ? pieces(p.tiles, block >> t.log2_columns) : pieces(p.tiles, code.rounds);
  }
  if (p.tiles > 0x7fffffff) raise<shape_error>(std::to_string(g.elements) + " elements need more blocks than a grid has: a scan of " + spell_pass(code.view));
  return p;
}

// A scan's launches: one for rows; for columns two, and in between one that combines what their chunks come to.
class grid_scan {
 public:
  grid_scan(const grid_executor& kernels, const scan_kernels& compiled, const scan_code& code, const operand* operands, const scan_space& s,
            const scan_parameters& given, const stream& on)
      : kernels_(kernels), compiled_(compiled), code_(code), operands_(operands), space_(s), parameters_(given), on_(on), plan_(plan_scan(s, code)) {}

  void run() {
    if (space_.columns) run_columns();
    else run_rows();
  }

 private:
  void run_rows() {
    const std::size_t cell = tagged_bytes(static_cast<std::size_t>(code_.value_bytes));
    const auto tiles = static_cast<std::size_t>(plan_.grid), groups = tiles / scan_groups + 1, prefixes = groups / scan_groups + 2;
    const std::size_t bytes = 16 + cell * (tiles + groups + prefixes);
    const buffer_ref scratch = buffer_ref::allocate(bytes, space_.space.where);  // goes back to the pool behind the kernel
    auto* const at = static_cast<unsigned char*>(scratch.data());
    parameters_.ticket = reinterpret_cast<unsigned*>(at);
    parameters_.tiles = at + 16, parameters_.groups = at + 16 + cell * tiles, parameters_.prefixes = at + 16 + cell * (tiles + groups);
    stream_state& s = stream_state::of(on_);
    s.on.set_zero(at, bytes, s.index, s.native);
    other_ = {at, bytes, false};
    kernel_parameters given = arguments();
    launch(!space_.space.linear ? scan_of_rows : space_.row < space_.space.elements ? scan_of_linear_rows : scan_of_one_row, plan_.grid, given.data());
  }

  void run_columns() {
    const std::int64_t rows = space_.row, across = space_.space.extents[space_.space.rank - 1], columns = space_.space.elements / rows;
    buffer_ref totals;
    parameters_.columns = columns, parameters_.chunks = plan_.chunks, parameters_.across = across;
    if (plan_.chunks > 1) {
      const auto bytes = static_cast<std::size_t>(columns * plan_.chunks * code_.value_bytes);
      totals = buffer_ref::allocate(bytes, space_.space.where);
      parameters_.totals = totals.data();
      other_ = {totals.data(), bytes, true};
    }
    const auto pass = [&](bool last) {
      parameters_.last_pass = last ? 1 : 0;
      kernel_parameters given = arguments();
      launch(scan_of_columns, plan_.grid, given.data());
    };
    if (plan_.chunks > 1) {
      pass(false);
      other_.is_empty = false;
      launch(scan_of_totals, plan_.chunks <= scan_block_threads ? pieces(columns, scan_block_threads) : columns, &parameters_);
    }
    pass(true);
  }

  kernel_parameters arguments() const {
    const geometry& g = space_.space;
    argument_header header{};
    header.elements = g.elements, header.tiles = plan_.tiles;
    kernel_parameters given(header);
    if (!g.linear) given.put(plan_.tiles_of);
    for (int k = 0; k <= code_.inputs; ++k) given.put(argument{operands_[k].word[0], extra_of(operands_[k], g.walks[k], g.rank)});
    if (!g.linear) given.put_strides(g, code_.inputs + 1);
    given.put(parameters_);
    return given;
  }

  void launch(scan_kernel_number number, std::int64_t grid, const void* arguments) const {
    kernels_.launch_kernel({{compiled_.kernel[number], compiled_.architectures, nullptr, code_.view}, grid, scan_block_threads, 0, arguments, operands_,
                            code_.inputs, 1, space_.space.elements, false, &other_, other_.bytes > 0 ? 1 : 0}, on_);
  }

  const grid_executor& kernels_;
  const scan_kernels& compiled_;
  const scan_code& code_;
  const operand* operands_;
  const scan_space& space_;
  scan_parameters parameters_;
  const stream& on_;
  scan_plan plan_;
  memory_range other_{};  // what the launches tell each other
};

}  // namespace

void grid_executor::run_scan(const scan_code& code, const operand* operands, const scan_space& s, const scan_parameters& parameters, const stream& on) const {
  const scan_kernels& kernels = compiled_for(s.space.where, compiled(code.kernels), nullptr, code.view, operands);
  grid_scan(*this, kernels, code, operands, s, parameters, on).run();
}

}  // namespace dsl::detail

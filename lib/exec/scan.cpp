#include <dsl/exec/scan.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "mem/buffer.hpp"
#include "exec/compiled_for.hpp"
#include "exec/copy.hpp"
#include "cuda/cuda.hpp"
#include "exec/layout.hpp"
#include "exec/parameters.hpp"
#include "exec/scan.hpp"
#include "mem/stream.hpp"
#include "exec/text.hpp"

namespace dsl::detail {

namespace {

std::int64_t pieces(std::int64_t n, std::int64_t piece) { return (n + piece - 1) / piece; }

// Largest strides of the target first, so that what is written is contiguous; its order says nothing where all elements are one row.
int order_dimensions(const geometry& g, const operand& target, int axis, int (&order)[max_rank]) {
  int rank = 0;
  for (int d = 0; d < g.shape_rank; ++d) {
    if (g.shape[d] == 1 && d != axis) continue;
    int at = rank++;
    for (; axis >= 0 && at > 0 && std::abs(target.strides[order[at - 1]]) < std::abs(target.strides[d]); --at) order[at] = order[at - 1];
    order[at] = d;
  }
  return rank;
}

// All arrays contiguous in the order of the walk, whose rows then need no dimension of their own.
bool is_linear(const geometry& g, const operand* operands, int count) {
  if (g.rank > 2) return false;
  for (int k = 0; k < count; ++k) {
    if (!has_elements(operands[k])) continue;
    const std::int64_t* const s = g.walks[k].strides;
    if (operands[k].kind == operand_kind::neighbour || s[g.rank - 1] != 1 || (g.rank == 2 && s[0] != g.extents[1])) return false;
  }
  return true;
}

}  // namespace

void lay_out_scan(scan_space& s, const scan_code& code, const operand* operands, int axis) {
  geometry& g = s.space;
  const int count = code.inputs + 1;
  lay_out(g, operands, code.inputs, 1, code.lanes, code.view);
  for (int k = 0; k < count; ++k) {
    g.walks[k] = {};
    g.walks[k].axis = -1;
    if (has_elements(operands[k])) g.walks[k] = walk_of(g, operands[k]);
  }
  int order[max_rank];
  const int rank = order_dimensions(g, operands[code.inputs], axis, order);
  const auto places = merge_dimensions(g, count, order, rank, axis < 0 ? 0 : 1u << axis);
  if (g.rank == 0) g.rank = 1, g.extents[0] = 1;
  s.row = axis < 0 ? g.elements : g.shape[axis];
  s.columns = false;
  if (axis >= 0) {
    const int place = places[static_cast<std::size_t>(std::find(order, order + rank, axis) - order)], last = g.rank - 1;
    // Rows of one element are columns as well, side by side.
    s.columns = g.rank > 1 && (place != last || s.row == 1);
    // The columns are the last dimension, along which the target lies, and the axis the one before.
    if (s.columns && place == last) move_dimension(g, count, last - 1, last);
    else if (s.columns) move_dimension(g, count, place, last - 1);
  }
  g.linear = !s.columns && is_linear(g, operands, count);
  if (g.linear) g.rank = 1, g.extents[0] = g.elements;
  for (int k = 0; k < count; ++k) {
    if (g.linear && has_elements(operands[k])) g.walks[k].strides[0] = 1;
    g.walks[k].how = is_wide(g, operands[k], g.walks[k], code.lanes) ? access::wide : access::elements;
  }
}

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

class kernel_scan {
 public:
  kernel_scan(const scan_code& code, const operand* operands, const scan_space& s, scan_parameters given, const stream& on)
      : code_(code), operands_(operands), space_(s), parameters_(given), on_(on), plan_(plan_scan(s, code)) {}

  void run() {
    if (space_.columns) run_columns();
    else run_rows();
  }

 private:
  bool simulated() const { return space_.space.where.kind == backend::sim; }

  void run_rows() {
    const std::size_t slot = tagged_bytes(static_cast<std::size_t>(code_.value_bytes));
    const auto tiles = static_cast<std::size_t>(plan_.grid), groups = tiles / scan_groups + 1, prefixes = groups / scan_groups + 2;
    const std::size_t bytes = 16 + slot * (tiles + groups + prefixes);
    const buffer_ref scratch = buffer_ref::allocate(bytes, space_.space.where);  // goes back to the pool behind the kernel
    auto* const at = static_cast<unsigned char*>(scratch.data());
    parameters_.ticket = reinterpret_cast<unsigned*>(at);
    parameters_.tiles = at + 16, parameters_.groups = at + 16 + slot * tiles, parameters_.prefixes = at + 16 + slot * (tiles + groups);
    if (simulated()) std::memset(at, 0, bytes);
    else cuda::set_zero(at, bytes, space_.space.where.index, native_of(on_));
    kernel_parameters given = arguments();
    const int path = !space_.space.linear ? 2 : space_.row < space_.space.elements ? 1 : 0;
    if (!simulated()) {
      void* all[] = {given.data()};
      return launch(code_.cuda->rows[path], plan_.grid, all);
    }
    checked_ranges allowed = ranges();
    for (allowed.block = 0; allowed.block < plan_.grid; ++allowed.block) code_.sim->kernel[path].rows(given.data(), allowed, allowed.block);
  }

  void run_columns() {
    const std::int64_t rows = space_.row, across = space_.space.extents[space_.space.rank - 1], columns = space_.space.elements / rows;
    buffer_ref totals;
    parameters_.columns = columns, parameters_.chunks = plan_.chunks, parameters_.across = across;
    if (plan_.chunks > 1) {
      totals = buffer_ref::allocate(static_cast<std::size_t>(columns * plan_.chunks * code_.value_bytes), space_.space.where);
      parameters_.totals = totals.data();
    }
    kernel_parameters given = arguments();
    checked_ranges allowed = ranges();
    if (totals) allowed.add(reinterpret_cast<std::uintptr_t>(totals.data()), totals.get()->bytes);
    const auto pass = [&](bool last) {
      if (simulated()) {
        for (allowed.block = 0; allowed.block < plan_.grid; ++allowed.block) code_.sim->kernel[2].columns(given.data(), allowed, allowed.block, last);
      } else {
        void* all[] = {given.data(), &last};
        launch(code_.cuda->columns, plan_.grid, all);
      }
    };
    if (plan_.chunks > 1) {
      pass(false);
      if (simulated()) {
        for (std::int64_t c = 0; c < columns; ++c) code_.sim->kernel[2].column_totals(parameters_, c);
      } else {
        void* all[] = {&parameters_};
        launch(code_.cuda->column_totals, plan_.chunks <= scan_block_threads ? pieces(columns, scan_block_threads) : columns, all);
      }
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

  checked_ranges ranges() const {
    checked_ranges r{};
    r.pass = &code_.view, r.operands = operands_;
    for (int k = 0; k <= code_.inputs; ++k)
      if (const buffer* b = operands_[k].memory; b != nullptr) r.add(reinterpret_cast<std::uintptr_t>(b->data), b->bytes);
    return r;
  }

  void launch(const void* kernel, std::int64_t grid, void** parameters) const {
    cuda::launch_kernel({kernel, grid, scan_block_threads, 0, parameters, nullptr, code_.cuda->architectures, code_.view, operands_, space_.space.elements}, on_);
  }

  const scan_code& code_;
  const operand* operands_;
  const scan_space& space_;
  scan_parameters parameters_;
  const stream& on_;
  scan_plan plan_;
};

void run_in_place(const scan_code& code, const operand* operands, const scan_space& s, const scan_request& request) {
  const stream on = stream::current(s.space.where);
  use_operands(operands, code.inputs, 1, on);
  scan_parameters parameters{};
  parameters.row = s.row, parameters.init = request.init, parameters.has_init = request.has_init, parameters.exclusive = request.exclusive;
  const auto require = [&](const auto* compiled) { compiled_for(s.space.where, compiled, nullptr, code.view, operands); };
  switch (s.space.where.kind) {
    case backend::host: return require(code.host), scan_on_host(code, operands, s, parameters);
    case backend::sim: require(code.sim); break;
    case backend::cuda: require(code.cuda); break;
  }
  kernel_scan(code, operands, s, parameters, on).run();
}

}  // namespace

void run_scan(const scan_code& code, const operand* operands, const scan_request& request) {
  scan_space s;
  lay_out_scan(s, code, operands, request.axis);
  if (s.space.elements == 0) return;
  if (!overlaps(operands, code.inputs, 1, s.space)) return run_in_place(code, operands, s, request);
  std::vector<operand> by_way(operands, operands + code.inputs + 1);
  operand& temporary = by_way.back();
  const buffer_ref memory = buffer_ref::allocate(static_cast<std::size_t>(s.space.elements * size_of(temporary.type)), s.space.where);
  temporary.memory = memory.get(), temporary.word[0] = reinterpret_cast<std::uintptr_t>(memory.data());
  std::int64_t step = 1;
  for (int d = temporary.rank - 1; d >= 0; --d) temporary.strides[d] = step, step *= temporary.extents[d];
  lay_out_scan(s, code, by_way.data(), request.axis);
  run_in_place(code, by_way.data(), s, request);
  const operand from_to[] = {temporary, operands[code.inputs]};
  prepared(copy_code(size_of(temporary.type)), from_to, {}).run();
}

void fit_scan_target(operand& target, const std::int64_t* shape, int rank, bool flat) {
  std::int64_t elements = 1;
  for (int d = 0; d < rank; ++d) elements *= shape[d];
  if (flat ? target.extents[0] != elements : !std::equal(shape, shape + rank, target.extents)) {
    const std::string of = "a scan of shape " + spell_shape(flat ? &elements : shape, flat ? 1 : rank);
    raise<shape_error>(of + " cannot be assigned to shape " + spell_shape(target.extents, target.rank));
  }
  if (!flat) return;
  std::int64_t step = target.strides[0];
  target.rank = rank;
  for (int d = rank - 1; d >= 0; --d) target.extents[d] = shape[d], target.strides[d] = step, step *= shape[d];
}

void throw_scan_deadlock() { raise<memory_error>("a block of a scan waits for one that comes after it"); }

}  // namespace dsl::detail

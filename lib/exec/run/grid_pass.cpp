// Runs passes on a grid of blocks of threads.
#include <algorithm>
#include <bit>
#include <utility>

#include <dsl/exec/reduce/pairs.hpp>

#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/grid_executor.hpp"
#include "exec/run/parameters.hpp"
#include "exec/run/scratch.hpp"
#include "exec/run/shares.hpp"
#include "exec/stencil/halos.hpp"
#include "exec/stencil/patches.hpp"

namespace dsl::detail {

void grid_executor::order_reduced(geometry& g, const operand* operands, int inputs, int count,
                                  const pass_view& pass) const {
  if (g.kept != 0) order_for_blocks(g, count);
  if (may_pair(pass)) order_pairs(g, operands, inputs, count);
}

std::string grid_executor::describe_launch(const dsl::plan& p) const {
  std::string s = "grid " + std::to_string(p.grid) + " x block " + std::to_string(p.block) + ", " +
                  std::to_string(p.lanes) + " lanes a thread";
  if (p.devices == 1)
    s += ", on one of " + std::to_string(back_end::of(p.where).members().size()) + " devices";
  if (p.devices > 1) s += ", shared by " + std::to_string(p.devices) + " devices";
  return s;
}

namespace {

pass_kernel_number kernel_number(const geometry& g, const tile_plan& t) {
  return g.linear || t.patch_rows > 0 || t.displaced ? pass_first
         : t.halos > 0                               ? pass_halos
                                                     : pass_strided;
}

}  // namespace

reduction_plan bound_pass::plan_for(const grid_executor& devices) const {
  const program_code& code = *code_;
  const geometry& g = space_;
  const pass_kernels& kernels =
      compiled_for(g.where, devices.compiled(code.kernels), code.name, code.pass.view, operands());
  reduction_plan found = plan_neighbours(g, operands(), code.inputs, code.pass);
  const kernel_entry entry{kernels.kernel[kernel_number(g, found.tile)], kernels.architectures,
                           code.name, code.pass.view};
  const int planned = found.tile.patch_rows > 0 ? kernels.policy.patch_block : kernels.policy.block;
  const int block = fixed_.block > 0 ? fixed_.block : planned;
  reduction_plan p =
      detail::make_plan(std::move(found), g, operands(), code.inputs, code.pass, kernels.policy,
                        devices.attributes(entry, block, g.where.index), fixed_);
  if (code.reduces())
    p.partial_bytes = static_cast<std::size_t>(p.results_a_thread * (p.block / p.threads_a_result) *
                                               code.pass.accumulator_bytes);
  return p;
}

namespace {

int log2_of(int power) { return std::countr_zero(static_cast<unsigned>(std::max(power, 1))); }

// Whether some arrays have one element for all lanes of a group, and all others are in vectors.
bool have_singles(const operand* operands, const geometry& g, int count) {
  bool any = false;
  for (int k = 0; k < count; ++k) {
    if (operands[k].kind != operand_kind::array) continue;
    const bool single = g.rank > 0 && g.layouts[k].strides[g.rank - 1] == 0;
    if (!single && g.layouts[k].how != access::wide) return false;
    any = any || single;
  }
  return any;
}

// Computes `tiling::has_alike_rows`.
bool has_alike_rows(const operand* operands, const geometry& g, int count, const tiling& t,
                    int lanes) {
  if (t.along_rows != 0 || g.leads.lanes > 0) return false;
  bool in_vectors = g.extents[g.rank - 1] >= lanes;
  for (int k = 0; k < count; ++k) {
    if (operands[k].kind != operand_kind::array) continue;
    const std::int64_t step = g.layouts[k].strides[g.rank - 1];
    const access how = g.layouts[k].how;
    if ((step != 0 && step != 1) || how == access::tiled || how == access::row) return false;
    in_vectors = in_vectors && (step == 0 || how == access::wide);
  }
  return !in_vectors;
}

tile_leads leads_of_tiles(const geometry& g) {
  const bool reduces_rows = g.kept != 0 && !is_kept(g, g.rank - 1),
             keeps_columns = g.kept != 0 && !reduces_rows;
  // The elements of a vector before a row's first one are what a lead is short of a vector.
  const auto moved = [&](std::uint32_t lead) { return reduces_rows ? lead : 0 - lead; };
  tile_leads t{g.leads.lanes,
               keeps_columns ? 0 : g.leads.lanes - 1,
               reduces_rows ? 1 : -1,
               keeps_columns ? 2 * g.leads.lanes : 0,
               moved(g.leads.first),
               g.rank > 1 ? moved(g.leads.steps[g.rank - 2]) : 0,
               {}};
  for (int d = 0; d + 2 < g.rank; ++d) t.outer[g.rank - 3 - d] = moved(g.leads.steps[d]);
  return t;
}

tiling tiling_of(const operand* operands, const geometry& g, int inputs, int count,
                 const reduction_plan& p) {
  tiling t{};
  const auto pieces = [](std::int64_t n, std::int64_t piece) {
    return std::max<std::int64_t>(1, (n + piece - 1) / piece);
  };
  t.extents[0] = g.extents[g.rank - 1];
  t.extents[1] = g.rank > 1 ? g.extents[g.rank - 2] : 1;
  t.log2_columns = log2_of(p.tile.columns);
  t.rows = p.tile.rows;
  t.outer_rank = std::max(0, g.rank - 2);
  t.shared_bytes = p.tile.shared_bytes;
  t.width = p.tile.width;
  t.height = p.tile.height;
  t.pairs = g.pairs && p.tile.shared_bytes > 0 ? 1 : 0;
  for (int k = 0; t.pairs != 0 && k < inputs; ++k)
    if (g.layouts[k].how == access::row) t.in_rows |= std::uint64_t{1} << k;
  t.along_rows = t.pairs != 0 || p.tile.width > p.tile.columns * p.lanes ? 1 : 0;
  t.group_distance = t.along_rows != 0 ? p.tile.columns * p.lanes : p.tile.rows;
  t.has_alike_rows = has_alike_rows(operands, g, count, t, p.lanes) ? 1 : 0;
  for (int d = 0; d < g.rank; ++d) t.kept |= (g.kept >> d & 1) << (g.rank - 1 - d);
  t.shared_columns = columns_in_shared(g, t.width);
  std::int64_t before = p.halos ? p.halos->before : 0;
  if (g.leads.lanes > 0 && !p.halos) {
    t.leads = leads_of_tiles(g);
    before = t.leads.longest;
  }
  t.across = divisor::of(pieces(t.extents[0] + before, t.width));
  t.down = divisor::of(pieces(t.extents[1], t.height));
  t.in_column = divisor::of(std::min(t.height, p.block));
  t.dimension_of_axis = dimensions_of_axes(g);
  for (int d = 0; d < t.outer_rank; ++d) {
    const std::int64_t extent = g.extents[g.rank - 3 - d];
    t.outer[d] =
        divisor::of(std::max<std::int64_t>(1, d == 0 ? pieces(extent, p.tile.planes) : extent));
  }
  t.planes = p.tile.planes;
  t.third = g.rank > 2 ? g.extents[g.rank - 3] : 1;
  return t;
}

}  // namespace

kernel_parameters pass_parameters(const program_code& code, const operand* operands,
                                  const geometry& g, const reduction_plan& p, const pass_run& now) {
  const std::uint64_t* const recorded = now.recorded;
  const int inputs = code.inputs, count = inputs + code.outputs();
  const bool columns_kept = g.kept != 0 && (g.kept >> (g.rank - 1) & 1) != 0;
  const kept_along kept = g.kept == 0    ? kept_along::none
                          : columns_kept ? kept_along::columns
                                         : kept_along::rows;
  const sharing threads{log2_of(p.distance), log2_of(p.threads_a_result)};
  kernel_parameters given(
      {{},
       g.elements,
       p.tile.count,
       {g.count, p.splits, p.results_a_thread, threads, kept, nullptr, nullptr, now.stop}});
  given.header().reduction.take_neighbours(p.tile.count, 0, p.splits);
  given.header().phase = static_cast<std::int16_t>(code.phase);
  given.header().in_vectors = are_in_vectors(operands, g, count) ? 1 : 0;
  given.header().has_singles = have_singles(operands, g, count) ? 1 : 0;
  const bool is_line = g.linear || p.tile.displaced;
  if (p.tile.displaced) given.put(space_of_displaced(g));
  else if (!is_line) given.put(tiling_of(operands, g, inputs, count, p));
  int shared = 0;
  for (int k = 0; k < count; ++k) {
    const operand& o = operands[k];
    const operand_layout& w = g.layouts[k];
    std::uint64_t descriptor = descriptor_of(operands, k, g, code.pass.view);
    if (o.kind == operand_kind::result) descriptor = recorded != nullptr ? recorded[k - inputs] : 0;
    if (w.how == access::row && p.tile.shared_bytes > 0)
      descriptor = in_tile + static_cast<std::uint64_t>(k * pair_row_bytes);
    if (o.kind == operand_kind::array && w.how == access::tiled) {
      const int size = size_of(o.type),
                tile = tile_bytes(columns_in_shared(g, p.tile.width), p.tile.height, size);
      if (shared + tile <= p.tile.shared_bytes) {
        descriptor = in_tile + static_cast<std::uint64_t>(shared + g.leads.lanes * size);
        shared += tile;
      }
    }
    given.put(argument{o.word[0], descriptor});
  }
  for (int k = count; k < code.kernel_operands; ++k) given.put(argument{});
  if (!is_line) given.put_strides(g, count);
  if (p.halos) {
    given.put(tiles_of_halos(*p.halos));
    for (int k = 0; k < count; ++k)
      given.put(k < inputs ? place_in_halo(*p.halos, k) : std::uint32_t{0});
    for (int k = 0; k < count; ++k)
      given.put(k < inputs ? step_in_halo(*p.halos, k) : std::int32_t{0});
  }
  return given;
}

namespace {

kernel_parameters parameters_of(const bound_pass& pass, const reduction_plan& p) {
  return pass_parameters(pass.code(), pass.operands(), pass.space(), p, pass.now());
}

// Whether each member of a mesh takes adjacent tiles of each group.
bool takes_neighbours(const reduction_plan& p, const reduction_schedule& reduction) {
  return reduction.kept != kept_along::rows && p.splits > 1 && p.devices > 1;
}

struct neighbouring_tiles final : member_parameters {
  int blocks_together;
  explicit neighbouring_tiles(int groups) : blocks_together(groups) {}
  void fill(kernel_parameters& given, int, std::int64_t first, std::int64_t blocks) const override {
    given.take_neighbours(first / blocks_together, blocks / blocks_together);
  }
};

void launch_pass(const grid_executor& devices, const bound_pass& pass, const reduction_plan& p,
                 kernel_parameters& given, const memory_range* others, int other_count,
                 const stream& on) {
  const program_code& code = pass.code();
  const pass_kernels& kernels = *devices.compiled(code.kernels);
  kernel_launch k{{kernels.kernel[kernel_number(pass.space(), p.tile)], kernels.architectures,
                   code.name, code.pass.view},
                  p.grid,
                  p.block,
                  p.shared_bytes,
                  given.range(),
                  pass.operands(),
                  code.inputs,
                  code.outputs(),
                  p.elements,
                  false,
                  others,
                  other_count};
  if (p.tile.columns == 0 && !code.reduces() && !p.tile.displaced)
    k.elements_a_block = p.tile.width;
  argument_header& header = given.header();
  const neighbouring_tiles tiles(static_cast<int>(p.groups));
  if (takes_neighbours(p, header.reduction)) {
    k.parameters = &given;
    k.of_members = &tiles;
    k.blocks_together = tiles.blocks_together;
    if (p.groups > 1) header.reduction.by_splits = static_cast<std::uint32_t>(p.groups);
  }
  devices.launch_kernel(k, on);
}

// Adds what an evaluation accesses beside its operands to `others`: the second addresses of
// results, and the flag that ends a loop. Returns their number.
int add_others(memory_range* others, const bound_pass& pass) {
  const program_code& code = pass.code();
  const std::uint64_t* const recorded = pass.now().recorded;
  int count = 0;
  if (pass.now().stop != nullptr) others[count++] = {pass.now().stop, sizeof(bool), false};
  for (int i = 0; recorded != nullptr && i < code.outputs(); ++i)
    if (recorded[i] != 0)
      others[count++] = {reinterpret_cast<const void*>(recorded[i]),
                         static_cast<std::size_t>(size_of(code.pass.view.type(i))), false};
  return count;
}

// A single block computes the results from the partial results of all.
void launch_finish(const grid_executor& devices, const bound_pass& pass, const reduction_plan& p,
                   const reduction_schedule& left, const memory_range* others, int other_count,
                   const stream& on) {
  const program_code& code = pass.code();
  const pass_kernels& kernels = *devices.compiled(code.kernels);
  const std::uint64_t* const recorded = pass.now().recorded;
  const int inputs = code.inputs, count = inputs + code.outputs();
  kernel_parameters given({{}, p.elements, 0, left});
  for (int k = 0; k < count; ++k) {
    const operand& o = pass.operands()[k];
    const bool is_result = o.kind == operand_kind::result;
    given.put(argument{o.word[0],
                       !is_result ? descriptor_of(pass.operands(), k, pass.space(), code.pass.view)
                       : recorded == nullptr ? 0
                                             : recorded[k - inputs]});
  }
  kernel_launch k{{kernels.kernel[pass_finish], kernels.architectures, code.name, code.pass.view},
                  1,
                  finish_threads,
                  finish_threads / properties(p.where).warp_size * code.pass.accumulator_bytes,
                  given.range(),
                  pass.operands(),
                  inputs,
                  code.outputs(),
                  p.elements};
  k.others = others;
  k.other_count = other_count;
  devices.launch_kernel(k, on);
}

// One launch; or two, of which the first leaves partial results and the second combines them.
void run_whole(const grid_executor& devices, const bound_pass& pass, const stream& on) {
  const program_code& code = pass.code();
  const reduction_plan& p = pass.plan();
  kernel_parameters given = parameters_of(pass, p);
  memory_range others[max_operands + 3 + max_members];
  int other_count = add_others(others, pass);
  workspace scratch{};
  if (code.reduces() && p.splits > 1) {
    const std::size_t bytes = pass.partials().all_bytes();
    scratch = p.in_two_launches ? scratch_of_two_launches(on, bytes) : scratch_of(on, bytes);
    reduction_schedule& reduction = given.header().reduction;
    reduction.partials = scratch.partials;
    reduction.tickets = scratch.tickets;
    reduction.partial_count = p.splits;
    reduction.steps =
        p.in_two_launches ? reduction_steps::to_partials : reduction_steps::by_last_block;
    others[other_count++] = {scratch.partials, bytes, true};
    const std::size_t ticket_bytes = static_cast<std::size_t>(p.groups) * sizeof(unsigned);
    if (!p.in_two_launches) others[other_count++] = {scratch.tickets, ticket_bytes, false};
    if (!p.in_two_launches && takes_neighbours(p, reduction)) {
      reduction.ticket_step = scratch.ticket_step;
      reduction.members = static_cast<std::uint32_t>(std::min(p.splits, p.devices));
      for (int m = 0; m < p.devices; ++m)
        others[other_count++] = {reduction.of_member(m, 0).counter, ticket_bytes, false};
    }
  }
  launch_pass(devices, pass, p, given, others, other_count, on);
  if (!p.in_two_launches) return;
  others[other_count - 1].is_empty = false;
  launch_finish(devices, pass, p, given.header().reduction, others, other_count, on);
}

// Leaves partial results in memory of the caller's.
void run_to_partials(const grid_executor& devices, const bound_pass& pass, const stream& on) {
  const reduction_plan& p = pass.plan();
  const pass_run& now = pass.now();
  kernel_parameters given = parameters_of(pass, p);
  reduction_schedule& reduction = given.header().reduction;
  reduction.partials = static_cast<unsigned char*>(now.partials) +
                       static_cast<std::size_t>(now.first) * now.all.bytes;
  reduction.partial_count = static_cast<std::int32_t>(now.all.count);
  reduction.steps = reduction_steps::to_partials;
  memory_range others[max_operands + 2];
  int other_count = add_others(others, pass);
  others[other_count++] = {now.partials, now.all.all_bytes(), false};
  launch_pass(devices, pass, p, given, others, other_count, on);
}

// One block for each group, with no tiles of its own.
void run_from_partials(const grid_executor& devices, const bound_pass& pass, const stream& on) {
  const pass_run& now = pass.now();
  reduction_plan p = pass.plan();
  p.grid = p.groups;
  p.splits = 1;
  p.tile.count = 0;
  kernel_parameters given = parameters_of(pass, p);
  reduction_schedule& reduction = given.header().reduction;
  reduction.count = now.count;
  reduction.partials = now.partials;
  reduction.partial_count = static_cast<std::int32_t>(now.all.count);
  reduction.steps = reduction_steps::of_partials;
  memory_range others[max_operands + 2];
  int other_count = add_others(others, pass);
  others[other_count++] = {now.partials, now.all.all_bytes(), false};
  launch_pass(devices, pass, p, given, others, other_count, on);
}

}  // namespace

void bound_pass::run_on(const grid_executor& devices, const stream& on) const {
  switch (now_.part) {
    case reduction_part::whole: return run_whole(devices, *this, on);
    case reduction_part::to_partials: return run_to_partials(devices, *this, on);
    case reduction_part::from_partials: return run_from_partials(devices, *this, on);
  }
}

}  // namespace dsl::detail

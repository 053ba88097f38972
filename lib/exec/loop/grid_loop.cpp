// Plans and runs all steps of a loop as one kernel, on a grid of blocks of threads.
#include <dsl/exec/team/tagged.hpp>

#include <algorithm>

#include "exec/loop/loop_launch.hpp"
#include "exec/loop/tiles.hpp"
#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/grid_executor.hpp"
#include "exec/run/parameters.hpp"
#include "exec/run/shares.hpp"

namespace dsl::detail {

namespace {

kernel_entry entry_of(const grid_executor& devices, const loop& of, loop_kernel_number which) {
  const loop_kernels& kernels = *devices.compiled(of.compiled().kernels);
  return {kernels.kernel[static_cast<int>(which)], kernels.architectures, of.code().name,
          of.code().pass.view};
}

}  // namespace

loop_support grid_executor::supports(const loop& of) const {
  const loop_kernels* const kernels = compiled(of.compiled().kernels);
  return {.one_kernel = kernels != nullptr,
          .one_block = true,
          .carries_scalars = true,
          .cooperative = is_cooperative(of.where().index),
          .graphs = has_graphs_,
          .policy = kernels != nullptr ? kernels->policy : loop_policy{}};
}

// Chooses blocks, threads and the memory on chip so that each thread has as little work a step as
// possible.
loop_plan loop_launch::plan_for(const grid_executor& devices) const {
  const loop& of = *loop_;
  const strategy how = how_;
  loop_plan p;
  const program_code& step = of.code();
  const launch& fixed = of.fixed();
  p.where = of.where();
  p.devices = members_for(p.where, of.operands(), step.inputs + step.outputs());
  p.elements = of.space().elements;
  p.lanes = step.pass.lanes;
  p.per_element = of.cost_per_element();
  const int vector_bytes = of.compiled().vector_bytes;
  p.policy = devices.compiled(of.compiled().kernels)->policy;
  const device_properties& device =
      properties_for(p.where, of.operands(), step.inputs + step.outputs());
  const kernel_attributes attributes = devices.attributes(
      entry_of(devices, of, loop_kernel_number::first), p.policy.block, p.where.index);
  const std::int64_t groups = pieces(p.elements, p.lanes);
  const int warp = device.warp_size;
  const auto warps_from = [warp](std::int64_t threads) { return whole_warps(threads, warp); };
  p.loop = how;
  p.registers = attributes.registers;
  p.blocks_per_multiprocessor = std::max(1, attributes.blocks_per_multiprocessor);
  const int most =
      attributes.max_block > 0 ? std::min(attributes.max_block, p.policy.block) : p.policy.block;
  if (fixed.block < 0 || fixed.block % warp != 0 || fixed.block > most)
    raise<device_error>("a block of " + std::to_string(fixed.block) +
                        " threads was asked for; this loop takes multiples of " +
                        std::to_string(warp) + " up to " + std::to_string(most));
  if (how == strategy::elementwise) {
    p.block = fixed.block > 0 ? fixed.block
                              : std::min(p.policy.elementwise_block,
                                         warps_from(pieces(groups, device.multiprocessors)));
    p.grid = pieces(groups, p.block);
    require_grid(fixed, p.grid, step.pass.view);
    return p;
  }
  // The threads of a block: enough that each reads one other block's accumulators. A warp alone,
  // which needs no barrier, reads two.
  const auto with_exchange = [&](int threads) {
    const bool enough = !of.reduces() || (threads == warp && p.grid <= 2 * threads);
    return enough ? threads : std::max(threads, std::min(most, warps_from(p.grid)));
  };
  const auto keep_on_chip = [&] {
    p.reused_bytes = of.compiled().reused_bytes;
    p.registers = devices
                      .attributes(entry_of(devices, of, loop_kernel_number::on_chip),
                                  p.policy.block, p.where.index)
                      .registers;
  };
  const std::int64_t room =
      static_cast<std::int64_t>(device.shared_per_block) - attributes.static_shared;
  if (how == strategy::tiled) {
    const tile_needs& needs = of.compiled().tiles;
    const double work =
        static_cast<double>(std::max(1, p.per_element.flops)) * static_cast<double>(p.elements);
    const auto cut_for = [&](std::int64_t blocks) {
      return cut_into_tiles(of.space(), of.operands(), needs, p.lanes,
                            fixed.block > 0 ? fixed.block : most, blocks, room);
    };
    tile_cut cut{};
    if (fixed.grid == 0 && work <= p.policy.one_block) cut = cut_for(1);
    if (cut.count() == 0)
      cut = cut_for(fixed.grid > 0
                        ? fixed.grid
                        : std::clamp<std::int64_t>(groups / warp, 1, device.multiprocessors));
    std::copy_n(cut.tiles, 3, p.tiles);
    p.grid = cut.count();
    const tile_threads threads = tile_threads::of(
        static_cast<int>(std::max<std::int64_t>(1, cut.extent[0] / p.lanes)), most);
    const std::int64_t lines =
        pieces(cut.extent[1], std::max(1, cut.rows_of_patch(needs))) * cut.extent[2];
    p.block = fixed.block > 0 ? fixed.block
                              : with_exchange(warps_from(
                                    threads.across * std::min<std::int64_t>(threads.down, lines)));
    const std::int64_t reused =
        std::int64_t{of.compiled().reused_bytes} * cut.schedule.other_elements;
    p.tile_in_memory = cut.in_memory();
    p.on_chip = p.tile_in_memory == 0 && cut.schedule.bytes(needs) + reused <= room;
    p.shared_bytes = static_cast<int>(cut.schedule.bytes(needs) + (p.on_chip ? reused : 0));
    if (p.on_chip) keep_on_chip();
    return p;
  }
  const std::int64_t blocks =
      how == strategy::one_block ? 1
      : fixed.grid > 0 ? fixed.grid
                       : std::min<std::int64_t>(device.multiprocessors, pieces(groups, warp));
  p.grid = std::max<std::int64_t>(1, blocks);
  require_grid(fixed, p.grid, step.pass.view);
  p.block_vectors = pieces(groups, p.grid);
  p.block =
      fixed.block > 0 ? fixed.block : with_exchange(std::min(most, warps_from(p.block_vectors)));
  // Rows of vectors, one vector a thread: as many as registers hold, then shared memory. The rest
  // is streamed through shared memory.
  const bool stream = how == strategy::streamed;
  if (!stream && of.compiled().rows_on_chip > 0 &&
      pieces(p.block_vectors, p.block) <= of.compiled().rows_on_chip) {
    p.on_chip = true;
    p.held = static_cast<int>(pieces(p.block_vectors, p.block));
    keep_on_chip();
    return p;
  }
  const auto cut = [&] {
    const auto rows =
        static_cast<int>(std::min<std::int64_t>(pieces(p.block_vectors, p.block), 1 << 30));
    const std::int64_t row_bytes = std::max(1, p.block * vector_bytes);
    const int others = std::max(0, rows - p.policy.vectors_held),
              fit = static_cast<int>(room / row_bytes);
    p.held = rows - others;
    p.in_shared = others;
    p.streamed = 0;
    if (others > fit || (stream && others > p.policy.rows_ahead)) {
      p.in_shared =
          std::clamp(others - p.policy.rows_ahead - 1, 0, std::max(0, fit - p.policy.rows_ahead));
      p.streamed = others - p.in_shared;
    }
    const std::int64_t bytes =
        (p.in_shared + (p.streamed > 0 ? p.policy.rows_ahead : 0)) * row_bytes;
    p.shared_bytes = static_cast<int>(std::min<std::int64_t>(bytes, 1 << 30));
    return bytes <= room && (p.streamed == 0 || p.streamed > p.policy.rows_ahead);
  };
  bool fits = cut();
  // A smaller block has more rows, and each row needs less room.
  while (fixed.block == 0 && p.block > warp && (!fits || (stream && p.streamed == 0))) {
    p.block = warps_from(p.block / 2);
    fits = cut();
  }
  if (!fits)
    raise<device_error>(
        "a loop's variables take " + std::to_string(vector_bytes) +
        " bytes a thread of a block of " + std::to_string(p.block) +
        ", too much for shared memory: take a smaller block, or dsl::strategy::launches");
  // The share of streamed rows that the L2 cache keeps, in eighths (docs/lab.md).
  const double bytes =
      static_cast<double>(p.streamed) * static_cast<double>(p.grid) * p.block * vector_bytes;
  p.l2_resident = p.streamed == 0
                      ? 0
                      : static_cast<int>(std::min(8.0, 8 * 0.01 * p.policy.resident_percent *
                                                           static_cast<double>(device.l2) / bytes));
  return p;
}

namespace {

bool has_second_buffer(const loop& of, int variable) {
  return (of.compiled().tiles.beside >> variable & 1) != 0;
}

// A tiling without tiles, from which the kernel finds neighbours.
tiling tiling_of_grid(const geometry& g) {
  tiling t{};
  t.extents[0] = g.extents[g.rank - 1];
  t.extents[1] = g.extents[g.rank - 2];
  t.third = g.rank > 2 ? g.extents[g.rank - 3] : 1;
  t.outer_rank = g.rank - 2;
  t.outer[0] = divisor::of(t.third);
  t.planes = 1;
  t.dimension_of_axis = dimensions_of_axes(g);
  return t;
}

bool varies(const operand_layout& o, int rank) {
  return std::any_of(o.strides, o.strides + rank, [](std::int64_t s) { return s != 0; });
}

// `schedule` already has the cells and the epoch of the first step; `arrivals` are those of the
// tiles.
kernel_parameters loop_parameters(const loop& of, const loop_plan& p, const loop_steps& steps,
                                  step_schedule schedule, quad* arrivals, const loop_part* part) {
  const geometry& g = of.space();
  const operand* const operands = of.operands();
  const int inputs = of.code().inputs, count = inputs + of.code().outputs();
  const std::int64_t every = steps.all.every;
  schedule.steps = steps.count;
  schedule.every = every;
  schedule.recorded = steps.done / every;
  schedule.to_record = every - steps.done % every;
  schedule.in_shared = p.in_shared;
  schedule.streamed = p.streamed;
  schedule.l2_resident = p.l2_resident;
  const std::int64_t total = part != nullptr ? part->count : g.count;
  kernel_parameters given(
      {{}, g.elements, 1, {total, 1, 1, {0, 0}, kept_along::none, nullptr, nullptr, nullptr}});
  const bool by_tiles = p.loop == strategy::tiled;
  std::int64_t before = 0;
  if (by_tiles) {
    given.put(tiling_of_grid(g));
  } else {
    schedule.divide(pieces(g.elements, p.lanes), p.grid, p.block);
    if (part != nullptr) {
      // Number the elements as if all blocks before this part's had as many as its own.
      const std::int64_t first = part->range.first;
      before =
          first * ((schedule.in_shared + schedule.streamed) * p.block + schedule.groups) * p.lanes;
      schedule.more_from += first;
      given.header().elements += before;
    }
    given.put(schedule);
  }
  for (int k = 0; k < count; ++k) {
    operand o = operands[k];
    count_step(o, steps.all.first + steps.done);
    if (o.counts_steps) {
      given.put(argument{o.word[0], counts_steps});
      continue;
    }
    const std::int64_t moved = varies(g.layouts[k], g.rank) ? before * size_of(o.type) : 0;
    given.put(argument{o.word[0] - static_cast<std::uint64_t>(moved),
                       descriptor_of(operands, k, g, of.code().pass.view)});
  }
  if (by_tiles) {
    given.put_strides(g, count);
    given.put(schedule);
    tile_schedule tile =
        tiles_of(g, of.compiled().tiles, p.lanes, p.tiles, p.shared_bytes).schedule;
    tile.arrivals = arrivals;
    given.put(tile);
    for (int i = 0; i < of.compiled().states; ++i)
      given.put(has_second_buffer(of, i)
                    ? reinterpret_cast<std::uint64_t>(of.second_buffer(i).data())
                    : std::uint64_t{0});
  }
  for (int k = 0; k < count; ++k)
    given.put(
        k < inputs ? static_cast<std::uint64_t>(operands[k].step_bytes / size_of(operands[k].type))
        : steps.histories[k - inputs].memory == nullptr ? std::uint64_t{0}
                                                        : steps.histories[k - inputs].word[0]);
  return given;
}

}  // namespace

std::size_t bytes_of_sums(const loop& of, std::int64_t blocks) {
  return 2 * static_cast<std::size_t>(blocks) *
         tagged_bytes(static_cast<std::size_t>(of.compiled().accumulator_bytes));
}

std::int64_t exchanges_in(const loop& of, std::int64_t steps) {
  // Tiles count steps, whether a step exchanges anything or not.
  return steps * std::max(1, of.compiled().exchanges);
}

void loop_launch::run_on(const grid_executor& devices, const stream& on) const {
  const loop& of = *loop_;
  const loop_plan& p = plan();
  const loop_steps& steps = *steps_;
  const loop_part* const part = part_;
  const program_code& step = of.code();
  const int outputs = step.outputs();
  memory_range others[2 * max_operands + 1];
  int other_count = 0;
  for (int i = 0; i < outputs; ++i)
    if (const operand& h = steps.histories[i]; h.memory != nullptr)
      others[other_count++] = {reinterpret_cast<const void*>(h.word[0]),
                               static_cast<std::size_t>(h.extents[0] * size_of(h.type)), false};
  step_schedule schedule{};
  exchange_cells shared{};
  quad* arrivals = nullptr;
  const bool together = part != nullptr || (p.grid > 1 && p.loop != strategy::elementwise);
  if (together) {
    const std::size_t blocks = static_cast<std::size_t>(p.grid), sums = bytes_of_sums(of, p.grid),
                      bytes = sums + (p.loop == strategy::tiled ? blocks * sizeof(quad) : 0);
    shared = part != nullptr ? part->cells : cells_of(on, bytes, exchanges_in(of, steps.count));
    schedule.cells = shared.cells;
    schedule.copy_bytes = static_cast<std::int64_t>(shared.copy_bytes);
    schedule.epoch = shared.epoch;
    arrivals = reinterpret_cast<quad*>(static_cast<unsigned char*>(shared.cells) + sums);
    others[other_count++] = {shared.cells, shared.all_bytes, false};
  }
  for (int i = 0; p.loop == strategy::tiled && i < of.compiled().states; ++i)
    if (has_second_buffer(of, i)) {
      const buffer_ref& second = of.second_buffer(i);
      use(second.get(), on, true);
      others[other_count++] = {
          second.data(), static_cast<std::size_t>(p.elements * size_of(of.operands()[i].type)),
          true};
    }
  kernel_parameters given = loop_parameters(of, p, steps, schedule, arrivals, part);
  kernel_launch k{
      entry_of(devices, of, p.on_chip ? loop_kernel_number::on_chip : loop_kernel_number::first),
      p.grid,
      p.block,
      p.shared_bytes,
      given.range(),
      of.operands(),
      step.inputs,
      outputs,
      p.elements,
      together,
      others,
      other_count};
  k.first_step = steps.all.first + steps.done;
  if (part != nullptr) k.part = &part->range;
  devices.launch_kernel(k, on);
}

}  // namespace dsl::detail

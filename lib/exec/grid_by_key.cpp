// Reductions by key on a grid of blocks of threads.
#include <algorithm>

#include "exec/grid_executor.hpp"
#include "exec/layout.hpp"
#include "exec/warp_tiles.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

namespace {

// How a block's warps share its shared memory.
struct table_plan {
  std::int64_t span;
  int warps, tables, log2_copies, tags, shared_bytes;
};

constexpr int most_warps = by_key_threads / 32;

// Counters are all warps' own where there is room, for as many lanes as there is, so that few wait for each other.
table_plan plan_counters(std::int64_t groups, std::int64_t room) {
  constexpr std::int64_t bytes = sizeof(unsigned), enough_tables = 4;
  table_plan p{groups, most_warps, 1, 0, 0, 0};
  for (p.log2_copies = 5; p.log2_copies > 0; --p.log2_copies)
    if (room >= enough_tables * bytes * by_key_entries(groups, p.log2_copies)) break;
  p.span = std::min(groups, room / bytes - by_key_entries(0, 0));
  const std::int64_t table = bytes * by_key_entries(p.span, p.log2_copies);
  p.tables = static_cast<int>(std::min<std::int64_t>(room / table, most_warps));
  p.shared_bytes = static_cast<int>(p.tables * table);
  return p;
}

// As many copies as leave a multiprocessor enough warps to wait for memory, with a tag for each entry; else fewer tags, and fewer
// warps, and at last several launches for the groups.
table_plan plan_tables(std::int64_t groups, std::int64_t accumulator_bytes, std::int64_t room) {
  constexpr std::int64_t enough_warps = 12, enough_without_tags = 8, least_warps = 4, most_tags = 2048 + 32;
  std::int64_t few_tags = 64;
  while (few_tags < 2048 && 4 * few_tags * static_cast<std::int64_t>(sizeof(unsigned)) * least_warps <= room) few_tags *= 2;
  const auto planned = [&](std::int64_t span, int log2_copies, std::int64_t tags) {
    const std::int64_t table = by_key_entries(span, log2_copies) * accumulator_bytes;
    const auto all = (room - 16) / (table + tags * static_cast<std::int64_t>(sizeof(unsigned)));
    const auto warps = static_cast<int>(std::min<std::int64_t>(all, most_warps));
    return table_plan{span,
                      warps,
                      warps,
                      log2_copies,
                      static_cast<int>(tags),
                      by_key_tag_bytes(warps, static_cast<int>(tags)) + static_cast<int>(warps * table)};
  };
  for (int log2_copies = 5; log2_copies >= 0; --log2_copies) {
    const std::int64_t entries = by_key_entries(groups, log2_copies);
    if (log2_copies < 5 && entries > most_tags) continue;
    const table_plan p = planned(groups, log2_copies, log2_copies == 5 ? 0 : entries);
    if (p.warps >= (log2_copies == 5 ? enough_without_tags : enough_warps)) return p;
  }
  const std::int64_t of_warp = (room - 16) / least_warps - few_tags * static_cast<std::int64_t>(sizeof(unsigned));
  const std::int64_t most = std::max<std::int64_t>(1, of_warp / accumulator_bytes - by_key_entries(0, 0));
  return planned(std::min(groups, most), 0, few_tags);
}

}  // namespace

void grid_executor::run_by_key(const by_key_code& code, const operand* operands, const geometry& g, const by_key_request& request,
                               const stream& on) const {
  const by_key_kernels& kernels = compiled_for(g.where, compiled(code.kernels), nullptr, code.view, operands);
  const operand& target = operands[code.inputs];
  const device_properties& device = properties(g.where);
  const kernel_entry accumulate{kernels.kernel[g.linear ? by_key_linear : by_key_strided], kernels.architectures, nullptr,
                                code.view};
  const kernel_entry finish{kernels.kernel[by_key_results], kernels.architectures, nullptr, code.view};
  const std::int64_t room =
      static_cast<std::int64_t>(device.shared_per_block) - attributes(accumulate, by_key_threads, g.where.index).static_shared;
  const table_plan plan =
      code.counts ? plan_counters(request.groups, room) : plan_tables(request.groups, code.accumulator_bytes, room);
  const warp_tiling tiles = tile_by_warps(g, code.lanes, code.view, operands);
  const std::int64_t blocks = std::clamp<std::int64_t>(pieces(tiles.count, plan.warps), 1, std::max(1, device.multiprocessors));

  const auto bytes = static_cast<std::size_t>(blocks * plan.span * code.accumulator_bytes);
  const buffer_ref partials = buffer_ref::allocate(bytes, g.where);  // goes back to the pool behind the kernels
  memory_range others{partials.data(), bytes, true};
  const argument outputs[] = {{}, {target.word[0], static_cast<std::uint64_t>(target.strides[0])}};
  kernel_parameters of_elements = warp_tile_parameters(tiles, g, operands, code.inputs, code.view, outputs, 2);
  geometry line = g;  // the kernel that makes results knows scalars alone of its operands
  line.linear = true;
  kernel_parameters of_results = warp_tile_parameters(tiles, line, operands, code.inputs, code.view, outputs, 2);

  const auto launch = [&](const kernel_entry& kernel, const kernel_parameters& common, const by_key_parameters& by_key,
                          std::int64_t grid, int block, int shared) {
    kernel_parameters given = common;
    given.put(by_key);
    launch_kernel({kernel, grid, block, shared, given.range(), operands, code.inputs, 1, g.elements, false, &others, 1}, on);
  };
  for (std::int64_t first = 0; first < request.groups; first += plan.span) {
    by_key_parameters p{};
    p.groups = request.groups;
    p.first_group = first;
    p.span = static_cast<std::int32_t>(std::min(plan.span, request.groups - first));
    p.tables = plan.tables;
    p.log2_copies = plan.log2_copies;
    p.tags = plan.tags;
    p.ignores_others = request.ignores_others ? 1 : 0;
    p.left_tables = static_cast<std::int32_t>(blocks);
    p.partials = partials.data();
    others.is_empty = true;
    launch(accumulate, of_elements, p, blocks, 32 * plan.warps, plan.shared_bytes);
    others.is_empty = false;
    const std::int64_t threads = p.span <= by_key_warps_to ? std::int64_t{p.span} * 32 : p.span;
    launch(finish, of_results, p, pieces(threads, by_key_finish_threads), by_key_finish_threads, 0);
  }
}

}  // namespace dsl::detail

// All steps of a loop in one kernel, on a grid of blocks of threads.
#include <dsl/exec/tagged.hpp>

#include <algorithm>

#include "exec/grid_executor.hpp"
#include "exec/layout.hpp"
#include "exec/parameters.hpp"
#include "exec/scratch.hpp"
#include "exec/text.hpp"

namespace dsl::detail {

namespace {

int warps_from(std::int64_t threads) { return static_cast<int>(std::max<std::int64_t>(1, pieces(threads, 32)) * 32); }

}  // namespace

kernel_entry grid_executor::entry_of(const loop& of) const {
  const loop_kernels& kernels = *compiled(of.compiled().kernels);
  return {kernels.kernel[0], kernels.architectures, of.code().name, of.code().pass.view};
}

loop_support grid_executor::supports(const loop& of) const {
  const loop_kernels* const kernels = compiled(of.compiled().kernels);
  return {kernels != nullptr, true, has_graphs_, kernels != nullptr ? kernels->policy : loop_policy{}};
}

// Blocks, threads and what they keep on chip, as few steps of a block's threads as possible.
loop_plan grid_executor::plan_loop(const loop& of, strategy how) const {
  loop_plan p;
  const program_code& step = of.code();
  const launch& fixed = of.fixed();
  p.where = of.where();
  p.elements = of.space().elements;
  p.lanes = step.pass.lanes;
  p.per_element = of.cost_per_element();
  const int vector_bytes = of.compiled().vector_bytes;
  p.policy = compiled(of.compiled().kernels)->policy;
  const device_properties& device = properties(p.where);
  const kernel_attributes attributes = this->attributes(entry_of(of), p.policy.block, p.where.index);
  const std::int64_t groups = pieces(p.elements, p.lanes);
  p.loop = how;
  p.registers = attributes.registers;
  p.blocks_per_multiprocessor = std::max(1, attributes.blocks_per_multiprocessor);
  const int most = attributes.max_block > 0 ? std::min(attributes.max_block, p.policy.block) : p.policy.block;
  if (fixed.block < 0 || fixed.block % 32 != 0 || fixed.block > most)
    raise<device_error>("a block of " + std::to_string(fixed.block) +
                        " threads was asked for; this loop takes multiples of 32 up to " + std::to_string(most));
  if (how == strategy::elementwise) {
    p.block =
        fixed.block > 0 ? fixed.block : std::min(p.policy.elementwise_block, warps_from(pieces(groups, device.multiprocessors)));
    p.grid = pieces(groups, p.block);
    require_grid(fixed, p.grid, step.pass.view);
    return p;
  }
  const std::int64_t blocks = how == strategy::one_block ? 1
                              : fixed.grid > 0           ? fixed.grid
                                                         : std::min<std::int64_t>(device.multiprocessors, pieces(groups, 32));
  p.grid = std::max<std::int64_t>(1, blocks);
  require_grid(fixed, p.grid, step.pass.view);
  p.block_vectors = pieces(groups, p.grid);
  p.block = fixed.block > 0 ? fixed.block : std::min(most, warps_from(p.block_vectors));
  // Rows: as many as the registers hold, then shared memory, by way of which the others come and go.
  const std::int64_t room = static_cast<std::int64_t>(device.shared_per_block) - attributes.static_shared;
  const bool stream = how == strategy::streamed;
  const auto cut = [&] {
    const auto rows = static_cast<int>(std::min<std::int64_t>(pieces(p.block_vectors, p.block), 1 << 30));
    const std::int64_t row_bytes = std::max(1, p.block * vector_bytes);
    const int others = std::max(0, rows - p.policy.vectors_held), fit = static_cast<int>(room / row_bytes);
    p.held = rows - others;
    p.in_shared = others;
    p.streamed = 0;
    if (others > fit || (stream && others > p.policy.rows_ahead)) {
      p.in_shared = std::clamp(others - p.policy.rows_ahead - 1, 0, std::max(0, fit - p.policy.rows_ahead));
      p.streamed = others - p.in_shared;
    }
    const std::int64_t bytes = (p.in_shared + (p.streamed > 0 ? p.policy.rows_ahead : 0)) * row_bytes;
    p.shared_bytes = static_cast<int>(std::min<std::int64_t>(bytes, 1 << 30));
    return bytes <= room && (p.streamed == 0 || p.streamed > p.policy.rows_ahead);
  };
  bool fits = cut();
  // A smaller block has more rows, and each takes less room.
  while (fixed.block == 0 && p.block > 32 && (!fits || (stream && p.streamed == 0))) {
    p.block = warps_from(p.block / 2);
    fits = cut();
  }
  if (!fits)
    raise<device_error>("a loop's variables take " + std::to_string(vector_bytes) + " bytes a thread of a block of " +
                        std::to_string(p.block) +
                        ", too much for shared memory: take a smaller block, or dsl::strategy::launches");
  // What is streamed, but for a part that the L2 cache keeps (docs/performance.md).
  const double bytes = static_cast<double>(p.streamed) * static_cast<double>(p.grid) * p.block * vector_bytes;
  p.l2_resident =
      p.streamed == 0
          ? 0
          : static_cast<int>(std::min(8.0, 8 * 0.01 * p.policy.resident_percent * static_cast<double>(device.l2) / bytes));
  return p;
}

namespace {

// `cells` and the number of the first step are the schedule's already.
kernel_parameters loop_parameters(const loop& of, const loop_plan& p, const loop_steps& steps, step_schedule schedule) {
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
  schedule.divide(pieces(g.elements, p.lanes), p.grid, p.block);
  kernel_parameters given({g.elements, 1, {g.count, 1, 1, {0, 0}, kept_along::none, nullptr, nullptr, nullptr}});
  given.put(schedule);
  for (int k = 0; k < count; ++k) {
    if (operands[k].counts_steps) given.put(argument{static_cast<std::uint64_t>(steps.all.first + steps.done), counts_steps});
    else given.put(argument{operands[k].word[0], descriptor_of(operands, k, g, of.code().pass.view)});
  }
  for (int k = 0; k < count; ++k)
    given.put(k < inputs || steps.histories[k - inputs].memory == nullptr ? std::uint64_t{0}
                                                                          : steps.histories[k - inputs].word[0]);
  return given;
}

}  // namespace

void grid_executor::run_loop(const loop& of, const loop_plan& p, const loop_steps& steps, const stream& on) const {
  const program_code& step = of.code();
  const int outputs = step.outputs();
  memory_range others[max_operands + 1];
  int other_count = 0;
  for (int i = 0; i < outputs; ++i)
    if (const operand& h = steps.histories[i]; h.memory != nullptr)
      others[other_count++] = {reinterpret_cast<const void*>(h.word[0]), static_cast<std::size_t>(h.extents[0] * size_of(h.type)),
                               false};
  step_schedule schedule{};
  exchange_cells shared{};
  const bool together = p.grid > 1 && p.loop != strategy::elementwise;
  if (together) {
    const std::size_t bytes =
        2 * static_cast<std::size_t>(p.grid) * tagged_bytes(static_cast<std::size_t>(step.pass.accumulator_bytes));
    shared = cells_of(on, bytes, steps.count);
    schedule.cells = shared.cells;
    schedule.epoch = shared.epoch;
    others[other_count++] = {shared.cells, bytes, false};
  }
  kernel_parameters given = loop_parameters(of, p, steps, schedule);
  launch_kernel({entry_of(of), p.grid, p.block, p.shared_bytes, given.data(), of.operands(), step.inputs, outputs, p.elements,
                 together, others, other_count},
                on);
}

}  // namespace dsl::detail

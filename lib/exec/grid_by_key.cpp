// Reductions by key on a grid of blocks of threads.
#include <algorithm>
#include <bit>
#include <vector>

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

// A reduction by key's launches.
class grid_by_key {
 public:
  grid_by_key(const grid_executor& kernels, const by_key_kernels& compiled, const by_key_code& code, const operand* operands,
              const geometry& g, const by_key_request& request, const stream& on)
      : kernels_(kernels),
        code_(code),
        operands_(operands),
        space_(g),
        groups_(request.groups),
        on_(on),
        device_(properties(g.where)),
        tiles_(tile_by_warps(g, code.lanes, code.view, operands)),
        elements_{compiled.kernel[g.linear ? by_key_linear : by_key_strided], compiled.architectures, nullptr, code.view},
        results_{compiled.kernel[by_key_results], compiled.architectures, nullptr, code.view} {
    parameters_.groups = groups_;
    parameters_.ignores_others = request.ignores_others ? 1 : 0;
  }

  void run() {
    const std::int64_t room = static_cast<std::int64_t>(device_.shared_per_block) -
                              kernels_.attributes(elements_, by_key_threads, space_.where.index).static_shared;
    const table_plan plan = code_.counts ? plan_counters(groups_, room) : plan_tables(groups_, code_.accumulator_bytes, room);
    // To sort takes as long as some ten launches that read all elements.
    constexpr std::int64_t most_launches = 4, most = std::int64_t{1} << 31;
    if (groups_ > most_launches * plan.span && groups_ < most && slots() < most) run_sorted();
    else run_tables(plan);
  }

 private:
  std::int64_t slots() const { return tiles_.count * 32 * code_.lanes; }
  int multiprocessors() const { return std::max(1, device_.multiprocessors); }

  void run_tables(const table_plan& plan) {
    const std::int64_t blocks = std::clamp<std::int64_t>(pieces(tiles_.count, plan.warps), 1, multiprocessors());
    parameters_.step = by_key_step::tables;
    parameters_.partials = allocate(blocks * plan.span * code_.accumulator_bytes);
    parameters_.tables = plan.tables;
    parameters_.log2_copies = plan.log2_copies;
    parameters_.tags = plan.tags;
    parameters_.left_tables = static_cast<std::int32_t>(blocks);
    for (std::int64_t first = 0; first < groups_; first += plan.span) {
      parameters_.first_group = first;
      parameters_.span = static_cast<std::int32_t>(std::min(plan.span, groups_ - first));
      others_[0].is_empty = true;
      launch_elements(by_key_step::tables, blocks, 32 * plan.warps, plan.shared_bytes);
      launch_results(by_key_step::results,
                     parameters_.span <= by_key_warps_to ? std::int64_t{parameters_.span} * 32 : parameters_.span);
    }
  }

  // What pairs come to goes to one table.
  void run_sorted() {
    by_key_pairs& p = parameters_.pairs;
    const std::int64_t count = slots(), warps = by_key_finish_threads / 32, word = sizeof(std::uint32_t);
    parameters_.span = static_cast<std::int32_t>(groups_);
    parameters_.left_tables = 1;
    parameters_.partials = allocate(groups_ * code_.accumulator_bytes);
    launch_results(by_key_step::identities, groups_);
    p.count = count;
    if (count > 0) {
      p.keys = static_cast<std::uint32_t*>(allocate(count * word));
      p.values = static_cast<std::uint32_t*>(allocate(count * word));
      if (code_.accumulator_bytes != word) p.accumulators = allocate(count * code_.accumulator_bytes);
      const std::int64_t wanted = std::int64_t{multiprocessors()} * 64;
      p.slice = pieces(pieces(count, wanted), 32) * 32;
      p.slices = pieces(count, p.slice);
      p.end_keys = static_cast<std::uint32_t*>(allocate(2 * p.slices * word));
      p.ends = allocate(2 * p.slices * code_.accumulator_bytes);
      const std::int64_t blocks = std::min<std::int64_t>(pieces(tiles_.count, warps), std::int64_t{multiprocessors()} * 4);
      launch_elements(by_key_step::pairs, blocks, by_key_finish_threads, 0);
      const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(groups_)));
      kernels_.sort({count, p.keys, p.values, bits}, on_);
      launch_results(by_key_step::runs, p.slices * 32);
      launch_results(by_key_step::ends, 2 * p.slices);
    }
    launch_results(by_key_step::results, groups_);
  }

  // It goes back to the pool behind the kernels.
  void* allocate(std::int64_t bytes) {
    memory_.push_back(buffer_ref::allocate(static_cast<std::size_t>(bytes), space_.where));
    others_.push_back({memory_.back().data(), static_cast<std::size_t>(bytes), true});
    return memory_.back().data();
  }

  void launch_elements(by_key_step step, std::int64_t grid, int block, int shared) {
    launch(elements_, space_, step, grid, block, shared);
    for (memory_range& each : others_) each.is_empty = false;
  }
  // The kernel that makes results knows scalars alone of its operands.
  void launch_results(by_key_step step, std::int64_t threads) {
    geometry line = space_;
    line.linear = true;
    launch(results_, line, step, pieces(threads, by_key_finish_threads), by_key_finish_threads, 0);
    for (memory_range& each : others_) each.is_empty = false;
  }
  void launch(const kernel_entry& kernel, const geometry& g, by_key_step step, std::int64_t grid, int block, int shared) {
    const operand& target = operands_[code_.inputs];
    const argument outputs[] = {{}, {target.word[0], static_cast<std::uint64_t>(target.strides[0])}};
    kernel_parameters given = warp_tile_parameters(tiles_, g, operands_, code_.inputs, code_.view, outputs, 2);
    parameters_.step = step;
    given.put(parameters_);
    kernels_.launch_kernel({kernel, grid, block, shared, given.range(), operands_, code_.inputs, 1, space_.elements, false,
                            others_.data(), static_cast<int>(others_.size())},
                           on_);
  }

  const grid_executor& kernels_;
  const by_key_code& code_;
  const operand* operands_;
  const geometry& space_;
  std::int64_t groups_;
  const stream& on_;
  const device_properties& device_;
  warp_tiling tiles_;
  kernel_entry elements_, results_;
  by_key_parameters parameters_{};
  std::vector<buffer_ref> memory_{};
  std::vector<memory_range> others_{};
};

}  // namespace

void grid_executor::run_by_key(const by_key_code& code, const operand* operands, const geometry& g, const by_key_request& request,
                               const stream& on) const {
  const by_key_kernels& kernels = compiled_for(g.where, compiled(code.kernels), nullptr, code.view, operands);
  grid_by_key(*this, kernels, code, operands, g, request, on).run();
}

}  // namespace dsl::detail

// Reductions by key on a grid of blocks of threads.
#include <algorithm>

#include <bit>
#include <dsl/exec/by_key/by_key.hpp>
#include <vector>

#include "exec/by_key/by_key_work.hpp"
#include "exec/by_key/warp_tiles.hpp"
#include "exec/plan/layout.hpp"
#include "exec/run/grid_executor.hpp"
#include "exec/tasks/library_task.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

namespace {

// How a block divides its shared memory into tables, and how many warps share a table.
struct table_plan {
  std::int64_t span;
  int tables, turns, log2_copies, tags, shared_bytes;

  int warps() const { return tables * turns; }
};

// Tables of counters, to which warps add atomically. To reduce contention, each warp has its own
// table if there is room, and an entry has as many copies for the lanes as leave room for 4 tables.
table_plan plan_counters(std::int64_t groups, std::int64_t room, int warp) {
  constexpr std::int64_t bytes = sizeof(unsigned), enough_tables = 4;
  table_plan p{groups, 1, 1, 0, 0, 0};
  for (p.log2_copies = std::countr_zero(static_cast<unsigned>(warp)); p.log2_copies > 0;
       --p.log2_copies)
    if (room >= enough_tables * bytes * by_key_entries(groups, p.log2_copies, warp)) break;
  p.span = std::min(groups, room / bytes - by_key_entries(0, 0, warp));
  const std::int64_t table = bytes * by_key_entries(p.span, p.log2_copies, warp);
  p.tables = static_cast<int>(std::min<std::int64_t>(room / table, by_key_threads / warp));
  p.shared_bytes = static_cast<int>(p.tables * table);
  return p;
}

// Tables of accumulators. Preferred: a copy of each entry for each lane, so that lanes of a warp
// never conflict. Otherwise the most copies that leave room for 8 tables, otherwise one copy. If
// there are fewer tables than warps, warps take turns at a table.
table_plan plan_tables(std::int64_t groups, std::int64_t accumulator_bytes, bool quick,
                       std::int64_t room, int warp) {
  constexpr int enough_tables = 8;
  const int all_copies = std::countr_zero(static_cast<unsigned>(warp));
  constexpr std::int64_t few_tags = 2048, most_tags = 4096, tag = sizeof(unsigned);
  const auto planned = [&](std::int64_t span, int log2_copies) {
    const std::int64_t entries = by_key_entries(span, log2_copies, warp),
                       bytes = entries * accumulator_bytes,
                       each = std::bit_ceil(static_cast<std::uint64_t>(entries));
    const auto tables_with = [&](std::int64_t tags) {
      return std::min<std::int64_t>(room / (bytes + tags * tag), by_key_threads / warp);
    };
    std::int64_t tags = 0;
    if (log2_copies < all_copies) {
      tags = std::min(each, few_tags);
      if (tables_with(std::min(each, most_tags)) == tables_with(tags))
        tags = std::min(each, most_tags);
    }
    const auto tables = static_cast<int>(tables_with(tags));
    const int turns = tables >= enough_tables || tables == 0 ? 1 : by_key_most_in_turn / tables;
    return table_plan{span,
                      tables,
                      turns,
                      log2_copies,
                      static_cast<int>(tags),
                      static_cast<int>(tables * (bytes + tags * tag))};
  };
  for (int log2_copies = all_copies; log2_copies >= 0; --log2_copies) {
    const table_plan p = planned(groups, log2_copies);
    if (p.tables >= (log2_copies == all_copies ? (quick ? 1 : 4)
                     : log2_copies == 0        ? 1
                                               : enough_tables))
      return p;
  }
  const std::int64_t most = (room - few_tags * tag) / accumulator_bytes;
  return planned(std::max<std::int64_t>(1, most - by_key_entries(0, 0, warp)), 0);
}

// Plans a reduction by key, and holds what both the plan and the launches use.
class by_key_planner {
 public:
  by_key_planner(const grid_executor& kernels, const by_key_kernels& compiled,
                 const by_key_code& code, const operand* operands, const geometry& g,
                 const by_key_request& request)
      : kernels_(kernels),
        code_(code),
        space_(g),
        groups_(request.groups),
        device_(properties(g.where)),
        tiles_(tile_by_warps(g, code.lanes, code.view, operands)),
        elements_{compiled.kernel[g.linear ? by_key_linear : by_key_strided],
                  compiled.architectures, nullptr, code.view},
        results_{compiled.kernel[by_key_results], compiled.architectures, nullptr, code.view} {
    room_ = static_cast<std::int64_t>(device_.shared_per_block);
    for (const kernel_entry* each : {&elements_, &results_})
      room_ = std::min(room_,
                       static_cast<std::int64_t>(device_.shared_per_block) -
                           kernels_.attributes(*each, by_key_threads, g.where.index).static_shared);
  }

  by_key_plan plan() const {
    const table_plan tables = plan_for(groups_);
    // Sorting pairs into buckets takes about as long as four launches that read all elements, or as
    // warps that take turns at one table.
    constexpr std::int64_t most = std::int64_t{1} << 31;
    const bool fits = !code_.counts && has_words()
                          ? groups_ <= tables.span && (tables.tags == 0 || tables.tables > 1)
                          : groups_ <= 4 * tables.span;
    by_key_plan p;
    p.where = space_.where;
    p.elements = space_.elements;
    p.lanes = code_.lanes;
    p.groups = groups_;
    const kernel_attributes known =
        kernels_.attributes(elements_, by_key_threads, space_.where.index);
    p.registers = known.registers;
    if (fits || groups_ >= most || slots() >= most) {
      p.path = "tables";
      set_tables(p, tables);
      p.grid =
          std::clamp<std::int64_t>(pieces(tiles_.count, p.block / warp()), 1, multiprocessors());
    } else {
      p.path = "buckets";
      p.log2_bucket = log2_bucket(bits());
      set_tables(p, plan_for(std::int64_t{1} << p.log2_bucket));
      p.buckets = pieces(groups_, p.span);
      p.grid = std::max<std::int64_t>(1, pieces(slots(), slice()));
    }
    return p;
  }

 protected:
  std::int64_t slots() const { return tiles_.count * warp() * code_.lanes; }
  // Number of sorted pairs that a block reduces.
  std::int64_t slice() const {
    return std::max<std::int64_t>(
        warp(), pieces(pieces(slots(), std::int64_t{multiprocessors()}), warp()) * warp());
  }
  int warp() const { return device_.warp_size; }
  int multiprocessors() const { return std::max(1, device_.multiprocessors); }
  int bits() const { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(groups_))); }
  // Whether a pair needs no separate accumulator: it only counts, or its accumulator has 4 bytes
  // and is stored as the pair's value.
  bool has_words() const {
    return code_.counts || code_.accumulator_bytes == sizeof(std::uint32_t);
  }

  const grid_executor& kernels_;
  const by_key_code& code_;
  const geometry& space_;
  std::int64_t groups_;
  const device_properties& device_;
  warp_tiling tiles_;
  kernel_entry elements_, results_;

 private:
  void set_tables(by_key_plan& p, const table_plan& tables) const {
    p.span = tables.span;
    p.tables = tables.tables;
    p.turns = tables.turns;
    p.log2_copies = tables.log2_copies;
    p.tags = tables.tags;
    p.shared_bytes = tables.shared_bytes;
    p.block = code_.counts ? by_key_threads : warp() * tables.warps();
  }
  table_plan plan_for(std::int64_t groups) const {
    return code_.counts ? plan_counters(groups, room_, warp())
                        : plan_tables(groups, code_.accumulator_bytes, code_.combines_quickly,
                                      room_, warp());
  }
  // Log2 of the number of groups in a bucket. The sort gets the fewest passes, of 8 bits each,
  // after which a block has room for at least 4 tables of a bucket's groups.
  int log2_bucket(int bits) const {
    constexpr int bits_a_pass = 8, enough_tables = 4;
    int most = bits - 1;
    while (most > 0 && plan_for(std::int64_t{1} << most).tables < enough_tables) --most;
    return std::max(0, bits - bits_a_pass * static_cast<int>(pieces(bits - most, bits_a_pass)));
  }
  // Bytes of shared memory that a block has for its tables.
  std::int64_t room_;
};

// Launches a reduction by key.
class grid_by_key : by_key_planner {
 public:
  grid_by_key(const by_key_planner& known, const operand* operands, const by_key_request& request,
              const by_key_plan& p, const stream& on)
      : by_key_planner(known), operands_(operands), plan_(p), on_(on) {
    parameters_.groups = groups_;
    parameters_.span = static_cast<std::int32_t>(p.span);
    parameters_.tables = p.tables;
    parameters_.turns = p.turns;
    parameters_.log2_copies = p.log2_copies;
    parameters_.tags = p.tags;
    parameters_.ignores_others = request.ignores_others ? 1 : 0;
    parameters_.warps_of_all = -1;
  }

  void run() {
    if (plan_.buckets > 0) run_buckets();
    else run_tables();
  }

 private:
  void run_tables() {
    const std::int64_t blocks = plan_.grid;
    parameters_.partials = allocate(blocks * plan_.span * code_.accumulator_bytes);
    parameters_.left_tables = static_cast<std::int32_t>(blocks);
    for (std::int64_t first = 0; first < groups_; first += plan_.span) {
      parameters_.first_group = first;
      parameters_.span = static_cast<std::int32_t>(std::min(plan_.span, groups_ - first));
      parameters_.results = parameters_.span;
      others_[0].is_empty = true;
      if (first == 0) leave_all(blocks * plan_.block / warp());
      launch(elements_, space_, by_key_step::tables, blocks, plan_.block, plan_.shared_bytes);
      launch_results(by_key_step::results, threads_of_results());
      parameters_.warps_of_all = -1;
    }
  }

  void run_buckets() {
    by_key_pairs& p = parameters_.pairs;
    p.log2_span = static_cast<std::int32_t>(plan_.log2_bucket);
    p.count = slots();
    p.buckets = plan_.buckets;
    p.slice = slice();
    const std::int64_t blocks = plan_.grid, warps = by_key_finish_threads / warp();
    parameters_.results = groups_;
    parameters_.partials = allocate((p.buckets + blocks) * plan_.span * code_.accumulator_bytes);
    p.bounds = static_cast<std::int64_t*>(
        allocate((p.buckets + 1) * static_cast<std::int64_t>(sizeof(std::int64_t))));
    p.keys = allocate_words();
    p.sorted_keys = allocate_words();
    if (!code_.counts) {
      p.values = allocate_words();
      p.sorted_values = allocate_words();
      if (!has_words()) p.accumulators = allocate(p.count * code_.accumulator_bytes);
    }
    if (p.count > 0) {
      const std::int64_t readers =
          std::min<std::int64_t>(pieces(tiles_.count, warps), std::int64_t{multiprocessors()} * 8);
      leave_all(readers * warps);
      launch(elements_, space_, by_key_step::pairs, readers, by_key_finish_threads, 0);
      kernels_.run(library_task{pair_sort_task{p.count, p.keys, p.values, p.sorted_keys,
                                               p.sorted_values, p.log2_span, bits()}},
                   on_);
    }
    launch_results(by_key_step::bounds, p.buckets + 1);
    if (p.count > 0)
      launch(results_, line(), by_key_step::buckets, blocks, plan_.block, plan_.shared_bytes);
    launch_results(by_key_step::results, threads_of_results());
  }
  // Each result of a group takes a warp, or a thread if there are many groups. Results of all
  // elements take one more warp.
  std::int64_t threads_of_results() const {
    const std::int64_t of_groups =
        parameters_.results <= by_key_warps_to ? parameters_.results * warp() : parameters_.results;
    return parameters_.warps_of_all < 0 ? of_groups : pieces(of_groups, warp()) * warp() + warp();
  }
  void leave_all(std::int64_t warps) {
    if (code_.all_bytes == 0) return;
    parameters_.of_all = allocate(warps * code_.all_bytes);
    parameters_.warps_of_all = static_cast<std::int32_t>(warps);
  }
  std::uint32_t* allocate_words() {
    return static_cast<std::uint32_t*>(
        allocate(parameters_.pairs.count * static_cast<std::int64_t>(sizeof(std::uint32_t))));
  }

  // Returns to the pool after the kernels, in the order of the stream.
  void* allocate(std::int64_t bytes) {
    memory_.push_back(buffer_ref::allocate_briefly(static_cast<std::size_t>(bytes), space_.where));
    others_.push_back({memory_.back().data(), static_cast<std::size_t>(bytes), true});
    return memory_.back().data();
  }

  // The kernel that makes results reads only scalar operands, so it is always the linear one.
  geometry line() const {
    geometry of = space_;
    of.linear = true;
    return of;
  }
  void launch_results(by_key_step step, std::int64_t threads) {
    launch(results_, line(), step, pieces(threads, by_key_finish_threads), by_key_finish_threads,
           0);
  }
  void launch(const kernel_entry& kernel, const geometry& g, by_key_step step, std::int64_t grid,
              int block, int shared) {
    // The first output stands for the keys, which are not stored.
    std::vector<argument> outputs(1);
    for (int k = 0; k < code_.targets; ++k) {
      const operand& target = operands_[code_.inputs + k];
      outputs.push_back(
          {target.word[0], k < code_.groups ? static_cast<std::uint64_t>(target.strides[0]) : 0});
    }
    kernel_parameters given =
        warp_tile_parameters(tiles_, g, operands_, code_.inputs, code_.view, outputs.data(),
                             static_cast<int>(outputs.size()));
    parameters_.step = step;
    given.put(parameters_);
    kernels_.launch_kernel(
        {kernel, grid, block, shared, given.range(), operands_, code_.inputs, code_.targets,
         space_.elements, false, others_.data(), static_cast<int>(others_.size())},
        on_);
    for (memory_range& each : others_) each.is_empty = false;
  }

  const operand* operands_;
  const by_key_plan& plan_;
  const stream& on_;
  by_key_parameters parameters_{};
  std::vector<buffer_ref> memory_{};
  std::vector<memory_range> others_{};
};

}  // namespace

by_key_plan by_key_work::plan_for(const grid_executor& devices) const {
  const by_key_kernels& kernels =
      compiled_for(where(), devices.compiled(code_.kernels), nullptr, code_.view, operands());
  return by_key_planner(devices, kernels, code_, operands(), space(), request_).plan();
}

void by_key_work::run_on(const grid_executor& devices, const stream& on) const {
  const by_key_plan& p = plan();
  const by_key_planner known(devices, *devices.compiled(code_.kernels), code_, operands(), space(),
                             request_);
  grid_by_key(known, operands(), request_, p, on).run();
}

}  // namespace dsl::detail

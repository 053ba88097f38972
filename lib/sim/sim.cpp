#include "sim/sim.hpp"

#include <cstddef>
#include <vector>

#include "mem/buffer.hpp"
#include "exec/text.hpp"

namespace dsl::detail {

checked_ranges ranges_of(const operand* operands, int count, const program_code& code) {
  checked_ranges r{};
  r.kernel = code.name, r.pass = &code.pass.view, r.operands = operands;
  for (int i = 0; i < count; ++i)
    if (const buffer* b = operands[i].memory; b != nullptr) r.add(reinterpret_cast<std::uintptr_t>(b->data), b->bytes);
  return r;
}

void check_access(const checked_ranges& allowed, const void* address, std::size_t bytes, std::size_t alignment) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const bool aligned = at % alignment == 0;
  for (int i = 0; aligned && i < allowed.count; ++i)
    if (at >= allowed.range[i].begin && at + bytes <= allowed.range[i].end) return;
  raise<memory_error>((aligned ? "an access outside every operand's memory, of " : "a misaligned access, of ") + std::to_string(bytes) +
                      " bytes, by block " + std::to_string(allowed.block) + ", thread " + std::to_string(allowed.thread) + " of " +
                      spell_kernel(allowed.kernel) + ": " + spell_pass(*allowed.pass, allowed.operands));
}

namespace {

// `count` things of a size that is known here alone.
class aligned_bytes {
 public:
  aligned_bytes(std::size_t bytes, std::int64_t count) : bytes_(bytes), memory_((bytes_ * static_cast<std::size_t>(count) + 15) / 16) {}
  void* at(std::int64_t i) const { return const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(memory_.data())) + bytes_ * static_cast<std::size_t>(i); }

 private:
  struct alignas(16) sixteen_bytes { unsigned char byte[16]; };
  std::size_t bytes_;
  std::vector<sixteen_bytes> memory_;
};

// Accumulators of all threads of a block, or of all blocks of a group.
class accumulator_array {
 public:
  accumulator_array(const simulated_kernel& k, int bytes, std::size_t count) : memory_(static_cast<std::size_t>(bytes), static_cast<std::int64_t>(count)) {
    for (std::size_t i = 0; k.clear != nullptr && i < count; ++i) k.clear(at(i));
  }
  void* at(std::size_t i) { return memory_.at(static_cast<std::int64_t>(i)); }

 private:
  aligned_bytes memory_;
};

}  // namespace

void simulate(const simulated_kernel& k, int accumulator_bytes, const void* arguments, const plan& p, const fold_walk& walk, checked_ranges& allowed) {
  const auto threads = static_cast<std::size_t>(p.block), slots = static_cast<std::size_t>(k.slots);
  std::vector<std::max_align_t> shared((static_cast<std::size_t>(p.tile_bytes) + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  auto* const tile_memory = reinterpret_cast<unsigned char*>(shared.data());
  allowed.add(reinterpret_cast<std::uintptr_t>(tile_memory), static_cast<std::size_t>(p.tile_bytes));
  simulated_step step{0, 0, 0, p.block, tile_memory};
  int& thread = allowed.thread;
  const auto run_tile = [&](accumulator_array& sums) {
    if (p.tile_bytes > 0)
      for (thread = 0; thread < p.block; ++thread) step.thread = thread, k.load_tile(arguments, allowed, step);
    for (thread = 0; thread < p.block; ++thread)
      step.thread = thread, k.run(arguments, allowed, step, sums.at(slots * static_cast<std::size_t>(thread)));
  };
  if (k.reduce == nullptr) {
    accumulator_array none(k, 0, 1);
    for (allowed.block = 0; allowed.block < p.grid; ++allowed.block) step.tile = allowed.block, run_tile(none);
    return;
  }
  const std::size_t used = static_cast<std::size_t>(walk.slots), blocks = static_cast<std::size_t>(p.splits);
  const auto owners = static_cast<std::size_t>(walk.threads.owners(p.block));
  const auto finish = [&](accumulator_array& sums, std::size_t slot, const sharing& shared_by) {
    k.reduce(sums.at(slot), p.block, k.slots, shared_by);
    for (thread = 0; thread < p.block; ++thread) {
      const int owned = shared_by.owned_by(thread, p.block);
      if (owned >= 0) k.finish(arguments, allowed, step, sums.at(slots * static_cast<std::size_t>(thread) + slot), owned, static_cast<int>(slot));
    }
  };
  for (std::int64_t group = 0; group < p.groups; ++group) {
    step.group = static_cast<std::uint32_t>(group);
    accumulator_array partials(k, accumulator_bytes, blocks == 1 ? 0 : blocks * used * owners);
    for (std::size_t split = 0; split < blocks; ++split) {
      allowed.block = group * p.splits + static_cast<std::int64_t>(split);
      accumulator_array sums(k, accumulator_bytes, slots * threads);
      for (step.tile = static_cast<std::int64_t>(split); step.tile < p.tiles; step.tile += p.splits) run_tile(sums);
      for (std::size_t t = 0; walk.slots == 1 && t < threads; ++t)
        for (std::size_t s = 1; s < static_cast<std::size_t>(k.ahead); ++s) k.add(sums.at(slots * t), sums.at(slots * t + s));
      for (std::size_t slot = 0; slot < used; ++slot) {
        if (blocks == 1) {
          finish(sums, slot, walk.threads);
          continue;
        }
        k.reduce(sums.at(slot), p.block, k.slots, walk.threads);
        for (int t = 0; t < p.block; ++t) {
          const int owned = walk.threads.owned_by(t, p.block);
          if (owned >= 0) k.add(partials.at((split * used + slot) * owners + static_cast<std::size_t>(owned)), sums.at(slots * static_cast<std::size_t>(t) + slot));
        }
      }
    }
    if (blocks == 1) continue;
    accumulator_array sums(k, accumulator_bytes, slots * threads);
    sharing across = walk.threads;
    across.log2_distance = 0;
    while (across.distance() < static_cast<int>(owners)) ++across.log2_distance;
    for (std::size_t slot = 0; slot < used; ++slot) {
      for (std::size_t t = 0; t < threads; ++t)
        for (std::size_t b = t / owners; b < blocks; b += static_cast<std::size_t>(across.parts()))
          k.add(sums.at(slots * t + slot), partials.at((b * used + slot) * owners + t % owners));
      finish(sums, slot, across);
    }
  }
}

void simulate_loop(const simulated_loop& k, int accumulator_bytes, const void* arguments, const plan& p, const loop_walk& walk, checked_ranges& allowed) {
  const auto each_thread = [&](const auto& run) {
    for (allowed.block = 0; allowed.block < p.grid; ++allowed.block)
      for (allowed.thread = 0; allowed.thread < p.block; ++allowed.thread) run(allowed.block, allowed.thread);
  };
  if (k.has_ended(arguments, allowed)) return;
  if (k.elementwise != nullptr) return each_thread([&](std::int64_t block, int thread) { k.elementwise(arguments, allowed, block * p.block + thread); });

  const aligned_bytes states(k.state_bytes, p.grid * p.block), shared(static_cast<std::size_t>(p.shared_bytes), p.grid), singles(k.singles_bytes, 1),
      sums(static_cast<std::size_t>(accumulator_bytes), p.grid * p.block);
  allowed.add(reinterpret_cast<std::uintptr_t>(shared.at(0)), static_cast<std::size_t>(p.shared_bytes * p.grid));
  const auto thread_at = [&](std::int64_t block, int number) {
    return simulated_thread{block, p.grid, number, p.block, static_cast<unsigned char*>(shared.at(block)), states.at(block * p.block + number)};
  };
  each_thread([&](std::int64_t block, int thread) { k.begin(arguments, allowed, thread_at(block, thread)); });
  k.first(arguments, allowed, singles.at(0));
  history_place history(walk);
  bool ends = false;
  for (std::int64_t step = 0; step < walk.steps && !ends; ++step) {
    each_thread([&](std::int64_t block, int thread) { k.step(arguments, allowed, thread_at(block, thread), singles.at(0), step, sums.at(block * p.block + thread)); });
    ends = k.finish(arguments, allowed, sums.at(0), p.grid, p.block, step, history, singles.at(0));
  }
  each_thread([&](std::int64_t block, int thread) { k.end(arguments, allowed, thread_at(block, thread)); });
  k.store(arguments, allowed, singles.at(0));
}

}  // namespace dsl::detail

#include "sim/sim.hpp"

#include <cstddef>

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

std::vector<simulated_range> memory_of(const operand* operands, int inputs, int count) {
  std::vector<simulated_range> all;
  for (int i = 0; i < count; ++i)
    if (const buffer* b = operands[i].memory; b != nullptr) all.push_back({reinterpret_cast<std::uintptr_t>(b->data), b->bytes, i >= inputs});
  return all;
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

}  // namespace

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
    return simulated_loop_thread{block, p.grid, number, p.block, static_cast<unsigned char*>(shared.at(block)), states.at(block * p.block + number)};
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

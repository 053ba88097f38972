#include "sim.hpp"

#include <cstddef>

#include "buffer.hpp"
#include "text.hpp"

namespace dsl::detail {

checked_ranges ranges_of(const operand* operands, int count, const program_code& code) {
  checked_ranges r{};
  r.kernel = code.name, r.program = &code.view, r.operands = operands;
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
                      spell_kernel(allowed.kernel) + ": " + spell_program(*allowed.program, allowed.operands));
}

void simulate(const simulated_kernel& k, const void* arguments, const plan& p, checked_ranges& allowed) {
  const bool reduces = k.reduce != nullptr;
  const auto threads = static_cast<std::size_t>(p.block);
  std::vector<unsigned char> sums(k.sums_bytes * threads), blocks(k.sums_bytes * static_cast<std::size_t>(p.grid));
  std::vector<std::max_align_t> shared((static_cast<std::size_t>(p.shared_bytes) + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  auto* const tile_memory = reinterpret_cast<unsigned char*>(shared.data());
  allowed.add(reinterpret_cast<std::uintptr_t>(tile_memory), static_cast<std::size_t>(p.shared_bytes));
  for (allowed.block = 0; allowed.block < p.grid; ++allowed.block) {
    for (std::size_t t = 0; t < threads; ++t) k.clear(sums.data() + k.sums_bytes * t);
    for (std::int64_t tile = allowed.block; tile < p.tiles; tile += p.grid) {
      simulated_step step{tile, 0, p.block, tile_memory};
      int& thread = allowed.thread;
      if (p.shared_bytes > 0)
        for (thread = 0; thread < p.block; ++thread) step.thread = thread, k.load_tile(arguments, allowed, step);
      for (thread = 0; thread < p.block; ++thread)
        step.thread = thread, k.run(arguments, allowed, step, sums.data() + k.sums_bytes * static_cast<std::size_t>(thread));
    }
    if (reduces) k.reduce(sums.data(), p.block, blocks.data() + k.sums_bytes * static_cast<std::size_t>(allowed.block));
  }
  if (reduces) k.finish(arguments, allowed, blocks.data(), p.grid, p.block);
}

}  // namespace dsl::detail

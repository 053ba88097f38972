#include "sim.hpp"

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
  const std::int64_t stride = p.grid * p.block;
  std::vector<unsigned char> threads(k.sums_bytes * static_cast<std::size_t>(p.block)), blocks(k.sums_bytes * static_cast<std::size_t>(p.grid));
  for (allowed.block = 0; allowed.block < p.grid; ++allowed.block) {
    for (allowed.thread = 0; allowed.thread < p.block; ++allowed.thread)
      k.thread(arguments, allowed, allowed.block * p.block + allowed.thread, stride,
               reduces ? threads.data() + k.sums_bytes * static_cast<std::size_t>(allowed.thread) : nullptr);
    if (reduces) k.reduce(threads.data(), p.block, blocks.data() + k.sums_bytes * static_cast<std::size_t>(allowed.block));
  }
  if (reduces) k.finish(arguments, allowed, blocks.data(), p.grid, p.block);
}

}  // namespace dsl::detail

#include <dsl/exec/sim.hpp>

#include "buffer.hpp"
#include "text.hpp"

namespace dsl::detail {

checked_ranges ranges_of(const operand* operands, int count) {
  checked_ranges r{};
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
                      spell_kernel(allowed.kernel) + ": " + spell_program(*allowed.program));
}

}  // namespace dsl::detail

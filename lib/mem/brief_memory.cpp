#include "mem/brief_memory.hpp"

#include <bit>

#include "mem/stream.hpp"

namespace dsl::detail {

namespace {

constexpr std::uint64_t lowest(int bits) { return (std::uint64_t{1} << bits) - 1; }

}  // namespace

void* brief_memory::take(stream_state& of, std::size_t bytes) {
  static_assert(most / unit < of_word);
  if (bytes > most) return nullptr;
  const std::lock_guard lock(mutex_);
  if (memory_ == nullptr)
    memory_ =
        static_cast<unsigned char*>(of.on.allocate(words * of_word * unit, of.index, of.native));
  const int count = bytes == 0 ? 1 : static_cast<int>((bytes + unit - 1) / unit);
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t begins = free_[w];
    for (int k = 1; k < count; ++k) begins &= free_[w] >> k;
    if (begins == 0) continue;
    const int bit = std::countr_zero(begins);
    free_[w] &= ~(lowest(count) << bit);
    const std::size_t first = w * of_word + static_cast<std::size_t>(bit);
    units_[first] = static_cast<std::uint8_t>(count);
    return memory_ + first * unit;
  }
  return nullptr;
}

void brief_memory::give_back(const void* piece) noexcept {
  const std::lock_guard lock(mutex_);
  const auto first =
      static_cast<std::size_t>(static_cast<const unsigned char*>(piece) - memory_) / unit;
  free_[first / of_word] |= lowest(units_[first]) << first % of_word;
}

}  // namespace dsl::detail

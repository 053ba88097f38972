#include "host/working_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

namespace dsl::detail {

namespace {

// A thread keeps a few pieces of each power of two from 4 KiB to 256 KiB.
constexpr std::size_t least_bytes = 4096, most_kept = 4;
constexpr int sizes = 7;
#if defined(__SANITIZE_ADDRESS__)
// So that AddressSanitizer finds an access after the end of a call's memory, or after the call.
constexpr bool keeps = false;
#else
constexpr bool keeps = true;
#endif

// Has no destructor: destructors of static objects may use it after the thread's objects are
// destroyed.
struct kept_memory {
  unsigned char* memory[sizes][most_kept];
  std::size_t count[sizes];
  bool is_known, is_over;
};
constinit thread_local kept_memory kept{};

struct end_of_thread {
  ~end_of_thread() {
    kept.is_over = true;
    for (int k = 0; k < sizes; ++k)
      while (kept.count[k] > 0) std::free(kept.memory[k][--kept.count[k]]);
  }
};
void wait_for_end() {
  thread_local const end_of_thread end;
  static_cast<void>(end);
  kept.is_known = true;
}

std::size_t rounded(std::size_t bytes) {
  return bytes > least_bytes << (sizes - 1) ? (bytes + 63) / 64 * 64
                                            : std::bit_ceil(std::max(bytes, least_bytes));
}
int number_of(std::size_t size) { return std::countr_zero(size / least_bytes); }
bool is_kept(std::size_t size) { return keeps && size <= least_bytes << (sizes - 1); }

}  // namespace

host_memory allocate_host_memory(std::size_t bytes) {
  if (bytes == 0) return {};
  const std::size_t size = rounded(bytes);
  if (is_kept(size))
    if (const int k = number_of(size); kept.count[k] > 0)
      return host_memory(kept.memory[k][--kept.count[k]], {size});
  host_memory memory(static_cast<unsigned char*>(std::aligned_alloc(64, size)), {size});
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void give_back::operator()(unsigned char* memory) const noexcept {
  if (!is_kept(bytes) || kept.is_over) return std::free(memory);
  const int k = number_of(bytes);
  if (kept.count[k] == most_kept) return std::free(memory);
  if (!kept.is_known) wait_for_end();
  kept.memory[k][kept.count[k]++] = memory;
}

}  // namespace dsl::detail

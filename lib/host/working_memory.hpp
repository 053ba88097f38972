// Working memory of a call on the host.
#pragma once

#include <cstddef>
#include <memory>

namespace dsl::detail {

struct give_back {
  std::size_t bytes = 0;
  void operator()(unsigned char* memory) const noexcept;
};
using host_memory = std::unique_ptr<unsigned char, give_back>;

/// 64-byte aligned, not initialised. A thread keeps the memory it gives back, up to some MiB, for
/// its next call: aligned memory from the heap took a third of the time of a call with 1,000
/// elements. Throws std::bad_alloc.
host_memory allocate_host_memory(std::size_t bytes);

}  // namespace dsl::detail

// Memory that kernels of one stream use one after another.
#include "cuda/cuda.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {
namespace cuda {

// A graph of the program's may run on any stream, beside this one and after its end: what its kernels need is the graph's own.
workspace scratch_of(const stream& on, std::size_t bytes) {
  // The tickets come first, zeroed once: every kernel that uses them leaves them at zero.
  constexpr std::size_t ticket_bytes = max_tickets * sizeof(unsigned);
  const auto split = [](void* memory) { return workspace{static_cast<char*>(memory) + ticket_bytes, static_cast<unsigned*>(memory), {}}; };
  stream_state& s = stream_state::of(on);
  if (is_captured(on)) {
    buffer_ref own = buffer_ref::allocate(ticket_bytes + bytes, s.where);
    set_zero(own.data(), ticket_bytes, s.where.index, s.native);
    workspace w = split(own.data());
    w.own = std::move(own);
    return w;
  }
  const std::lock_guard lock(s.mutex);
  if (s.scratch_bytes < bytes) {
    std::size_t size = 1 << 16;
    while (size < bytes) size *= 2;
    void* const larger = allocate(ticket_bytes + size, s.where.index, s.native);
    try {
      set_zero(larger, ticket_bytes, s.where.index, s.native);
    } catch (...) {
      release(larger, s.where.index, s.native);
      throw;
    }
    if (s.scratch != nullptr) s.outgrown.push_back(s.scratch);
    s.scratch = larger, s.scratch_bytes = size;
  }
  return split(s.scratch);
}

exchange exchange_of(const stream& on, std::size_t bytes, std::int64_t steps) {
  stream_state& s = stream_state::of(on);
  if (is_captured(on)) {
    buffer_ref own = buffer_ref::allocate(bytes, s.where);
    set_zero(own.data(), bytes, s.where.index, s.native);
    void* const slots = own.data();
    return {slots, 1, std::move(own)};
  }
  const std::lock_guard lock(s.mutex);
  if (s.slot_bytes < bytes) {
    std::size_t size = 1 << 14;
    while (size < bytes) size *= 2;
    void* const larger = allocate(size, s.where.index, s.native);
    if (s.slots != nullptr) s.outgrown.push_back(s.slots);
    s.slots = larger, s.slot_bytes = size;
    s.numbers.use_up();  // so that they are cleared
  }
  const auto numbers = static_cast<unsigned>(steps);
  if (s.numbers.are_used_up(numbers)) {
    set_zero(s.slots, s.slot_bytes, s.where.index, s.native);
    s.numbers.begin();
  }
  return {s.slots, s.numbers.take(numbers), {}};
}

}  // namespace cuda
}  // namespace dsl::detail

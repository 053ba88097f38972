#include "exec/loop/loop_end.hpp"

#include <utility>

#include "mem/buffer.hpp"
#include "mem/processes.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {

namespace {

// In a mesh of processes each process has a copy of the condition on its own device.
buffer* own_memory(buffer* memory) {
  return memory->part != nullptr ? memory->part->own().get() : memory;
}

}  // namespace

loop_end::loop_end(const operand& condition, std::int64_t group)
    : memory_(own_memory(condition.memory)),
      at_(reinterpret_cast<const bool*>(condition.word[0])),
      group_(group),
      on_(stream::current(memory_->where)),
      is_asynchronous_(stream_state::of(on_).on.traits.is_asynchronous) {}

void loop_end::note(std::int64_t steps, std::int64_t left) {
  in_group_ += steps;
  if (in_group_ < group_) return;
  in_group_ = 0;
  ++groups_;
  stream_state& s = stream_state::of(on_);
  // The result is used before the group after the next one, if there is one.
  if (!is_asynchronous_ || left <= group_ || s.is_captured()) return;
  if (!copies_) copies_.emplace(on_);
  bool* const to = static_cast<bool*>(copies_->data()) + groups_ % 2;
  use(memory_, on_, false);
  s.on.copy(to, at_, sizeof(bool), direction::to_host, s.index, s.native);
  looks_.push_back({groups_, marker(on_), to});
}

bool loop_end::wait_and_look() {
  if (!is_asynchronous_) return is_here();
  bool condition = false;
  stream_state& s = stream_state::of(on_);
  use(memory_, on_, false);
  s.on.copy(&condition, at_, sizeof(bool), direction::to_host, s.index, s.native);
  s.synchronize();
  return condition;
}

bool loop_end::has_come() {
  if (is_here()) return true;
  while (!looks_.empty() && looks_.front().group < groups_ && !has_come_) {
    looks_.front().copied.wait();
    has_come_ = *looks_.front().condition;
    looks_.pop_front();
  }
  return has_come_;
}

}  // namespace dsl::detail

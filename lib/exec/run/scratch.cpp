#include "exec/run/scratch.hpp"

#include <algorithm>
#include <vector>

#include "exec/run/step_numbers.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {

namespace {

// Copies of memory that each member of a mesh has for itself.
std::size_t copies_of(const stream_state& s) {
  return std::max<std::size_t>(1, s.on.members().size());
}

void set_zero(stream_state& s, void* at, std::size_t bytes) {
  s.on.set_zero(at, bytes, s.index, s.native);
}

// The layout of tickets and partial results. On a mesh, each member also has tickets of its own in
// its part of the memory.
struct results_layout {
  std::size_t ticket_bytes, copy_bytes, all_bytes;

  results_layout(const stream_state& s, std::size_t bytes) {
    const std::size_t members = s.on.members().size(), copies = std::max<std::size_t>(1, members);
    ticket_bytes = (members > 0 ? 2 : 1) * max_tickets * sizeof(unsigned);
    copy_bytes = members > 0 ? s.on.bytes_of_copy(ticket_bytes + bytes) : ticket_bytes + bytes;
    all_bytes = copies * copy_bytes;
  }
  workspace split(void* memory) const {
    const auto step =
        static_cast<std::uint32_t>(all_bytes > copy_bytes ? copy_bytes / sizeof(unsigned) : 0);
    return {static_cast<char*>(memory) + ticket_bytes, static_cast<unsigned*>(memory), step};
  }
  // Cleared once, since every kernel that uses tickets leaves them at zero.
  void clear_tickets(stream_state& s, void* memory) const {
    for (std::size_t at = 0; at < all_bytes; at += copy_bytes)
      set_zero(s, static_cast<char*>(memory) + at, ticket_bytes);
  }
};

// The scratch memory of a stream. It grows by doubling.
class stream_scratch final : public stream_attachment {
 public:
  explicit stream_scratch(stream_state& s) : stream_(s) {}
  ~stream_scratch() override {
    for (void* memory : outgrown_) release(memory);
    if (results_.memory != nullptr) release(results_.memory);
    if (cells_.memory != nullptr) release(cells_.memory);
    if (between_.memory != nullptr) release(between_.memory);
    if (of_members_.memory != nullptr) release(of_members_.memory);
    if (!locked_.empty()) stream_.synchronize_quietly();
    for (const locked& each : locked_) stream_.on.release_pinned(each.memory, stream_.index);
  }
  // The caller holds the stream's mutex.
  static stream_scratch& of(stream_state& s) {
    if (s.scratch == nullptr) s.scratch = std::make_unique<stream_scratch>(s);
    return static_cast<stream_scratch&>(*s.scratch);
  }

  workspace results(std::size_t bytes) {
    if (results_.bytes < bytes) {
      const std::size_t size = grown(std::size_t{1} << 16, bytes);
      const results_layout layout(stream_, size);
      void* const larger = allocate(layout.all_bytes);
      try {
        layout.clear_tickets(stream_, larger);
      } catch (...) {
        release(larger);
        throw;
      }
      replace(results_, larger, size);
    }
    return results_layout(stream_, results_.bytes).split(results_.memory);
  }

  // While a thread holds this lock, no other thread uses the memory between launches.
  std::unique_lock<std::mutex> lock_launches() { return std::unique_lock(launches_); }
  void* between_launches(std::size_t bytes) {
    if (between_.bytes < bytes) {
      const std::size_t size = grown(std::size_t{1} << 16, bytes);
      replace(between_, allocate(size), size);
    }
    return between_.memory;
  }
  void of_members(member_workspace& w, std::size_t bytes) {
    const std::size_t copies = copies_of(stream_);
    if (of_members_.bytes < copies * bytes) {
      const std::size_t size =
          copies * stream_.on.bytes_of_copy(grown(std::size_t{1} << 16, bytes));
      replace(of_members_, allocate(size), size);
    }
    w.memory = of_members_.memory;
    w.all_bytes = of_members_.bytes;
    w.copy_bytes = w.all_bytes / copies;
  }

  exchange_cells cells(std::size_t bytes, unsigned steps) {
    const std::size_t copies = copies_of(stream_);
    if (cells_.bytes < copies * bytes) {
      const std::size_t size =
          copies * stream_.on.bytes_of_copy(grown(std::size_t{1} << 14, bytes));
      replace(cells_, allocate(size), size);
      numbers_.use_up();  // So that the cells are cleared.
    }
    if (numbers_.are_used_up(steps)) {
      set_zero(stream_, cells_.memory, cells_.bytes);
      numbers_.begin();
    }
    return {cells_.memory, cells_.bytes / copies, cells_.bytes, numbers_.take(steps)};
  }

  void* take_locked() {
    auto at = std::find_if(locked_.begin(), locked_.end(), [](const locked& l) { return !l.used; });
    if (at == locked_.end()) {
      locked_.emplace_back();
      try {
        locked_.back().memory = stream_.on.allocate_pinned(locked_bytes::size, stream_.index);
      } catch (...) {
        locked_.pop_back();
        throw;
      }
      at = locked_.end() - 1;
    }
    at->used = true;
    return at->memory;
  }
  void give_back_locked(const void* memory) noexcept {
    std::find_if(locked_.begin(), locked_.end(), [=](const locked& l) {
      return l.memory == memory;
    })->used = false;
  }

 private:
  struct block_of_memory {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  struct locked {
    void* memory = nullptr;
    bool used = false;
  };
  static std::size_t grown(std::size_t size, std::size_t wanted) {
    while (size < wanted) size *= 2;
    return size;
  }
  void* allocate(std::size_t bytes) {
    return stream_.on.allocate(bytes, stream_.index, stream_.native);
  }
  void release(void* memory) noexcept { stream_.on.release(memory, stream_.index, stream_.native); }
  void replace(block_of_memory& old, void* memory, std::size_t bytes) {
    if (old.memory != nullptr) outgrown_.push_back(old.memory);
    old = {memory, bytes};
  }

  stream_state& stream_;
  block_of_memory results_, cells_, between_, of_members_;
  std::mutex launches_;
  step_numbers numbers_;  // Numbers of the steps whose sums the cells hold.
  // Kept, since another thread may be about to launch a kernel with it. Each is at most half as
  // large as the next.
  std::vector<void*> outgrown_;
  std::vector<locked> locked_;
};

// Whether a launch may run at the same time as others of its stream: as part of a graph of the
// program's, or on a synchronous device, which several host threads may use.
bool may_run_beside_others(stream_state& s) {
  return !s.on.traits.is_asynchronous || s.is_captured();
}

}  // namespace

workspace scratch_of(const stream& on, std::size_t bytes) {
  stream_state& s = stream_state::of(on);
  if (may_run_beside_others(s)) {
    const results_layout layout(s, bytes);
    buffer_ref own = buffer_ref::allocate(layout.all_bytes, s.where());
    layout.clear_tickets(s, own.data());
    workspace w = layout.split(own.data());
    w.own = std::move(own);
    return w;
  }
  const std::lock_guard lock(s.mutex);
  return stream_scratch::of(s).results(bytes);
}

workspace scratch_of_two_launches(const stream& on, std::size_t bytes) {
  stream_state& s = stream_state::of(on);
  if (may_run_beside_others(s)) {
    buffer_ref own = buffer_ref::allocate(bytes, s.where());
    void* const partials = own.data();
    return {partials, nullptr, 0, std::move(own)};
  }
  stream_scratch* of = nullptr;
  {
    const std::lock_guard lock(s.mutex);
    of = &stream_scratch::of(s);
  }
  auto launch_lock = of->lock_launches();
  const std::lock_guard lock(s.mutex);
  return {of->between_launches(bytes), nullptr, 0, {}, std::move(launch_lock)};
}

member_workspace scratch_of_members(const stream& on, std::size_t bytes) {
  stream_state& s = stream_state::of(on);
  member_workspace w{};
  if (may_run_beside_others(s)) {
    w.copy_bytes = s.on.bytes_of_copy(bytes);
    w.all_bytes = copies_of(s) * w.copy_bytes;
    w.own = buffer_ref::allocate(w.all_bytes, s.where());
    w.memory = w.own.data();
    return w;
  }
  stream_scratch* of = nullptr;
  {
    const std::lock_guard lock(s.mutex);
    of = &stream_scratch::of(s);
  }
  w.launch_lock = of->lock_launches();
  const std::lock_guard lock(s.mutex);
  of->of_members(w, bytes);
  return w;
}

exchange_cells cells_of(const stream& on, std::size_t bytes, std::int64_t steps) {
  stream_state& s = stream_state::of(on);
  if (may_run_beside_others(s)) {
    const std::size_t copy = s.on.bytes_of_copy(bytes), all = copies_of(s) * copy;
    buffer_ref own = buffer_ref::allocate(all, s.where());
    set_zero(s, own.data(), all);
    void* const cells = own.data();
    return {cells, copy, all, 1, std::move(own)};
  }
  const std::lock_guard lock(s.mutex);
  return stream_scratch::of(s).cells(bytes, static_cast<unsigned>(steps));
}

locked_bytes::locked_bytes(const stream& on) : on_(on) {
  stream_state& s = stream_state::of(on);
  const std::lock_guard lock(s.mutex);
  data_ = stream_scratch::of(s).take_locked();
}
locked_bytes::~locked_bytes() {
  stream_state& s = stream_state::of(on_);
  const std::lock_guard lock(s.mutex);
  stream_scratch::of(s).give_back_locked(data_);
}

}  // namespace dsl::detail

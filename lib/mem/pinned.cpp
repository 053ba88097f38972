// Page-locked host memory.
#include <dsl/mem/pinned.hpp>

#include <algorithm>
#include <vector>

#include "mem/stream.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

struct pinned_memory {
  back_end& on;
  int index;
  void* data;
  std::atomic<int> owners{1};
  std::mutex mutex{};
  struct use {
    stream_state* stream;  // retained, so that no other stream gets its address
    marker end;
  };
  // The last use by each stream since the last wait.
  std::vector<use> uses{};
};

pinned_ref pinned_ref::allocate(std::size_t count, std::size_t size, device where) {
  properties(where);
  back_end& on = back_end::of(where);
  pinned_ref made;
  made.memory_ = counted_ref(new pinned_memory{on, where.index, nullptr});
  if (count > 0) made.memory_->data = on.allocate_pinned(count * size, where.index);
  return made;
}

void add_owner(pinned_memory& m) noexcept { m.owners.fetch_add(1, std::memory_order_relaxed); }

namespace {

void wait_for_uses(pinned_memory& m) {
  const std::lock_guard lock(m.mutex);
  while (!m.uses.empty()) {
    m.uses.back().end.wait();
    m.uses.back().stream->release();
    m.uses.pop_back();
  }
}

}  // namespace

void drop_owner(pinned_memory& m) noexcept {
  if (m.owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  try {
    wait_for_uses(m);
  } catch (const error&) {  // the work failed, so it is over
  }
  for (const pinned_memory::use& u : m.uses) u.stream->release();
  if (m.data != nullptr) m.on.release_pinned(m.data, m.index);
  delete &m;
}

void* pinned_ref::data() const noexcept { return memory_ ? memory_->data : nullptr; }

void pinned_ref::note_use(const stream& on) const {
  stream_state& s = stream_state::of(on);
  if (!s.on.traits.is_asynchronous || s.is_captured()) return;
  marker end = [&] {
    try {
      return marker(on);
    } catch (const error&) {
      s.synchronize_quietly();
      throw;
    }
  }();
  const std::lock_guard lock(memory_->mutex);
  const auto same = std::find_if(memory_->uses.begin(), memory_->uses.end(),
                                 [&](const auto& u) { return u.stream == &s; });
  if (same != memory_->uses.end()) {
    same->end = std::move(end);
  } else {
    memory_->uses.push_back({&s, std::move(end)});
    s.retain();
  }
}

void pinned_ref::wait() const {
  if (memory_) wait_for_uses(*memory_);
}

void require_within(std::int64_t offset, std::int64_t count, std::int64_t size) {
  if (offset < 0 || count < 0 || offset > size || count > size - offset)
    raise<index_error>("a subspan of " + std::to_string(count) + " elements from " +
                       std::to_string(offset) + " on, of " + std::to_string(size));
}

}  // namespace dsl::detail

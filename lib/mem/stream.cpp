#include "mem/stream.hpp"

#include <vector>

namespace dsl {

namespace {
// Innermost last. A thread's own, so that host threads do not disturb each other.
thread_local std::vector<stream> guards;
}  // namespace

namespace detail {

void stream_state::release() noexcept {
  if (permanent || owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  scratch.reset();
  on.destroy_stream(index, native);
  delete this;
}

namespace {

// The object of a device's kind. Throws device_error where there is no such device.
back_end& present(device where) {
  properties(where);
  return back_end::of(where);
}

}  // namespace
}  // namespace detail

stream::stream(device where) : state_(nullptr) {
  detail::back_end& on = detail::present(where);
  std::unique_ptr<detail::stream_state> made(new detail::stream_state(on, where.index));
  made->native = on.create_stream(where.index);
  state_ = made.release();
}
stream::stream(const stream& other) noexcept : state_(other.state_) { state_->retain(); }
stream& stream::operator=(const stream& other) noexcept {
  other.state_->retain();
  state_->release();
  state_ = other.state_;
  return *this;
}
stream::~stream() { state_->release(); }

stream stream::current(device where) {
  for (auto it = guards.rbegin(); it != guards.rend(); ++it)
    if (it->where() == where) return *it;
  auto& s = detail::present(where).default_stream(where.index);
  s.retain();
  return stream(&s);
}
device stream::where() const noexcept { return state_->where(); }
void* stream::native() const noexcept {
  state_->is_handed_out = true;
  return state_->native;
}
void stream::synchronize() const { state_->synchronize(); }

stream_guard::stream_guard(const stream& s) { guards.push_back(s); }
stream_guard::~stream_guard() { guards.pop_back(); }

}  // namespace dsl

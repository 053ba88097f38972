#include "mem/stream.hpp"

#include <vector>

#include "mem/text.hpp"

namespace dsl {

namespace {
// Innermost last. Thread-local, so that host threads do not disturb each other.
thread_local std::vector<stream> guards;
}  // namespace

namespace detail {

void stream_state::release() noexcept {
  if (permanent || owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  scratch.reset();
  if (void* const memory = brief.all(); memory != nullptr) {
    const auto lasting = hold();
    const stream_state& home = or_default_stream();
    on.release(memory, home.index, home.native);
  }
  if (!is_foreign) on.destroy_stream(index, native);
  delete this;
}
stream_state::~stream_state() {
  if (end != nullptr) on.destroy_event(end);
}

namespace {

std::recursive_mutex ends_of_foreign_streams;

}  // namespace

std::unique_lock<std::recursive_mutex> stream_state::hold() const {
  return is_foreign ? std::unique_lock(ends_of_foreign_streams)
                    : std::unique_lock<std::recursive_mutex>();
}

void stream_state::add_handle() noexcept {
  retain();
  if (is_foreign) handles.fetch_add(1, std::memory_order_relaxed);
}
void stream_state::drop_handle() noexcept {
  if (is_foreign && handles.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    scratch.reset();
    const auto lasting = hold();
    try {
      if (!is_captured()) end = on.record_event(index, native);
    } catch (const error&) {
      on.synchronize_quietly(index, native);
    }
    has_ended = true;
  }
  release();
}

stream_state& stream_state::or_default_stream() {
  if (!has_ended) return *this;
  stream_state& other = on.default_stream(index);
  try {
    other.wait_for(*this);
  } catch (const error&) {
    synchronize_quietly();
  }
  return other;
}

void stream_state::synchronize_quietly() noexcept {
  const auto lasting = hold();
  if (!has_ended) return on.synchronize_quietly(index, native);
  try {
    if (end != nullptr) on.wait_for_event(end);
  } catch (const error&) {  // the work failed, so it is over
  }
}

void stream_state::wait_for(const stream_state& other) {
  const auto lasting = other.hold();
  if (!other.has_ended) on.wait_for(index, native, other.native);
  else if (other.end != nullptr) on.wait_for_event_on(index, native, other.end);
}

marker::marker(const stream& s) : on_(&stream_state::of(s).on) {
  const stream_state& of = stream_state::of(s);
  event_ = on_->record_event(of.index, of.native);
}
marker::~marker() {
  if (event_ != nullptr) on_->destroy_event(event_);
}
void marker::wait() const { on_->wait_for_event(event_); }
bool marker::is_reached() const { return event_ == nullptr || on_->is_reached(event_); }

namespace {

// The object of a device's kind. Throws device_error if the device does not exist.
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
stream::stream(void* native, device where)
    : state_(&detail::present(where).default_stream(where.index)) {
  if (native == nullptr) return;
  detail::back_end& on = state_->on;
  if (!on.traits.is_asynchronous || detail::back_end::is_mesh(where))
    detail::raise<device_error>("a stream made elsewhere was given to " +
                                std::string(where.name()) + ", which has none");
  if (const int index = on.device_of_stream(native); index != where.index)
    detail::raise<device_error>("a stream of " + on.spell(index) + " was given to " +
                                std::string(where.name()));
  state_ = new detail::stream_state(on, where.index);
  state_->native = native;
  state_->is_foreign = state_->is_handed_out = true;
  state_->handles = 1;
}
stream::stream(void* native) : stream(native, device_of_stream(native)) {}

device stream::device_of_stream(void* native) {
  const device now = device::current();
  if (native == nullptr) return now;
  detail::back_end& on = detail::back_end::of(now).traits.is_asynchronous
                             ? detail::back_end::of(now.kind)
                             : detail::present(backend::cuda);
  return {on.kind(), on.device_of_stream(native)};
}
stream::stream(const stream& other) noexcept : state_(other.state_) { state_->add_handle(); }
stream& stream::operator=(const stream& other) noexcept {
  other.state_->add_handle();
  state_->drop_handle();
  state_ = other.state_;
  return *this;
}
stream::~stream() { state_->drop_handle(); }

stream stream::current(device where) {
  for (auto it = guards.rbegin(); it != guards.rend(); ++it)
    if (it->where() == where) return *it;
  auto& s = detail::present(where).default_stream(where.index);
  s.retain();
  return stream(s);
}
device stream::where() const noexcept { return state_->where(); }
void* stream::native() const noexcept {
  if (detail::back_end::is_mesh(where())) return nullptr;
  state_->is_handed_out = true;
  return state_->native;
}
void stream::synchronize() const { state_->synchronize(); }

stream_guard::stream_guard(const stream& s) { guards.push_back(s); }
stream_guard::~stream_guard() { guards.pop_back(); }

}  // namespace dsl

#include "mem/stream.hpp"

#include <memory>
#include <vector>

#include "cuda/cuda.hpp"

namespace dsl {

namespace {
// Innermost last. A thread's own, so that host threads do not disturb each other.
thread_local std::vector<stream> guards;
}  // namespace

namespace detail {

stream_state& stream_state::default_of(device where) {
  properties(where);  // throws where there is no such device: only then the GPUs are counted
  // Never freed: arrays may outlive everything else.
  static stream_state &host = *new stream_state{backend::host, nullptr, true}, &sim = *new stream_state{backend::sim, nullptr, true};
  static const std::vector<stream_state*>& gpus = *new std::vector<stream_state*>([] {
    std::vector<stream_state*> all;
    for (int i = 0; i < cuda::device_count(); ++i) all.push_back(new stream_state{{backend::cuda, i}, nullptr, true});
    return all;
  }());
  if (where.kind == backend::cuda) return *gpus[static_cast<std::size_t>(where.index)];
  return where.kind == backend::host ? host : sim;
}

void stream_state::release() noexcept {
  if (owners.fetch_sub(1, std::memory_order_acq_rel) != 1 || permanent) return;
  if (where.kind == backend::cuda) {
    for (void* memory : outgrown) cuda::release(memory, where.index, native);
    if (scratch != nullptr) cuda::release(scratch, where.index, native);
    if (slots != nullptr) cuda::release(slots, where.index, native);
    cuda::destroy_stream(where.index, native);
  }
  delete this;
}

}  // namespace detail

stream::stream(device where) : state_(nullptr) {
  properties(where);  // throws where there is no such device
  std::unique_ptr<detail::stream_state> made(new detail::stream_state{where});
  if (where.kind == backend::cuda) made->native = detail::cuda::create_stream(where.index);
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
  auto& s = detail::stream_state::default_of(where);
  s.retain();
  return stream(&s);
}
device stream::where() const noexcept { return state_->where; }
void* stream::native() const noexcept {
  state_->is_handed_out = true;
  return state_->native;
}
void stream::synchronize() const {
  if (state_->where.kind == backend::cuda) detail::cuda::synchronize_stream(state_->where.index, state_->native);
}

stream_guard::stream_guard(const stream& s) { guards.push_back(s); }
stream_guard::~stream_guard() { guards.pop_back(); }

}  // namespace dsl

#include "cuda/mesh_stream.hpp"

#include <algorithm>
#include <string>

namespace dsl::detail::cuda {

mesh_stream::mesh_stream(const std::vector<int>& members, bool is_default) {
  try {
    for (const int gpu : members) {
      const current_device on(gpu);
      member& m = of_.emplace_back(member{gpu, nullptr, nullptr});
      DSL_CHECK(cudaStreamCreateWithFlags(&m.stream,
                                          is_default ? cudaStreamDefault : cudaStreamNonBlocking));
      DSL_CHECK(cudaEventCreateWithFlags(&m.event, cudaEventDisableTiming));
      m.seen.resize(members.size());
    }
  } catch (...) {
    destroy();
    throw;
  }
}
mesh_stream::~mesh_stream() { destroy(); }

void mesh_stream::destroy() noexcept {
  for (const member& m : of_) {
    const current_device_quietly on(m.gpu);
    forget_launches(m.gpu, m.stream);
    if (m.event != nullptr) cudaEventDestroy(m.event);
    if (m.stream != nullptr) cudaStreamDestroy(m.stream);
  }
}

void mesh_stream::record(member& m) {
  if (m.recorded == m.queued) return;
  check(cudaEventRecord(m.event, m.stream), "recording an event", m.stream);
  m.recorded = m.queued;
}

void mesh_stream::prepare(std::uint64_t by, touches what) {
  const auto each_wait = [&](const auto& call) {
    for (std::size_t m = 0; m < of_.size(); ++m)
      for (std::size_t k = 0; k < of_.size(); ++k)
        if ((by >> m & 1) != 0 && k != m &&
            of_[m].seen[k] < (what == touches::own ? of_[k].foreign : of_[k].queued))
          call(of_[m], k);
  };
  // Records all events before all waits. An event recorded after a wait would include that wait,
  // and so delay the members that wait for the event.
  each_wait([&](const member&, std::size_t k) { record(of_[k]); });
  each_wait([&](member& waits, std::size_t k) {
    check(cudaStreamWaitEvent(waits.stream, of_[k].event, 0), "ordering one GPU behind another",
          waits.stream);
    waits.seen[k] = of_[k].recorded;
  });
  for (int m = 0; m < members(); ++m) {
    if ((by >> m & 1) == 0) continue;
    member& works = of_[static_cast<std::size_t>(m)];
    ++works.queued;
    if (what == touches::others) works.foreign = works.queued;
  }
}

void mesh_stream::count_all_as_foreign() {
  const std::lock_guard lock(mutex_);
  for (member& m : of_) m.foreign = m.queued;
}

void mesh_stream::wait_for(mesh_stream& other) {
  if (&other == this) return;
  const std::scoped_lock lock(mutex_, other.mutex_);
  for (member& theirs : other.of_) {
    if (theirs.ended == theirs.queued) continue;
    other.record(theirs);
    for (member& mine : of_) {
      check(cudaStreamWaitEvent(mine.stream, theirs.event, 0), "ordering one stream behind another",
            mine.stream);
      ++mine.queued;
    }
  }
}
void mesh_stream::wait_for(const std::vector<cudaEvent_t>& events) {
  const std::lock_guard lock(mutex_);
  for (member& mine : of_)
    for (const cudaEvent_t event : events) {
      check(cudaStreamWaitEvent(mine.stream, event, 0), "ordering a stream behind an event",
            mine.stream);
      ++mine.queued;
    }
}

std::vector<int> mesh_stream::working() const {
  const std::lock_guard lock(mutex_);
  std::vector<int> all;
  for (const member& m : of_) {
    if (m.ended == m.queued) continue;
    const current_device on(m.gpu);
    if (cudaStreamQuery(m.stream) == cudaErrorNotReady) all.push_back(m.gpu);
  }
  return all;
}

void mesh_stream::synchronize() {
  for (member& m : of_) {
    std::uint64_t queued = 0;
    {
      const std::lock_guard lock(mutex_);
      if (m.ended == m.queued) continue;
      queued = m.queued;
    }
    const current_device on(m.gpu);
    check(cudaStreamSynchronize(m.stream),
          ("waiting for a stream of cuda:" + std::to_string(m.gpu)).c_str(), m.stream);
    forget_launches(m.gpu, m.stream);
    const std::lock_guard lock(mutex_);
    m.ended = std::max(m.ended, queued);
  }
}
void mesh_stream::synchronize_quietly() noexcept {
  for (const member& m : of_) {
    const current_device_quietly on(m.gpu);
    cudaStreamSynchronize(m.stream);
  }
}

std::vector<cudaEvent_t> mesh_stream::record() {
  const std::lock_guard lock(mutex_);
  std::vector<cudaEvent_t> made;
  try {
    for (const member& m : of_) {
      const current_device on(m.gpu);
      DSL_CHECK(cudaEventCreateWithFlags(&made.emplace_back(), cudaEventDisableTiming));
      check(cudaEventRecord(made.back(), m.stream), "recording an event", m.stream);
    }
  } catch (...) {
    for (const cudaEvent_t event : made)
      if (event != nullptr) cudaEventDestroy(event);
    throw;
  }
  return made;
}

std::vector<std::uint64_t> mesh_stream::queued() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> all;
  for (const member& m : of_) all.push_back(m.queued);
  return all;
}
std::vector<std::uint64_t> mesh_stream::ended() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> all;
  for (const member& m : of_) all.push_back(m.ended);
  return all;
}

}  // namespace dsl::detail::cuda

#include "cuda/process_waits.hpp"

#include <cstring>

#include <dsl/mem/timeout.hpp>

#include "cuda/calls.hpp"
#include "cuda/driver.hpp"
#include "mem/text.hpp"

namespace dsl::detail::cuda {

std::atomic<process_waits*> process_waits::last_begun{};

void process_waits::begin(int gpu) {
  gpu_ = gpu;
  const current_device on(gpu_);
  void* made = nullptr;
  DSL_CHECK(cudaHostAlloc(&made, 2 * sizeof(std::uint64_t), cudaHostAllocPortable));
  std::memset(made, 0, 2 * sizeof(std::uint64_t));
  loops_ = static_cast<std::uint64_t*>(made);
  marks_ = static_cast<std::uint32_t*>(static_cast<void*>(loops_ + 1));
  begun_before_ = last_begun;
  last_begun.store(this, std::memory_order_release);  // one thread at a time, as meshes are made
}

template <class Call>
void process_waits::each(const Call& call) {
  for (process_waits* w = last_begun.load(std::memory_order_acquire); w != nullptr;
       w = w->begun_before_)
    call(*w);
}
void process_waits::wait(const std::function<bool()>& is_done) {
  each([&](process_waits& w) { w.wait_here(is_done); });
}
void process_waits::require_all() {
  each([](process_waits& w) { w.require_others(); });
}

void process_waits::mark(cudaStream_t stream) const {
  const auto address = reinterpret_cast<std::uintptr_t>(marks_);
  cuda::check(driver().write_value(stream, address, issued_, 0), "cuStreamWriteValue32");
}

void process_waits::queue(cudaStream_t stream, std::int64_t steps,
                          const std::function<void()>& call) {
  require_others();
  const current_device on(gpu_);  // whose default stream it may be
  if (is_capturing(stream)) return call();
  steps_[issued_++ / 2 % most] = steps;
  mark(stream);
  const auto end = [&] {
    ++issued_;
    mark(stream);
  };
  try {
    call();
  } catch (...) {
    end();
    throw;
  }
  end();
}

// Looks at the GPU's progress and at the clock once in many tries.
void process_waits::wait_here(const std::function<bool()>& is_done) {
  using clock = std::chrono::steady_clock;
  require_others();
  std::uint32_t seen = 0;
  clock::time_point since{};
  for (unsigned looks = 1; !is_over() && !is_done(); ++looks) {
    if (looks % 1024 != 0) continue;
    require_others();
    if (!why_lost().empty()) lose();
    const std::uint32_t now = *marks_;
    const double seconds =
        seconds_to_wait_for_processes() * static_cast<double>(steps_[now / 2 % most]);
    if (now != seen || now % 2 == 0) since = clock::now();
    else if (std::chrono::duration<double>(clock::now() - since).count() > seconds) lose();
    seen = now;
  }
}

void process_waits::require_others() {
  if (are_lost_ || *static_cast<volatile std::uint64_t*>(loops_) != 0) lose();
}

void process_waits::lose() {
  const std::lock_guard lock(mutex_);
  if (!are_lost_.exchange(true)) {
    const std::string why = why_lost();
    lost_ = "what processes do together on their GPUs did not end within " +
            spell_amount(seconds_to_wait_for_processes(), "s") +
            (why.empty() ? "" : " (" + why + ")") +
            ". The mesh is of no use any more, and what is computed with it means nothing. "
            "DSL_TIMEOUT sets the seconds";
    try {
      give_up();
    } catch (const device_error& who) {
      lost_ = who.what();
    }
  }
  raise<device_error>(lost_);
}

}  // namespace dsl::detail::cuda

#include "cuda/mesh_waits.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>

#include <dsl/mem/timeout.hpp>

#include "mem/text.hpp"

namespace dsl::detail::cuda {

block_range mesh_waits::waits_of(const kernel_launch& k, const std::vector<std::int64_t>& ends,
                                 mesh_stream& on) {
  const std::uint32_t most_ticks = block_range::ticks_in(seconds_to_wait());
  const std::lock_guard lock(mutex_);
  if (words_ == nullptr) {
    void* made = nullptr;
    DSL_CHECK(cudaHostAlloc(&made, most * sizeof *words_, cudaHostAllocPortable));
    std::memset(made, 0, most * sizeof *words_);
    words_ = static_cast<std::uint64_t*>(made);
  }
  const std::size_t place = next_++ % most;
  kernels_[place] = {queued_kernel::of(k), k.cooperative, k.first_step, ends};
  words_[place] = 0;
  streams_.insert(&on);
  block_range how;
  how.most_ticks = most_ticks;
  how.timeout_flag = words_ + place;
  return how;
}

// GPUs may write the words at any time. After its timeout was handled, a word stays set for blocks
// that have not started yet; it is ignored here.
bool mesh_waits::has_given_up(std::size_t i) const {
  return *static_cast<volatile std::uint64_t*>(words_ + i) != 0 && kernels_[i].known != end::over;
}

void mesh_waits::check() {
  const std::lock_guard lock(mutex_);
  if (words_ == nullptr) return;
  std::size_t first = most;
  for (std::size_t i = most; i-- > 0;) {
    if (!has_given_up(i)) continue;
    if (kernels_[i].known == end::unknown) first = i;
    // All kernels that gave up: the later ones worked with invalid results of the first.
    kernels_[i].known = end::over;
  }
  if (first < most) raise_given_up(first, {});
}

void mesh_waits::raise_given_up(std::size_t i, const std::vector<int>& at_work) const {
  const given_up_wait seen{words_[i]};
  const waiting_kernel& k = kernels_[i];
  const auto of = static_cast<std::size_t>(
      std::upper_bound(k.ends.begin(), k.ends.end(), seen.block()) - k.ends.begin());
  const std::string gpu = "cuda:" + std::to_string(gpus_[std::min(of, gpus_.size() - 1)]),
                    seconds = spell_amount(seconds_to_wait(), "s");
  std::string text = spell_launch(k.kernel) + " was given up: ";
  if (k.is_loop)
    text += gpu + " did not come to step " + std::to_string(k.first_step + seen.step()) +
            " within " + seconds;
  else text += "blocks of " + gpu + " waited in vain for those of other GPUs for " + seconds;
  for (const int each : at_work)
    text += (each == at_work.front() ? ", and what was queued on cuda:" : " and cuda:") +
            std::to_string(each);
  if (!at_work.empty()) text += " has not ended after as long again";
  raise<cuda_error>(text + ". Its results mean nothing. DSL_TIMEOUT sets the seconds");
}

void mesh_waits::wait_for(mesh_stream& stream) {
  {
    const std::lock_guard lock(mutex_);
    if (streams_.erase(&stream) == 0) return;
  }
  try {
    poll([&] { return stream.working(); });
  } catch (...) {
    const std::lock_guard lock(mutex_);
    streams_.insert(&stream);
    throw;
  }
}
void mesh_waits::wait_for_all() {
  wait_until_none([this] {
    const std::lock_guard lock(mutex_);
    for (const mesh_stream* const each : streams_)
      if (std::vector<int> at_work = each->working(); !at_work.empty()) return at_work;
    return std::vector<int>();
  });
}
void mesh_waits::wait_until_none(const working& at_work) {
  {
    const std::lock_guard lock(mutex_);
    if (streams_.empty()) return;
  }
  poll(at_work);
}

// Checks every few milliseconds whether a kernel gave up.
void mesh_waits::poll(const working& at_work) {
  using clock = std::chrono::steady_clock;
  std::optional<clock::time_point> since;
  for (unsigned looks = 1;; ++looks) {
    const std::vector<int> left = at_work();
    if (left.empty()) return;
    if (looks % 1024 != 0) continue;
    const std::lock_guard lock(mutex_);
    std::size_t first = 0;
    while (first < most && !has_given_up(first)) ++first;
    if (first == most) continue;
    if (!since) since = clock::now();
    if (std::chrono::duration<double>(clock::now() - *since).count() <= seconds_to_wait()) continue;
    kernels_[first].known = end::reported;
    raise_given_up(first, left);
  }
}

void mesh_waits::forget(mesh_stream& ends) noexcept {
  const std::lock_guard lock(mutex_);
  streams_.erase(&ends);
}

}  // namespace dsl::detail::cuda

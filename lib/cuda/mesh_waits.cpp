#include "cuda/mesh_waits.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "mem/text.hpp"

namespace dsl::detail::cuda {

namespace {

// DSL_TIMEOUT. Throws device_error where it is no number of seconds.
double seconds_to_wait() {
  static const double seconds = [] {
    const char* const value = std::getenv("DSL_TIMEOUT");
    if (value == nullptr || *value == '\0') return 10.0;
    const std::string_view text = value;
    double wanted = 0;
    const auto [end, failure] = std::from_chars(text.begin(), text.end(), wanted);
    if (failure != std::errc{} || end != text.end() || !(wanted > 0 && wanted <= 3600))
      raise<device_error>("DSL_TIMEOUT is \"" + std::string(text) + "\"; valid are numbers of seconds up to 3600");
    return wanted;
  }();
  return seconds;
}

}  // namespace

block_range mesh_waits::waits_of(const kernel_launch& k, const std::vector<std::int64_t>& ends) {
  // On an H200 a pause and a try take together about as long as a pause is asked to.
  const double tries = seconds_to_wait() * 1e9 / block_range::pause_nanoseconds;
  const std::lock_guard lock(mutex_);
  if (words_ == nullptr) {
    void* made = nullptr;
    DSL_CHECK(cudaHostAlloc(&made, most * sizeof *words_, cudaHostAllocPortable));
    std::memset(made, 0, most * sizeof *words_);
    words_ = static_cast<std::uint64_t*>(made);
  }
  const std::size_t place = next_++ % most;
  kernels_[place] = {queued_kernel::of(k), k.cooperative, k.first_step, ends};
  block_range how;
  how.most_tries = block_range::quick_tries + static_cast<std::uint32_t>(tries);
  how.given_up = words_ + place;
  return how;
}

void mesh_waits::check() {
  const std::lock_guard lock(mutex_);
  if (words_ == nullptr) return;
  for (std::size_t i = 0; i < most; ++i) {
    auto& word = *static_cast<volatile std::uint64_t*>(words_ + i);
    if (word == 0) continue;
    const given_up_wait seen{word};
    const waiting_kernel& k = kernels_[i];
    std::fill_n(words_, most, 0);  // what came behind it worked with what it left
    const auto of = static_cast<std::size_t>(std::upper_bound(k.ends.begin(), k.ends.end(), seen.block()) - k.ends.begin());
    const std::string gpu = "cuda:" + std::to_string(gpus_[std::min(of, gpus_.size() - 1)]);
    const std::string what = k.is_loop ? gpu + " did not come to step " + std::to_string(k.first_step + seen.step())
                                       : "blocks of " + gpu + " waited in vain for others";
    raise<cuda_error>(spell_launch(k.kernel) + " was given up: " + what + " within " + spell_amount(seconds_to_wait(), "s") +
                      ". Its results mean nothing. DSL_TIMEOUT sets the seconds");
  }
}

}  // namespace dsl::detail::cuda

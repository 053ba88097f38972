#include "exec/run/calibration.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <dsl/mem/array.hpp>
#include <dsl/mem/buffer.hpp>

#include "exec/run/copy.hpp"
#include "exec/run/executor.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {

double measured_curve::operator()(double bytes) const {
  if (points_.empty()) return 0;
  if (points_.size() == 1 || bytes <= points_.front().bytes) return points_.front().seconds;
  auto after = std::find_if(points_.begin(), points_.end(),
                            [bytes](const point& p) { return p.bytes >= bytes; });
  if (after == points_.end()) --after;
  const point &b = *after, &a = *(after - 1);
  return a.seconds + (b.seconds - a.seconds) * (bytes - a.bytes) / (b.bytes - a.bytes);
}

double measured_curve::least() const {
  const auto least =
      std::min_element(points_.begin(), points_.end(),
                       [](const point& a, const point& b) { return a.seconds < b.seconds; });
  return least == points_.end() ? 0 : least->seconds;
}

double measured_curve::bandwidth() const {
  if (points_.size() < 2) return 0;
  const point &b = points_.back(), &a = points_[points_.size() - 2];
  return (b.bytes - a.bytes) / (b.seconds - a.seconds);
}

std::vector<std::int64_t> calibrated_sizes(std::int64_t cache, std::int64_t most) {
  std::vector<std::int64_t> sizes;
  // A multiple of every vector's bytes, and of two vectors'.
  constexpr std::int64_t whole = 256;
  for (std::int64_t octave = 64 << 10; octave <= most; octave *= 2) {
    const bool about_cache = 4 * octave > cache && octave < 4 * cache;
    for (int part = 4; part < 8; part += about_cache ? 1 : 4)
      if (const std::int64_t bytes = octave / 4 * part / whole * whole; bytes <= most)
        sizes.push_back(bytes);
  }
  return sizes;
}

namespace {

// Seconds a call takes to reach the device: calls on one element are queued again and again. With
// `waits`, each is waited for.
double launch_interval(device where, bool waits) {
  const device_guard guard(where);
  const stream on(where);
  const stream_guard queued_on(on);
  const array<std::uint32_t> both(2);
  operand from_to[2];
  for (int k = 0; k < 2; ++k) {
    operand& o = from_to[k];
    o.kind = operand_kind::array;
    o.type = dtype::uint32;
    o.rank = 1;
    o.extents[0] = o.strides[0] = 1;
    o.memory = both.view().owner().get();
    o.word[0] = reinterpret_cast<std::uintptr_t>(both.data() + k);
  }
  return seconds_a_call(
      [&](int calls) {
        const auto begin = std::chrono::steady_clock::now();
        for (int k = 0; k < calls; ++k) {
          bound_pass(copy_code(sizeof(std::uint32_t)), from_to, {}).assign();
          if (waits) on.synchronize();
        }
        on.synchronize();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      },
      2e-3);
}

double allocation_interval(device where) {
  const device_guard guard(where);
  return seconds_a_call([&](int calls) {
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < calls; ++k) buffer_ref::allocate(sizeof(double), where);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
}

}  // namespace

const calibration* calibration_of(device where) {
  static std::mutex mutex;
  // Never freed, as `back_end`.
  static auto& known = *new std::map<std::pair<backend, int>, std::unique_ptr<calibration>>;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace({where.kind, where.index});
  if (is_new) {
    try {
      found->second = executor::of(where).measure(where.index);
      if (found->second != nullptr) {
        found->second->launch = launch_interval(where, false);
        found->second->wait = launch_interval(where, true) - found->second->launch;
        found->second->allocation = allocation_interval(where);
      }
    } catch (...) {
      known.erase(found);
      throw;
    }
  }
  return found->second.get();
}

}  // namespace dsl::detail

// Rates of a device, measured in this process when they are first needed.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include <dsl/mem/device.hpp>

namespace dsl::detail {

/// Units that compute: with float, with double, with integers.
enum class unit : std::uint8_t { fp32, fp64, integer };
inline constexpr std::size_t unit_count = 3;

/// Seconds as a function of bytes: linear between measured points, and beyond the last one as
/// between the last two.
class measured_curve {
 public:
  /// Points must be added in order of bytes.
  void add(double bytes, double seconds) { points_.push_back({bytes, seconds}); }
  double operator()(double bytes) const;
  /// Bytes a second of large sizes.
  double bandwidth() const;
  /// The shortest time: that of a call with nothing to do.
  double least() const;
  bool is_empty() const { return points_.empty(); }

 private:
  struct point { double bytes, seconds; };
  std::vector<point> points_;
};

struct calibration {
  /// Seconds from one empty kernel of this library to the next.
  double launch = 0;
  /// Seconds more until the calling thread knows that a kernel has ended.
  double wait = 0;
  /// Seconds of the calling thread to allocate memory from the pool and release it.
  double allocation = 0;
  /// Seconds of an atomic addition whose result the next one waits for.
  double round_trip = 0;
  /// Seconds of a call that reads the given bytes, and of one that reads half of them and writes
  /// the other half.
  measured_curve read, copied;
  /// Bytes a second of copies within the L2 cache; 0 if there is no relevant cache.
  double cache = 0;
  /// Bytes a second of sectors (32 bytes) that are partly written; 0 if they cost as much as
  /// others.
  double partial_writes = 0;
  /// Multiply-adds a second of float and of double, and additions a second of integers.
  std::array<double, unit_count> rate{};

  double& rate_of(unit u) { return rate[static_cast<std::size_t>(u)]; }
};

/// The median seconds a call, from some batches of calls, each long enough to measure:
/// `time(calls)` returns the seconds of a batch.
template <class Time>
double seconds_a_call(const Time& time, double seconds_of_a_batch = 200e-6) {
  time(1);
  const double about = std::max(1e-7, time(1));
  const int calls = std::clamp(static_cast<int>(seconds_of_a_batch / about), 1, 1000);
  const std::size_t batches = about > 10 * seconds_of_a_batch ? 3 : 5;
  std::array<double, 5> all{};
  for (std::size_t k = 0; k < batches; ++k) all[k] = time(calls) / calls;
  std::sort(all.begin(), all.begin() + batches);
  return all[batches / 2];
}

/// The sizes in bytes at which curves are measured, up to `most`: two an octave, and four an octave
/// near the cache's size.
std::vector<std::int64_t> calibrated_sizes(std::int64_t cache, std::int64_t most);

/// A device's rates, measured on the first call; null where times mean nothing (the simulator).
const calibration* calibration_of(device where);

}  // namespace dsl::detail

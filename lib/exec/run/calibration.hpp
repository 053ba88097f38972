// What a device does in a second, measured in this process where something asks for it.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include <dsl/mem/device.hpp>

namespace dsl::detail {

/// What computes: with float, with double, with integers.
enum class unit : std::uint8_t { fp32, fp64, integer };
inline constexpr std::size_t unit_count = 3;

/// Seconds over bytes: measured points, between which it is a straight line, and beyond the last
/// one as between the last two.
class measured_curve {
 public:
  /// In order of bytes.
  void add(double bytes, double seconds) { points_.push_back({bytes, seconds}); }
  double operator()(double bytes) const;
  /// Bytes a second where there are many.
  double bandwidth() const;
  /// The shortest time: of a call that has nothing to do.
  double least() const;
  bool is_empty() const { return points_.empty(); }

 private:
  struct point { double bytes, seconds; };
  std::vector<point> points_;
};

struct calibration {
  double launch =
      0;  ///< seconds from one kernel of this library to the next, when they have nothing to do
  double wait = 0;  ///< seconds more until the calling thread knows that one has ended
  double allocation =
      0;  ///< seconds that getting memory from the pool and giving it back takes the calling thread
  double round_trip = 0;  ///< seconds of an atomic addition whose result the next one waits for
  measured_curve read, copied;  ///< seconds of a call that reads so many bytes; that reads half of
                                ///< them and writes the other half
  double cache = 0;  ///< bytes a second of copies within the L2 cache; 0: there is none to speak of
  double partial_writes =
      0;  ///< bytes a second of sectors (32 bytes) that are not written whole; 0: as any others
  std::array<double, unit_count>
      rate{};  ///< multiply-adds a second of float and of double, additions of integers

  double& rate_of(unit u) { return rate[static_cast<std::size_t>(u)]; }
};

/// The median of some measurements, each of so many calls that the clock tells them apart:
/// `time(calls)` gives seconds.
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

/// Bytes at which curves are measured: powers of two, and four to an octave about the cache's size,
/// up to `most`.
std::vector<std::int64_t> calibrated_sizes(std::int64_t cache, std::int64_t most);

/// A device's, measured when it is first asked for; null where times mean nothing (the simulator).
const calibration* calibration_of(device where);

}  // namespace dsl::detail

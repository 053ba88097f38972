// The order in which the simulator runs what a GPU may run in any order.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace dsl::detail {

/// DSL_SIM_SEED, or 0 if it is not set. Throws device_error if it is no number.
std::uint64_t seed_of_environment();

/// Draws orders from a seed; with seed 0 nothing is reordered.
class drawn_order {
 public:
  explicit drawn_order(std::uint64_t seed) : seeded_(seed != 0), state_(seed) {}
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  bool is_seeded() const { return seeded_; }
  template <class T>
  void shuffle(std::vector<T>& all) {
    for (std::size_t i = all.size(); seeded_ && i > 1; --i)
      std::swap(all[i - 1], all[static_cast<std::size_t>(below(static_cast<int>(i)))]);
  }

 private:
  // Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014.
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  bool seeded_;
  std::uint64_t state_;
};

}  // namespace dsl::detail

// In which order the simulator takes what a GPU takes in any.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace dsl::detail {

/// DSL_SIM_SEED, 0 where it is not set. Throws device_error where it is no number.
std::uint64_t seed_of_environment();

/// Draws from a seed; with seed 0 everything stays in its own order.
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

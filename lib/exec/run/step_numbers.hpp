// Numbers of steps, by which the blocks of a loop know whose sums they read.
#pragma once

#include <cstdint>

namespace dsl::detail {

/// Numbers that stand for steps where sums of earlier steps may still lie. None is 0, which cleared
/// memory holds, and none comes twice until the memory has been cleared.
class step_numbers {
 public:
  /// Whether the memory has to be cleared before so many more.
  bool are_used_up(unsigned steps) const { return last_ > UINT32_MAX - steps; }
  /// The memory has been cleared.
  void begin() { last_ = 0; }
  /// Nothing is known of the memory.
  void use_up() { last_ = UINT32_MAX; }
  /// The first of so many numbers, one after another.
  unsigned take(unsigned steps) {
    last_ += steps;
    return last_ - steps + 1;
  }

 private:
  unsigned last_ = 0;
};

}  // namespace dsl::detail

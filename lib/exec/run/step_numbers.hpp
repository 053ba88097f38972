// Numbers of steps, by which the blocks of a loop recognize the step of a sum.
#pragma once

#include <cstdint>

namespace dsl::detail {

/// Numbers for steps, while cells may still hold sums of earlier steps. A number is never 0, the
/// value of cleared memory, and never used twice until the memory has been cleared.
class step_numbers {
 public:
  /// Whether the memory must be cleared before `steps` more numbers.
  bool are_used_up(unsigned steps) const { return last_ > UINT32_MAX - steps; }
  /// The memory has been cleared.
  void begin() { last_ = 0; }
  /// Contents unknown: clear before use.
  void use_up() { last_ = UINT32_MAX; }
  /// Takes `steps` consecutive numbers. Returns the first.
  unsigned take(unsigned steps) {
    last_ += steps;
    return last_ - steps + 1;
  }

 private:
  unsigned last_ = 0;
};

}  // namespace dsl::detail

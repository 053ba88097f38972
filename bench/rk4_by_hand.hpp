// Launches the hand-written RK4 step (tests/codegen/by_hand.cu), and computes the sum that is fed
// back.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

namespace bench {

void launch_rk4_by_hand(std::complex<float>* F, std::complex<float>* G,
                        const std::complex<float>* delta, float h, std::int64_t n);

/// The mean of F with CUB's DeviceReduce. Has memory of its own.
class rk4_by_hand_sum {
 public:
  explicit rk4_by_hand_sum(std::int64_t n);
  ~rk4_by_hand_sum();
  rk4_by_hand_sum(const rk4_by_hand_sum&) = delete;
  rk4_by_hand_sum& operator=(const rk4_by_hand_sum&) = delete;

  void launch(const std::complex<float>* F, std::complex<float>* mean);

 private:
  std::int64_t n_;
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

/// Runs all steps, with the mean of F fed back, in one cooperative kernel that keeps the fields in
/// registers: at most `most_in_registers` elements. `sums` has room for `sums_in_registers`
/// numbers.
inline constexpr std::int64_t most_in_registers = 2 * 132 * 2 * 512,
                              sums_in_registers = 2 * 132 * 2;
void launch_rk4_loop_by_hand(std::complex<float>* F, std::complex<float>* G,
                             std::complex<float>* delta, std::complex<float>* sums, float h, int n,
                             int steps);

}  // namespace bench

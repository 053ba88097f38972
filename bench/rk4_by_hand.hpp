// The hand-written RK4 step (tests/codegen/by_hand.cu), to launch, and what feeds its sum back.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

namespace bench {

void launch_rk4_by_hand(std::complex<float>* F, std::complex<float>* G,
                        const std::complex<float>* delta, float h, std::int64_t n);

/// The mean of F by CUB's DeviceReduce, with memory of its own.
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

/// All steps with the mean of F fed back in one cooperative kernel, the fields in registers: up to
/// so many elements. `sums` holds so many numbers.
inline constexpr std::int64_t most_in_registers = 2 * 132 * 2 * 512,
                              sums_in_registers = 2 * 132 * 2;
void launch_rk4_loop_by_hand(std::complex<float>* F, std::complex<float>* G,
                             std::complex<float>* delta, std::complex<float>* sums, float h, int n,
                             int steps);

}  // namespace bench

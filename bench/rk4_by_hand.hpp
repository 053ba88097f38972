// The hand-written RK4 step (tests/codegen/by_hand.cu), to launch.
#pragma once

#include <complex>
#include <cstdint>

void launch_rk4_by_hand(std::complex<float>* F, std::complex<float>* G, const std::complex<float>* delta, float h, std::int64_t n);

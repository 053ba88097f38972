// Makes the simulator's warps have 64 threads, before any test of the binary. Its files are
// compiled with DSL_DETAIL_SIM_WARP_SIZE=64.
#include "sim/back_end.hpp"

[[maybe_unused]] static const int warp_size = dsl::detail::simulator.chip().warp_size = 64;

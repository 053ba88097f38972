// Reductions of 32- and 64-bit integers.
#include "every_reduction.hpp"

COMPARE_REDUCTIONS(int32, 2'000'000)
COMPARE_REDUCTIONS(int64, 34'567)
COMPARE_REDUCTIONS(uint32, 34'567)
COMPARE_REDUCTIONS(uint64, 34'567)

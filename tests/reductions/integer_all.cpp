// Reductions of 32- and 64-bit integers.
#include "every_reduction.hpp"

COMPARE_REDUCTIONS(int32)
COMPARE_REDUCTIONS(int64)
COMPARE_REDUCTIONS(uint32)
COMPARE_REDUCTIONS(uint64)

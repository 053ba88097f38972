// Reductions of bool and 8-bit integers.
#include "every_reduction.hpp"

COMPARE_REDUCTIONS(boolean, 34'567)
COMPARE_REDUCTIONS(int8, 34'567)
COMPARE_REDUCTIONS(uint8, 34'567)

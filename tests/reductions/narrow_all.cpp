// Reductions of bool and 8-bit integers.
#include "every_reduction.hpp"

COMPARE_REDUCTIONS(boolean)
COMPARE_REDUCTIONS(int8)
COMPARE_REDUCTIONS(uint8)

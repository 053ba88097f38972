// Reductions of 16-bit dtypes.
#include "every_reduction.hpp"

COMPARE_REDUCTIONS(int16)
COMPARE_REDUCTIONS(uint16)
COMPARE_REDUCTIONS(float16)
COMPARE_REDUCTIONS(bfloat16)

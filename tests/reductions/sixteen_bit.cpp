// Reductions of 16-bit dtypes.
#include "every_reduction.hpp"

COMPARE_REDUCTIONS(int16, 34'567)
COMPARE_REDUCTIONS(uint16, 34'567)
COMPARE_REDUCTIONS(float16, 34'567)
COMPARE_REDUCTIONS(bfloat16, 34'567)

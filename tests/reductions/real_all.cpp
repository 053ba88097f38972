// Reductions of float32 and float64.
#include "every_reduction.hpp"

COMPARE_REDUCTIONS(float32)
COMPARE_REDUCTIONS(float64)

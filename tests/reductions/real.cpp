// Reductions of float32 and float64.
#include "every_reduction.hpp"

COMPARE_REDUCTIONS(float32, 2'000'000)
COMPARE_REDUCTIONS(float64, 34'567)

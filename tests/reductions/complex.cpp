// Reductions of complex numbers.
#include "every_reduction.hpp"

COMPARE_REDUCTIONS(complex64, 34'567)
COMPARE_REDUCTIONS(complex128, 34'567)

// Reductions of complex numbers.
#include "every_reduction.hpp"

COMPARE_REDUCTIONS(complex64)
COMPARE_REDUCTIONS(complex128)

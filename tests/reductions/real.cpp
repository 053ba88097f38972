// NumPy's reductions of float32 and float64.
#include "stored.hpp"

TEST_P(reductions, numpy_float32) { reduction::comparison<dsl::dtype::float32>{}; }
TEST_P(reductions, numpy_float64) { reduction::comparison<dsl::dtype::float64>{}; }

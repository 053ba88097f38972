// NumPy's values for float32 and float64.
#include "every_function.hpp"

TEST_P(numpy, float32) { numpy_values::compare_every_function<dsl::dtype::float32>(); }
TEST_P(numpy, float64) { numpy_values::compare_every_function<dsl::dtype::float64>(); }

// NumPy's values for float16 and bfloat16.
#include "every_function.hpp"

TEST_P(numpy, float16) { numpy_values::compare_every_function<dsl::dtype::float16>(); }
TEST_P(numpy, bfloat16) { numpy_values::compare_every_function<dsl::dtype::bfloat16>(); }

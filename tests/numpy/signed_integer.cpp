// NumPy's values for signed integers.
#include "every_function.hpp"

TEST_P(numpy, int16) { numpy_values::compare_every_function<dsl::dtype::int16>(); }
TEST_P(numpy, int32) { numpy_values::compare_every_function<dsl::dtype::int32>(); }
TEST_P(numpy, int64) { numpy_values::compare_every_function<dsl::dtype::int64>(); }

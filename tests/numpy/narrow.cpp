// NumPy's values for bool and 8-bit integers.
#include "every_function.hpp"

TEST_P(numpy, boolean) { numpy_values::compare_every_function<dsl::dtype::boolean>(); }
TEST_P(numpy, int8) { numpy_values::compare_every_function<dsl::dtype::int8>(); }
TEST_P(numpy, uint8) { numpy_values::compare_every_function<dsl::dtype::uint8>(); }

// NumPy's values for unsigned integers.
#include "every_function.hpp"

TEST_P(numpy, uint16) { numpy_values::compare_every_function<dsl::dtype::uint16>(); }
TEST_P(numpy, uint32) { numpy_values::compare_every_function<dsl::dtype::uint32>(); }
TEST_P(numpy, uint64) { numpy_values::compare_every_function<dsl::dtype::uint64>(); }

// NumPy's values for complex numbers.
#include "every_function.hpp"

TEST_P(numpy, complex64) { numpy_values::compare_every_function<dsl::dtype::complex64>(); }
TEST_P(numpy, complex128) { numpy_values::compare_every_function<dsl::dtype::complex128>(); }

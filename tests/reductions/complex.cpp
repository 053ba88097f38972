// NumPy's reductions of complex numbers.
#include "stored.hpp"

TEST_P(reductions, numpy_complex64) { reduction::comparison<dsl::dtype::complex64>{}; }
TEST_P(reductions, numpy_complex128) { reduction::comparison<dsl::dtype::complex128>{}; }

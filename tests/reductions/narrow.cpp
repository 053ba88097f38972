// NumPy's reductions of bool and 8-bit integers.
#include "stored.hpp"

TEST_P(reductions, numpy_boolean) { reduction::comparison<dsl::dtype::boolean>{}; }
TEST_P(reductions, numpy_int8) { reduction::comparison<dsl::dtype::int8>{}; }
TEST_P(reductions, numpy_uint8) { reduction::comparison<dsl::dtype::uint8>{}; }

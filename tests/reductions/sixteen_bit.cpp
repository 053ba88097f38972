// NumPy's reductions of 16-bit dtypes.
#include "stored.hpp"

TEST_P(reductions, numpy_int16) { reduction::comparison<dsl::dtype::int16>{}; }
TEST_P(reductions, numpy_uint16) { reduction::comparison<dsl::dtype::uint16>{}; }
TEST_P(reductions, numpy_float16) { reduction::comparison<dsl::dtype::float16>{}; }
TEST_P(reductions, numpy_bfloat16) { reduction::comparison<dsl::dtype::bfloat16>{}; }

// NumPy's reductions of 32- and 64-bit integers.
#include "stored.hpp"

TEST_P(reductions, numpy_int32) { reduction::comparison<dsl::dtype::int32>{}; }
TEST_P(reductions, numpy_int64) { reduction::comparison<dsl::dtype::int64>{}; }
TEST_P(reductions, numpy_uint32) { reduction::comparison<dsl::dtype::uint32>{}; }
TEST_P(reductions, numpy_uint64) { reduction::comparison<dsl::dtype::uint64>{}; }

// wanted by nvcc: dsl's kernels need compute capability 8.0 or later
// architecture: 75
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) { x = 2 * x; }

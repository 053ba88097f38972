// wanted: this operation is not defined for operands of these dtypes
#include <dsl/dsl.hpp>
void f(dsl::array<int>& x, dsl::array<float>& y) { x = x << y; }

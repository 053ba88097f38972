// wanted: a scan is no operand of a formula: evaluate it first, dsl::eval(dsl::cumsum(x))
#include <dsl/scan.hpp>
void f(dsl::array<float>& x, dsl::array<float>& y) { y = 2 * dsl::cumsum(x); }

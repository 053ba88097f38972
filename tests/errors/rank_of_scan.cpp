// wanted: a scan has the rank of its operand, or 1 where no axis is given
#include <dsl/scan.hpp>
void f(dsl::view<float, 2> x, dsl::array<float, 2>& m) { x = dsl::cumsum(m); }

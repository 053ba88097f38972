// wanted: the target is const
#include <dsl/scan.hpp>
void f(const dsl::array<float>& x, const dsl::view<const float, 1>& y) { dsl::assign(y, dsl::cumsum(x)); }

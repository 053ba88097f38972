// wanted: the target's dtype is narrower than the scan's: use cumsum<T>(x), or dsl::cast on x
#include <dsl/scan.hpp>
void f(dsl::array<int>& x) { x = dsl::cumsum(x); }

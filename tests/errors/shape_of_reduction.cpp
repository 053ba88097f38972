// wanted: a reduction has no elements to rearrange
#include <dsl/dsl.hpp>
auto f(dsl::array<float>& x) { return dsl::flip(x - dsl::sum(x)); }

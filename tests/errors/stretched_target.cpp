// wanted: the target is const: an array that is, or a view that only reads
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) { dsl::broadcast_to(x, 3, 4) = x; }

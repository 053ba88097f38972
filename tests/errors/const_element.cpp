// wanted: the target is const: an array that is, or a view that only reads
#include <dsl/dsl.hpp>
void f(const dsl::array<float>& x) { x(1) = 2; }

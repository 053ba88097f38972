// wanted: the target's dtype is narrower than the expression's: use dsl::cast
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x, dsl::array<double>& y) { x = y * 2; }

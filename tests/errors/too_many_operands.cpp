// wanted: an expression takes at most 64 operands, and each use of an array or of a number is one: make it a function of its arrays, dsl::vectorize
// lines: 15
#include <dsl/dsl.hpp>

auto two(const dsl::array<float>& x) { return x + x; }
auto eight(const dsl::array<float>& x) { return two(x) + two(x) + (two(x) + two(x)); }
auto half(const dsl::array<float>& x) { return eight(x) + eight(x) + (eight(x) + eight(x)); }
void f(dsl::array<float>& x) { x = half(x) + half(x) + x; }

// wanted by both: the function takes another number of arguments (Takes) than it is called with (Given)
// lines: 15
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto a, auto b) { return a + b; })(x);
}

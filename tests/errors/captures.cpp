// wanted: vectorize takes a function without captures or members: pass values as arguments
// lines: 15
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x, float scale) {
  x = dsl::vectorize([scale](auto v) { return v * scale; })(x);
}

// wanted: use dsl::where(condition, a, b), or give dsl::vectorize a functor
// lines: 15
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) {
    if (v > 0) return v;
    return -v;
  })(x);
}

// wanted by both: a lambda is traced and takes auto parameters
// lines: 15
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](float v) { return v > 0 ? v : -v; })(x);
}

// wanted by both: a formula calls what the compiler does not evaluate
// lines: 15
#include <dsl/dsl.hpp>
inline double root(double x) { return x > 0 ? x / 2 : 0; }
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) { return v * root(2.0); })(x);
}

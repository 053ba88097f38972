// wanted: a C++ variable cannot take a symbol's value
// lines: 15
#include <dsl/dsl.hpp>
void f(dsl::array<float>& x) {
  x = dsl::vectorize([](auto v) {
    float sum = 0;
    for (int k = 0; k < 3; ++k) sum += v * k;
    return sum;
  })(x);
}

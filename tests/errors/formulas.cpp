// wanted: inside a formula there is one element: apply this function to the array
// wanted: inside a formula there is one element: apply dsl::shift, dsl::take or a slice to the array
// wanted: a C++ variable holds no symbol: begin with one, auto sum = 0 * v
// wanted: a symbol keeps its dtype
// wanted: a symbol keeps its dtype
// wanted: a branch or loop on data cannot be traced
// wanted: in a loop a formula cannot use its reductions for its elements
// lines: 15
#include <dsl/dsl.hpp>

int main() {
  dsl::array<float> x = dsl::ones<float>(3);
  dsl::array<int> i = dsl::ones<int>(3);
  dsl::iterate(10, dsl::vectorize([](auto u) { return u + 0.1f * dsl::shift(u, 1); }), dsl::state(x));
  x = dsl::vectorize([](auto v) { return v[0]; })(x);
  x = dsl::vectorize([](auto v) {
    float sum = 0;
    for (int k = 0; k < 3; ++k) sum += k * v;
    return v;
  })(x);
  i = dsl::vectorize([](auto v) { return v += 2.5; })(i);
  x = dsl::vectorize([](auto v, auto w) { return v *= w; })(x, dsl::ones<double>(3));
  x = dsl::vectorize([](auto v) { return v > 0 ? v : -v; })(x);
  dsl::iterate(10, dsl::vectorize([](auto v) { return v / dsl::norm(v); }), dsl::state(x));
}

// wanted: the expression has more dimensions than its target
// wanted: an array is made of an expression of as many dimensions
// wanted: as many targets as the right side has values
// wanted: as many targets as the right side has values
// wanted: a reduction is one value: assign it to a dsl::scalar
// wanted: the target's dtype is narrower than the expression's: use dsl::cast
// wanted: an expression has no memory to assign to
// lines: 15
#include <dsl/dsl.hpp>

#include <tuple>

int main() {
  dsl::array<float> x = dsl::ones<float>(3), y = x;
  dsl::array<float, 2> m = dsl::ones<float>(3, 3);
  x = m + 1;
  dsl::array<float> w = m + 1;
  x = dsl::vectorize([](auto v) { return std::tuple{v, -v}; })(x);
  dsl::tie(x, y) = dsl::vectorize([](auto v) { return -v; })(x);
  x = dsl::sum(x);
  x += dsl::ones<double>(3);
  (x + y) = 3;
}

// wanted: after its operand a reduction takes dsl::axis(k), dsl::keep_dims and dsl::ddof(n)
// wanted: this function takes three operands
// wanted: this function takes one operand
// wanted: dsl::shift and dsl::take read from memory: of an expression take dsl::eval(x)
// wanted: this operation is not defined for operands of these dtypes
// wanted: a loop's formula is made by dsl::vectorize
// wanted: what a loop carries follows its formula, as dsl::state(x, ...)
// wanted: a loop's formula gives as many values as there are variables in its state
// wanted: a lambda given to dsl::vectorize captures nothing: pass arrays and values as its arguments, dsl::vectorize(f)(x, a)
// wanted: a reduction has no elements to rearrange
// wanted: a reduction has no elements to rearrange
// lines: 15
#include <dsl/dsl.hpp>

int main() {
  dsl::array<float> x = dsl::ones<float>(3), y = x;
  dsl::array<float, 2> m = dsl::ones<float>(3, 3);
  x = dsl::sum(m, 1);
  x = dsl::where(x > 0, x);
  x = 2 * dsl::round(x, 2);
  x = dsl::shift(x + y, 1) - x;
  x = x % 2 + 1;
  const auto grow = [](auto v) { return v + 0.1f; };
  dsl::iterate(10, grow, dsl::state(x));
  dsl::iterate(10, dsl::vectorize(grow), x);
  dsl::iterate(10, dsl::vectorize([](auto u, auto v) { return u + v; }), dsl::state(x, y));
  const float by = 2;
  x = dsl::vectorize([by](auto v) { return by * v; })(x) + 1;
  m = dsl::flip(m - dsl::mean(m));
  x = dsl::transpose(dsl::sum(m, dsl::axis(1)));
}

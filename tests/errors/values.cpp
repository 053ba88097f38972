// wanted: an expression is not a value yet: x.value() evaluates it, copies it to the host and waits
// wanted: an expression is not a value yet: x.value() evaluates it, copies it to the host and waits
// wanted: an expression of many elements is no single value: for a condition take dsl::all(x).value() or dsl::any(x).value()
// wanted: elements are in device memory: loop over x.copy_to_host(), or write an expression
// wanted: there are more subscripts than axes
// wanted: there are more subscripts than axes
// wanted: subscripts are integers and dsl::slice
// wanted: eval takes one value: use dsl::tie for several
// lines: 15
#include <dsl/dsl.hpp>

#include <tuple>

int main() {
  dsl::array<float> x = dsl::ones<float>(3), y = x;
  float s = dsl::sum(x);
  if (dsl::sum(x) > s) return 1;
  if (x == y) return 1;
  for (float v : x) s += v;
  x(0, 1) = 3;
  y = (x + y)(0, 1);
  y(1.5) = 1;
  dsl::eval(dsl::vectorize([](auto v) { return std::tuple{v, -v}; })(x));
}

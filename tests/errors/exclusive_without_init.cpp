// wanted: an exclusive scan needs a first value: dsl::scan(op, init)
#include <dsl/scan.hpp>
void f(dsl::array<float>& x) {
  x = dsl::scan([](auto a, auto b) { return a + b; })(x, dsl::exclusive);
}

// wanted: a loop's formula gives as many values as there are variables in its state
#include <dsl/dsl.hpp>

int main() {
  auto x = dsl::zeros<float>(3), y = dsl::zeros<float>(3);
  dsl::iterate(10, dsl::vectorize([](auto x, auto y) { return x + y; }), dsl::state(x, y));
}

// wanted: until wants a scalar among the state that the step sets by a reduction
#include <dsl/dsl.hpp>

int main() {
  auto x = dsl::zeros<float>(3);
  dsl::scalar<float> limit = 1.0f;
  dsl::iterate(10, dsl::vectorize([](auto x) { return x + 1; }), dsl::state(x), dsl::until(limit < 2.0f));
}

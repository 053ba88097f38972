// wanted: a loop ends on a condition of dsl::scalar and C++ values
#include <dsl/dsl.hpp>

#include <tuple>

int main() {
  auto x = dsl::zeros<float>(3);
  dsl::scalar<float> s;
  dsl::iterate(10, dsl::vectorize([](auto x, auto) { return std::tuple{x + 1, dsl::sum(x)}; }), dsl::state(x, s),
               dsl::until(x > 2.0f));
}

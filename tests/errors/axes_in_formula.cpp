// wanted: inside a formula there are no axes
#include <dsl/dsl.hpp>

int main() {
  const auto rows = dsl::vectorize([](auto x) { return dsl::sum(x, dsl::axis(1)); });
  dsl::array<float, 2> m = dsl::zeros<float>(2, 3);
  dsl::scalar<float> s;
  dsl::tie(s) = rows(m);
}

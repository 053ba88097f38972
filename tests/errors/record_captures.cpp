// wanted: record takes a formula without captures or members
#include <dsl/dsl.hpp>

int main() {
  auto x = dsl::zeros<float>(3);
  const float scale = 2;
  dsl::iterate(10, dsl::vectorize([](auto x) { return x + 1; }), dsl::state(x),
               dsl::record([scale](auto x) { return scale * dsl::sum(x); }));
}

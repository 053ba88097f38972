// wanted: a formula cannot use its reductions for its elements
#include <dsl/dsl.hpp>

int main() {
  const auto normalised = dsl::vectorize([](auto x) { return x / dsl::sum(x); });
  dsl::array<float> a = dsl::arange<float>(3), b = normalised(a);
}

// wanted: dsl::step is the number of a loop's step
#include <dsl/dsl.hpp>

int main() {
  dsl::array<float> x = dsl::zeros<float>(3);
  x = x + 0.5f * dsl::step;
}

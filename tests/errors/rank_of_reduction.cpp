// wanted: a reduction is one value: assign it to a dsl::scalar; along axes, to an array of as many dimensions as are left
#include <dsl/dsl.hpp>

int main() {
  dsl::array<float, 2> m = dsl::zeros<float>(2, 3), rows;
  dsl::tie(rows) = dsl::sum(m, dsl::axis(1));
}

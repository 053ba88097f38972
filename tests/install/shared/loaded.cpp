// A library that is loaded while the program runs, as Python does: none of its symbols are seen by
// others.
#include <dsl/dsl.hpp>

extern "C" __attribute__((visibility("default"))) float sum_of_squares(int n) {
  const dsl::array<float> x = dsl::arange<float>(n);
  return dsl::scalar<float>(sum(x * x)).value();
}

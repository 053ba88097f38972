// A library that is loaded at run time, as Python's modules are: its symbols are hidden from
// others.
#include <dsl/dsl.hpp>

extern "C" __attribute__((visibility("default"))) float sum_of_squares(int n) {
  const dsl::array<float> x = dsl::arange<float>(n);
  return dsl::scalar<float>(sum(x * x)).value();
}

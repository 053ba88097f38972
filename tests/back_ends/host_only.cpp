// Compiled with DSL_BACK_ENDS=host.
#include "formulas.hpp"
#include "parts.hpp"

results of_host_file() {
  return {formulas::map(), formulas::sum(), formulas::scan(), formulas::loop()};
}

float of_host_file_alone() { return dsl::eval(dsl::prod(dsl::full<float>(2.0f, 10))).value(); }

void sum_and_product(dsl::scalar<float>& sum, dsl::scalar<float>& product,
                     const dsl::array<float>& x, const dsl::array<float>& y) {
  dsl::tie(sum, product) = std::tuple{dsl::sum(x), dsl::prod(y)};
}

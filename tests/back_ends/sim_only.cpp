// Compiled with DSL_BACK_ENDS=sim.
#include "formulas.hpp"
#include "parts.hpp"

results of_sim_file() {
  return {formulas::map(), formulas::sum(), formulas::scan(), formulas::loop()};
}

void sum_by_sim_file(dsl::scalar<float>& sum, const dsl::array<float>& x) { sum = dsl::sum(x); }

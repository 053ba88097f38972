// Compiled with DSL_BACK_ENDS=sim.
#include "formulas.hpp"
#include "parts.hpp"

results of_sim_file() { return {formulas::map(), formulas::sum(), formulas::scan(), formulas::loop()}; }

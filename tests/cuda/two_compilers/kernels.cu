// Compiled by nvcc.
#include "../../back_ends/formulas.hpp"

float sum_by_nvcc() {
  return formulas::map()[99] == 298 && formulas::scan()[99] == 4950 && formulas::loop() == 400
             ? formulas::sum()
             : 0;
}

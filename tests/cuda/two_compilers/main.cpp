// Compiled by g++. Formulas that kernels.cu also contains run on the GPU, although the linker keeps
// this file's inline functions.
#include "../../back_ends/formulas.hpp"

#include <cstdio>

float sum_by_nvcc();

int main() {
  bool right = formulas::map()[99] == 298 && formulas::sum() == 4950 &&
               formulas::scan()[99] == 4950 && formulas::loop() == 400 && sum_by_nvcc() == 4950;
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}

// Compiled for one GPU architecture that most GPUs do not have: the error names both architectures.
#include <dsl/dsl.hpp>

#include <cstdio>
#include <string>

int main() {
  const int capability = dsl::properties("cuda").compute_capability;
  if (capability / 10 == OTHER_ARCHITECTURE / 10)
    return std::printf("skipped: the GPU runs this program's code\n"), 77;
  dsl::array<float> x = dsl::zeros<float>(3);
  try {
    x = x + 1;
    std::printf("it ran\n");
    return 1;
  } catch (const dsl::device_error& e) {
    std::printf("%s\n", e.what());
    const std::string seen = e.what(), has = "for " + std::to_string(OTHER_ARCHITECTURE / 10) +
                                             "." + std::to_string(OTHER_ARCHITECTURE % 10);
    const std::string wanted = "compute capability " + std::to_string(capability / 10) + "." +
                               std::to_string(capability % 10);
    return seen.find(has) != seen.npos && seen.find(wanted) != seen.npos ? 0 : 1;
  }
}

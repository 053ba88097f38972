// wanted: copy_to_host() gives a std::vector: include <vector>
// lines: 15
#include <dsl/dsl.hpp>

int main() {
  dsl::array<float> x = dsl::ones<float>(3);
  (void)x.copy_to_host();
}

#include "formulas.hpp"

namespace second {

dsl::array<float> doubled(const dsl::array<float>& x) { return 2 * x + 1; }
dsl::array<float> refused(const dsl::array<float>& x) {
  return x + dsl::zeros<float>(x.size() + 1);
}

}  // namespace second

// A formula, a reduction, a scan and a loop in inline functions. Two files compile them; the linker
// keeps one copy of each function.
#pragma once

#include <dsl/dsl.hpp>
#include <dsl/scan.hpp>

#include <tuple>
#include <vector>

namespace formulas {

inline std::vector<float> map() {
  const dsl::array<float> a = dsl::arange<float>(100);
  return dsl::eval(3 * a + 1).copy_to_host();
}

inline float sum() { return dsl::eval(dsl::sum(dsl::arange<float>(100))).value(); }

inline std::vector<float> scan() {
  return dsl::eval(dsl::cumsum(dsl::arange<float>(100))).copy_to_host();
}

inline float loop() {
  dsl::array<float> x = dsl::ones<float>(100);
  dsl::scalar<float> total = 0.0f;
  dsl::iterate(3, dsl::vectorize([](auto x, auto) { return std::tuple{2 * x, dsl::sum(x)}; }),
               dsl::state(x, total));
  return total.value();
}

}  // namespace formulas

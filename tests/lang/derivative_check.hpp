// Comparisons for the tests of derivatives.
#pragma once

#include "../evaluated.hpp"
#include "boundary_reference.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <tuple>

namespace derivative_check {

using namespace std::complex_literals;
using precise = long double;
using number = std::complex<double>;

inline void expect_near(double got, double want, double within, const std::string& what) {
  if (std::isnan(want) || std::isinf(want)) {
    EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want) << what << ": " << got;
  } else {
    EXPECT_NEAR(got, want, within * (1 + std::abs(want))) << what;
  }
}
inline void expect_near(number got, number want, double within, const std::string& what) {
  expect_near(got.real(), want.real(), within, what + ", real part");
  expect_near(got.imag(), want.imag(), within, what + ", imaginary part");
}
// Compares each output with its own function of the arguments.
template <class Got, class Want, class... X>
void expect_values(const std::vector<Got>& got, const Want& want, const std::string& what,
                   const std::vector<X>&... x) {
  ASSERT_FALSE(got.empty());
  for (std::size_t i = 0; i < got.size(); ++i)
    expect_near(got[i], want(x[i]...), 1e-14, what + ", element " + std::to_string(i));
}

// ---- Formulas of elements

inline std::vector<double> random_numbers(std::int64_t n, double low, double high, unsigned seed) {
  const auto drawn = random_floats(n, static_cast<float>(low), static_cast<float>(high), seed);
  return {drawn.begin(), drawn.end()};
}

}  // namespace derivative_check

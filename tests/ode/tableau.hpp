// Reference of the tests of steps: a method evaluated from its tableau, in long double.
#pragma once

#include "../on_device.hpp"
#include "../rk4.hpp"

#include <dsl/ode.hpp>

#include <complex>
#include <utility>

struct steppers : on_device {};

using c64 = std::complex<double>;
using wide = std::complex<long double>;

// For the coupled fields.
template <const auto& Method>
std::pair<wide, wide> reference(wide F, wide G, wide d, long double h) {
  const wide i(0, 1);
  std::vector<wide> kF, kG;
  const auto sum = [&](const auto& c, const std::vector<wide>& k) {
    wide s = 0;
    for (std::size_t j = 0; j < k.size(); ++j)
      s += k[j] * static_cast<long double>(c[j].numerator) /
           static_cast<long double>(c[j].denominator);
    return h * s;
  };
  for (int s = 0; s < Method.stages; ++s) {
    const wide f = F + sum(Method.a[s], kF), g = G + sum(Method.a[s], kG);
    kF.push_back(-2.0L * i * f - i * d * (2.0L * g - 1.0L));
    kG.push_back(-i * (conj(d) * f - d * conj(f)));
  }
  return {F + sum(Method.b, kF), G + sum(Method.b, kG)};
}

template <const auto& Method, class T, class Step, class H>
void expect_reference(const Step& step, H h, double tolerance) {
  using C = std::complex<T>;
  const auto parts = random_floats(4 * 33);
  std::vector<C> F(33), G(33);
  for (std::size_t i = 0; i < 33; ++i) {
    F[i] = C(parts[4 * i], parts[4 * i + 1]);
    G[i] = C(parts[4 * i + 2], parts[4 * i + 3]);
  }
  auto dF = dsl::to_device(F), dG = dsl::to_device(G);
  const C d(T(0.75), T(-0.5));
  dsl::tie(dF, dG) = step(dF, dG, d, h);
  const auto gotF = dF.copy_to_host(), gotG = dG.copy_to_host();
  for (std::size_t i = 0; i < 33; ++i) {
    const auto [wantF, wantG] = reference<Method>(wide(F[i]), wide(G[i]), wide(d), 0.25L);
    EXPECT_LT(std::abs(wide(gotF[i]) - wantF), tolerance) << i;
    EXPECT_LT(std::abs(wide(gotG[i]) - wantG), tolerance) << i;
  }
}

// An RK4 step of the coupled fields, as a user writes it.
#pragma once

#include <complex>
#include <tuple>

#include <dsl/dsl.hpp>

using namespace std::complex_literals;
using c32 = std::complex<float>;

inline constexpr auto dF = [](auto F, auto G, auto d) { return -2i * F - 1i * d * (2 * G - 1); };
inline constexpr auto dG = [](auto F, auto d) { return -1i * (conj(d) * F - d * conj(F)); };
inline constexpr auto coupled_fields = [](auto F, auto G, auto d) {
  return std::tuple{dF(F, G, d), dG(F, d)};
};
inline constexpr auto rk4_fields = [](auto F, auto G, auto d, auto h) {
  auto F1 = dF(F, G, d), G1 = dG(F, d);
  auto F2 = dF(F + h / 2 * F1, G + h / 2 * G1, d), G2 = dG(F + h / 2 * F1, d);
  auto F3 = dF(F + h / 2 * F2, G + h / 2 * G2, d), G3 = dG(F + h / 2 * F2, d);
  auto F4 = dF(F + h * F3, G + h * G3, d), G4 = dG(F + h * F3, d);
  auto Fn = F + h / 6 * (F1 + 2 * F2 + 2 * F3 + F4);
  auto Gn = G + h / 6 * (G1 + 2 * G2 + 2 * G3 + G4);
  return std::tuple{Fn, Gn};
};

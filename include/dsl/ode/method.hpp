// Explicit Runge-Kutta methods, with the coefficients as their authors print them.
#pragma once

#include <cstdint>

#include <dsl/ir/arithmetic.hpp>

namespace dsl::ode::detail {

/// An exact fraction in lowest terms.
struct rational {
  std::int64_t numerator, denominator;

  constexpr rational(std::int64_t p = 0, std::int64_t q = 1) : numerator(p), denominator(q) {
    const std::int64_t common = dsl::detail::math::gcd(p, q);
    numerator /= common;
    denominator /= common;
  }
  constexpr double value() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }
};
constexpr rational operator+(rational a, rational b) {
  return {a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator};
}
constexpr rational operator/(rational a, rational b) {
  return {a.numerator * b.denominator, a.denominator * b.numerator};
}

/// A Butcher tableau of the given order. The stages are k[i] = f(t + c[i] h, y + h sum_j a[i][j]
/// k[j]) for j < i, where c[i] is the sum of a[i]. The step goes to y + h sum_i b[i] k[i]. For an
/// embedded pair, h sum_i error[i] k[i] is the difference of the two solutions.
template <int Stages>
struct method {
  static constexpr int stages = Stages;
  int order;
  rational a[Stages][Stages], b[Stages], error[Stages];

  constexpr rational c(int stage) const {
    rational sum;
    for (int j = 0; j < stage; ++j) sum = sum + a[stage][j];
    return sum;
  }
};

inline constexpr method<1> euler_method{1, {}, {1}, {}};

inline constexpr method<2> heun_method{2, {{}, {1}}, {{1, 2}, {1, 2}}, {}};

inline constexpr method<4> rk4_method{
    4, {{}, {{1, 2}}, {0, {1, 2}}, {0, 0, 1}}, {{1, 6}, {1, 3}, {1, 3}, {1, 6}}, {}};

// J. R. Dormand, P. J. Prince, A family of embedded Runge-Kutta formulae, J. Comp. Appl. Math. 6
// (1980), RK5(4)7M. The last stage is at the step's result and serves the error alone.
inline constexpr method<7> dopri5_method{
    5,
    {{},
     {{1, 5}},
     {{3, 40}, {9, 40}},
     {{44, 45}, {-56, 15}, {32, 9}},
     {{19372, 6561}, {-25360, 2187}, {64448, 6561}, {-212, 729}},
     {{9017, 3168}, {-355, 33}, {46732, 5247}, {49, 176}, {-5103, 18656}},
     {{35, 384}, 0, {500, 1113}, {125, 192}, {-2187, 6784}, {11, 84}}},
    {{35, 384}, 0, {500, 1113}, {125, 192}, {-2187, 6784}, {11, 84}},
    {{71, 57600}, 0, {-71, 16695}, {71, 1920}, {-17253, 339200}, {22, 525}, {-1, 40}}};

// E. Fehlberg, Classical fifth-, sixth-, seventh-, and eighth-order Runge-Kutta formulas with
// stepsize control, NASA TR R-287 (1968), table X, with the weights of order 8. The eleventh stage
// serves the solution of order 7 alone, so it generates no code.
inline constexpr method<13> fehlberg8_method{
    8,
    {{},
     {{2, 27}},
     {{1, 36}, {1, 12}},
     {{1, 24}, 0, {1, 8}},
     {{5, 12}, 0, {-25, 16}, {25, 16}},
     {{1, 20}, 0, 0, {1, 4}, {1, 5}},
     {{-25, 108}, 0, 0, {125, 108}, {-65, 27}, {125, 54}},
     {{31, 300}, 0, 0, 0, {61, 225}, {-2, 9}, {13, 900}},
     {2, 0, 0, {-53, 6}, {704, 45}, {-107, 9}, {67, 90}, 3},
     {{-91, 108}, 0, 0, {23, 108}, {-976, 135}, {311, 54}, {-19, 60}, {17, 6}, {-1, 12}},
     {{2383, 4100},
      0,
      0,
      {-341, 164},
      {4496, 1025},
      {-301, 82},
      {2133, 4100},
      {45, 82},
      {45, 164},
      {18, 41}},
     {{3, 205}, 0, 0, 0, 0, {-6, 41}, {-3, 205}, {-3, 41}, {3, 41}, {6, 41}},
     {{-1777, 4100},
      0,
      0,
      {-341, 164},
      {4496, 1025},
      {-289, 82},
      {2193, 4100},
      {51, 82},
      {33, 164},
      {12, 41},
      0,
      1}},
    {0, 0, 0, 0, 0, {34, 105}, {9, 35}, {9, 35}, {9, 280}, {9, 280}, 0, {41, 840}, {41, 840}},
    {}};

}  // namespace dsl::ode::detail

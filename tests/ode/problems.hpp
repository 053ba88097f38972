// Differential equations with known solutions, for tests and benchmarks of ensembles.
#pragma once

#include <dsl/ode.hpp>

#include <array>
#include <cmath>
#include <numbers>
#include <tuple>
#include <vector>

namespace problems {

using std::numbers::pi;

#include "../data/ensembles.inc"

inline constexpr auto lorenz = [](auto x, auto y, auto z, auto rho) {
  return std::tuple{10 * (y - x), x * (rho - z) - y, x * y - 8.0 / 3 * z};
};

// x - 3 log x + y - 3/2 log y stays the same, and the solution is periodic.
inline constexpr auto lotka_volterra = [](auto x, auto y) {
  return std::tuple{x * (1.5 - y), y * (x - 3)};
};

// A pendulum without friction: its angle and speed.
inline constexpr auto pendulum = [](auto angle, auto speed) {
  return std::tuple{speed, -sin(angle)};
};
/// The period of a pendulum that is released at an angle: 2 pi over the arithmetic-geometric mean
/// of 1 and the cosine of half the angle.
inline double period_of_pendulum(double amplitude) {
  double mean = 1, other = std::cos(amplitude / 2);
  while (mean - other > 1e-15) {
    const double sum = mean + other;
    other = std::sqrt(mean * other);
    mean = sum / 2;
  }
  return 2 * pi / mean;
}

// A ball that jumps: its height and speed, and a jump.
inline constexpr double gravity = 9.81;
inline constexpr auto ball = [](auto height, auto speed) {
  return std::tuple{speed, 0 * height - gravity};
};
inline constexpr auto jump = [](auto height, auto speed) {
  return std::tuple{0 * height, -0.9 * speed};
};
/// The height at t of a ball that falls from a height at 0.
inline double height_of_ball(double height, double t) {
  double speed = 0;
  for (;;) {
    const double lands = (speed + std::sqrt(speed * speed + 2 * gravity * height)) / gravity;
    if (lands > t) return height + (speed - gravity * t / 2) * t;
    t -= lands;
    speed = -0.9 * (speed - gravity * lands);
    height = 0;
  }
}

// The formula and the parameters of MPGOS (F. Hegedus), tutorial "Quasiperiodic forcing": Keller's
// and Miksis's equation without units.
inline constexpr auto keller_miksis =
    dsl::ode::with_time([](auto t, auto r, auto v, auto c0, auto c1, auto c2, auto c3, auto c4,
                           auto c5, auto c6, auto c7, auto c8, auto c9, auto ratio) {
      const auto first = 2 * pi * t;
      const auto second = 2 * pi * ratio * t;
      const auto over = 1 / r, mach = c9 * v;
      const auto above = (c0 + c1 * v) * pow(over, 4.2) - c2 * (1 + mach) - c3 * over -
                         c4 * v * over - 1.5 * (1 - mach / 3) * v * v -
                         (c5 * sin(first) + c6 * sin(second)) * (1 + mach) -
                         r * (c7 * cos(first) + c8 * cos(second));
      return std::tuple{v, above / (r - mach * r + c4 * c9)};
    });
/// The coefficients c0, c1, ..., c9 and the ratio of the frequencies, for each of `bubbles`.
inline std::array<std::vector<double>, 11> bubble_coefficients() {
  constexpr double density = 9.970639504998557e2, surface = 0.071977583160056,
                   viscosity = 8.902125058209557e-4, sound = 1.497251785455527e3,
                   vapour = 3.166775638952003e3, ambient = 1e5, rest = 1e-5;
  std::array<std::vector<double>, 11> c;
  for (const auto& [amplitude1, amplitude2, kilohertz1, kilohertz2, y1, y2, count, t1, t2] :
       bubbles) {
    const double w1 = 2000 * pi * kilohertz1, w2 = 2000 * pi * kilohertz2,
                 unit = 2 * pi / (rest * w1), gas = 2 * surface / rest + ambient - vapour,
                 p1 = 1e5 * amplitude1, p2 = 1e5 * amplitude2, squared = unit * unit / density;
    const double all[] = {gas * squared,
                          -3.2 * gas * unit / (sound * density),
                          (ambient - vapour) * squared,
                          2 * surface / rest * squared,
                          4 * viscosity / (density * rest * rest) * 2 * pi / w1,
                          p1 * squared,
                          p2 * squared,
                          rest * w1 * p1 / sound * squared,
                          rest * w2 * p2 / sound * squared,
                          rest * w1 / (2 * pi * sound),
                          w2 / w1};
    for (std::size_t k = 0; k < std::size(all); ++k) c[k].push_back(all[k]);
  }
  return c;
}

// C. Hos, A. R. Champneys, Physica D 241, 2012, with the parameters of MPGOS's tutorial "Impact
// dynamics": a valve's position, speed and pressure.
inline constexpr auto valve = [](auto y1, auto y2, auto y3, auto flow) {
  return std::tuple{y2, -1.25 * y2 - (y1 + 10) + y3, 20 * (flow - y1 * sqrt(y3))};
};

inline constexpr auto valve_impact = [](auto y1, auto y2, auto y3, auto) {
  return std::tuple{y1, -0.8 * y2, y3};
};

// Stiff problems of E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, and of the
// Test Set for IVP Solvers, whose solutions at `end` are published. `scale`: the absolute
// tolerance over the relative one, as the smallest values need it.
struct robertson {
  static constexpr auto f = [](auto a, auto b, auto c) {
    return std::tuple{-0.04 * a + 1e4 * b * c, 0.04 * a - 1e4 * b * c - 3e7 * b * b, 3e7 * b * b};
  };
  static constexpr double end = 1e11, scale = 1e-11;
  static constexpr std::array<double, 3> begin{1, 0, 0},
      values{0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050};
};
struct van_der_pol {
  static constexpr auto f = [](auto u, auto v) {
    return std::tuple{v, ((1 - u * u) * v - u) * 1e6};
  };
  static constexpr double end = 2, scale = 0.1;
  static constexpr std::array<double, 2> begin{2, 0},
      values{0.1706167732170483e1, -0.8928097010247975};
};
struct orego {
  static constexpr auto f = [](auto a, auto b, auto c) {
    return std::tuple{77.27 * (b + a * (1 - 8.375e-6 * a - b)), (c - (1 + a) * b) / 77.27,
                      0.161 * (a - c)};
  };
  static constexpr double end = 360, scale = 0.1;
  static constexpr std::array<double, 3> begin{1, 2, 3},
      values{0.1000814870318523e1, 0.1228178521549917e4, 0.1320554942846706e3};
};
struct hires {
  static constexpr auto f = [](auto a, auto b, auto c, auto d, auto e, auto f, auto g, auto h) {
    const auto fh = 280 * f * h;
    return std::tuple{-1.71 * a + 0.43 * b + 8.32 * c + 0.0007,
                      1.71 * a - 8.75 * b,
                      -10.03 * c + 0.43 * d + 0.035 * e,
                      8.32 * b + 1.71 * c - 1.12 * d,
                      -1.745 * e + 0.43 * f + 0.43 * g,
                      -fh + 0.69 * d + 1.71 * e - 0.43 * f + 0.69 * g,
                      fh - 1.81 * g,
                      -fh + 1.81 * g};
  };
  static constexpr double end = 321.8122, scale = 1e-3;
  static constexpr std::array<double, 8> begin{1, 0, 0, 0, 0, 0, 0, 0.0057},
      values{0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4,
             0.1175651343283149e-2, 0.2386356198831331e-2, 0.6238968252742796e-2,
             0.2849998395185769e-2, 0.2850001604814231e-2};
};
// 20 fields and 25 reactions. The values: pollu.f, revision 1.2, by RADAU5 in a higher precision.
struct pollution {
  static constexpr auto f = [](auto y1, auto y2, auto y3, auto y4, auto y5, auto y6, auto y7, auto,
                               auto y9, auto y10, auto y11, auto, auto y13, auto y14, auto,
                               auto y16, auto y17, auto, auto y19, auto y20) {
    const auto r1 = 0.35 * y1, r2 = 26.6 * y2 * y4, r3 = 1.23e4 * y5 * y2, r4 = 0.86e-3 * y7,
               r5 = 0.82e-3 * y7, r6 = 1.5e4 * y7 * y6, r7 = 0.13e-3 * y9, r8 = 2.4e4 * y9 * y6,
               r9 = 1.65e4 * y11 * y2, r10 = 0.9e4 * y11 * y1, r11 = 0.022 * y13,
               r12 = 1.2e4 * y10 * y2, r13 = 1.88 * y14, r14 = 1.63e4 * y1 * y6, r15 = 4.8e6 * y3,
               r16 = 0.35e-3 * y4, r17 = 0.0175 * y4, r18 = 1e8 * y16, r19 = 4.44e11 * y16,
               r20 = 1240 * y17 * y6, r21 = 2.1 * y19, r22 = 5.78 * y19, r23 = 0.0474 * y1 * y4,
               r24 = 1780 * y19 * y1, r25 = 3.12 * y20;
    return std::tuple{-r1 - r10 - r14 - r23 - r24 + r2 + r3 + r9 + r11 + r12 + r22 + r25,
                      -r2 - r3 - r9 - r12 + r1 + r21,
                      -r15 + r1 + r17 + r19 + r22,
                      -r2 - r16 - r17 - r23 + r15,
                      -r3 + 2 * r4 + r6 + r7 + r13 + r20,
                      -r6 - r8 - r14 - r20 + r3 + 2 * r18,
                      -r4 - r5 - r6 + r13,
                      r4 + r5 + r6 + r7,
                      -r7 - r8,
                      -r12 + r7 + r9,
                      -r9 - r10 + r8 + r11,
                      r9,
                      -r11 + r10,
                      -r13 + r12,
                      r14,
                      -r18 - r19 + r16,
                      -r20,
                      r20,
                      -r21 - r22 - r24 + r23 + r25,
                      -r25 + r24};
  };
  static constexpr double end = 60, scale = 1e-14;
  static constexpr std::array<double, 20> begin{0, 0.2, 0, 0.04, 0, 0, 0.1,   0.3, 0.01, 0,
                                                0, 0,   0, 0,    0, 0, 0.007, 0,   0,    0},
      values{0.5646255480022769e-1,  0.1342484130422339,    0.4139734331099427e-8,
             0.5523140207484359e-2,  0.2018977262302196e-6, 0.1464541863493966e-6,
             0.7784249118997964e-1,  0.3245075353396018,    0.7494013383880406e-2,
             0.1622293157301561e-7,  0.1135863833257075e-7, 0.2230505975721359e-2,
             0.2087162882798630e-3,  0.1396921016840158e-4, 0.8964884856898295e-2,
             0.4352846369330103e-17, 0.6899219696263405e-2, 0.1007803037365946e-3,
             0.1772146513969984e-5,  0.5682943292316392e-4};
};

}  // namespace problems

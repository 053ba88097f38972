// A stiff ensemble of the most fields: the pollution problem of the Test Set for IVP Solvers (E.
// Hairer, G. Wanner, Solving Ordinary Differential Equations II), 20 fields and 25 reactions.
#include "one_device.hpp"

#include <dsl/ode.hpp>

#include <cmath>

namespace {

struct pollution_problem : on_one_device {};
ON_EVERY_DEVICE(pollution_problem);

constexpr auto pollution = [](auto y1, auto y2, auto y3, auto y4, auto y5, auto y6, auto y7, auto,
                              auto y9, auto y10, auto y11, auto, auto y13, auto y14, auto, auto y16,
                              auto y17, auto, auto y19, auto y20) {
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

template <class Method, std::size_t... I>
void expect_pollution(const Method& method, std::index_sequence<I...>) {
  // The test set's: pollu.f, revision 1.2, by RADAU5 in a higher precision.
  const std::vector<double> y0{0, 0.2, 0, 0.04, 0, 0, 0.1,   0.3, 0.01, 0,
                               0, 0,   0, 0,    0, 0, 0.007, 0,   0,    0},
      wanted{0.5646255480022769e-1,  0.1342484130422339,    0.4139734331099427e-8,
             0.5523140207484359e-2,  0.2018977262302196e-6, 0.1464541863493966e-6,
             0.7784249118997964e-1,  0.3245075353396018,    0.7494013383880406e-2,
             0.1622293157301561e-7,  0.1135863833257075e-7, 0.2230505975721359e-2,
             0.2087162882798630e-3,  0.1396921016840158e-4, 0.8964884856898295e-2,
             0.4352846369330103e-17, 0.6899219696263405e-2, 0.1007803037365946e-3,
             0.1772146513969984e-5,  0.5682943292316392e-4};
  std::tuple y{dsl::array<double>(dsl::full<double>(y0[I], 3))...};
  const auto got =
      dsl::ode::ensemble(pollution, dsl::state(std::get<I>(y)...), 0.0, 60.0,
                         {.relative = 1e-6, .absolute = 1e-20, .most_steps = 5000}, method);
  EXPECT_TRUE(dsl::all(got.outcome == dsl::ode::outcome::reached).value());
  const std::vector<double> found{std::get<I>(y).copy_to_host()[2]...};
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], wanted[i], 2e-6 * wanted[i]) << "component " << i;
}
TEST_P(pollution_problem, has_the_published_solution_by_rosenbrock23) {
  expect_pollution(dsl::ode::method::rosenbrock23, std::make_index_sequence<20>{});
}
// A step has 4,912 values.
TEST_P(pollution_problem, has_the_published_solution_by_rodas5p) {
  expect_pollution(dsl::ode::method::rodas5p, std::make_index_sequence<20>{});
}

}  // namespace

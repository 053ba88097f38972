// Values of more methods' steps.
#include "tableau.hpp"

namespace {

TEST_P(steppers, more_values_of_double_fields) {
  expect_reference<dsl::ode::detail::rk4_method, double>(dsl::ode::rk4(coupled_fields), 0.25,
                                                         2e-15);
  expect_reference<dsl::ode::detail::dopri5_method, double>(dsl::ode::dopri5(coupled_fields), 0.25,
                                                            2e-15);
}
TEST_P(steppers, more_values_of_float_fields_stay_float_whatever_h_is) {
  expect_reference<dsl::ode::detail::dopri5_method, float>(dsl::ode::dopri5(coupled_fields), 0.25,
                                                           1e-6);
  expect_reference<dsl::ode::detail::dopri5_method, float>(dsl::ode::dopri5(coupled_fields),
                                                           dsl::scalar<double>(0.25), 1e-6);
}

struct named_step;
TEST_P(steppers, feed_reductions_back) {
  const auto step =
      dsl::ode::rk4<named_step>(coupled_fields, [](auto F, auto) { return dsl::sum(F); });
  const std::int64_t n = 777;
  dsl::array<c32> F = dsl::full<c32>(c32(0.01f, 0.02f), n), G = dsl::full<c32>(c32(0.5f), n),
                  F2 = F, G2 = G;
  dsl::scalar<c32> delta = dsl::sum(F), delta2 = delta;
  const auto history = dsl::iterate(3, step, dsl::state(F, G, delta), 1e-3).copy_to_host();
  const auto alone = dsl::ode::rk4(coupled_fields);
  for (std::size_t k = 0; k < 3; ++k) {
    dsl::tie(F2, G2) = alone(F2, G2, delta2, 1e-3);
    delta2 = dsl::sum(F2);
    EXPECT_NEAR(std::abs(delta2.value() - history[k]), 0, 1e-6 * std::abs(history[k])) << k;
  }
  EXPECT_EQ(delta.value(), history[2]);
}

}  // namespace

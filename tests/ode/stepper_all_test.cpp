// Values of more methods' steps.
#include "tableau.hpp"

namespace {

TEST_P(steppers, more_values_of_double_fields) {
  expect_reference<dsl::ode::detail::rk4_method, double>(dsl::ode::rk4(coupled_fields), 0.25, 2e-15);
  expect_reference<dsl::ode::detail::dopri5_method, double>(dsl::ode::dopri5(coupled_fields), 0.25, 2e-15);
}
TEST_P(steppers, more_values_of_float_fields_stay_float_whatever_h_is) {
  expect_reference<dsl::ode::detail::dopri5_method, float>(dsl::ode::dopri5(coupled_fields), 0.25, 1e-6);
  expect_reference<dsl::ode::detail::dopri5_method, float>(dsl::ode::dopri5(coupled_fields), dsl::scalar<double>(0.25), 1e-6);
}

}  // namespace

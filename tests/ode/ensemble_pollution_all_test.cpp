// A stiff ensemble of the most fields: the pollution problem of the Test Set for IVP Solvers (E.
// Hairer, G. Wanner, Solving Ordinary Differential Equations II), 20 fields and 25 reactions.
#include "one_device.hpp"
#include "problems.hpp"

#include <dsl/ode.hpp>

#include <cmath>

namespace {

using problem = problems::pollution;

struct pollution_problem : on_one_device {};
ON_EVERY_DEVICE(pollution_problem);

template <class Method, std::size_t... I>
void expect_pollution(const Method& method, std::index_sequence<I...>) {
  std::tuple y{dsl::array<double>(dsl::full<double>(problem::begin[I], 3))...};
  const auto got = dsl::ode::ensemble(
      problem::f, dsl::state(std::get<I>(y)...), 0.0, problem::end,
      {.relative = 1e-6, .absolute = 1e-6 * problem::scale, .most_steps = 5000}, method);
  EXPECT_TRUE(dsl::all(got.outcome == dsl::ode::outcome::reached).value());
  const std::vector<double> found{std::get<I>(y).copy_to_host()[2]...};
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], problem::values[i], 2e-6 * problem::values[i]) << "component " << i;
}
TEST_P(pollution_problem, has_the_published_solution_by_rosenbrock23) {
  expect_pollution(dsl::ode::method::rosenbrock23, std::make_index_sequence<20>{});
}
// A step has 4,912 values.
TEST_P(pollution_problem, has_the_published_solution_by_rodas5p) {
  expect_pollution(dsl::ode::method::rodas5p, std::make_index_sequence<20>{});
}

}  // namespace

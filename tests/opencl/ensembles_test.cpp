// Ensembles on an OpenCL device against the host; the language's own tests run there too.
#include <dsl/ode.hpp>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "on_opencl.hpp"

namespace {

struct opencl_ensemble : on_opencl { static constexpr std::int64_t n = 70; };

// Elements that take different numbers of steps, with rows saved on the way.
TEST_F(opencl_ensemble, has_its_own_steps_and_rows) {
  const auto run = [](dsl::device where) {
    const dsl::device_guard on(where);
    const dsl::array<double> rate = dsl::linspace(0.1, 20.0, n), times = dsl::linspace(0.0, 1.0, 5);
    dsl::array<double> x = dsl::ones<double>(n);
    const auto made =
        dsl::ode::ensemble([](auto v, auto r) { return -r * v; }, dsl::state(x), 0.0, 1.0,
                           {.relative = 1e-9, .absolute = 1e-12}, rate, dsl::ode::save_at(times));
    return std::pair{made.saved<0>().copy_to_host(), made.steps.copy_to_host()};
  };
  const auto [rows, steps] = run(dsl::device::current());
  const auto [host_rows, host_steps] = run(dsl::device("host"));
  ASSERT_EQ(rows.size(), 5u * n);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double rate = 0.1 + 19.9 * static_cast<double>(i % n) / (n - 1),
                 exact = std::exp(-rate * 0.25 * static_cast<double>(i / n));
    ASSERT_NEAR(rows[i], exact, 1e-7) << i;
    ASSERT_NEAR(rows[i], host_rows[i], 1e-9) << i;
  }
  EXPECT_LT(steps.front(), steps.back());
  EXPECT_NEAR(static_cast<double>(steps.back()), static_cast<double>(host_steps.back()), 1);
}

}  // namespace

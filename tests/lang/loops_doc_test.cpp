// The examples of docs/loops.md do what is said of them.
#include "../on_device.hpp"
#include "../scratch_folder.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <iostream>
#include <sstream>
#include <tuple>

namespace {

using namespace std::complex_literals;
using c64 = std::complex<double>;

#include <docs/loops/time-loops.inc>

/// The page's oscillators, and the same ones computed by the standard library's functions.
struct loops_doc : on_device {
  static constexpr std::int64_t n = 300;
  dsl::array<double> phase, rate;
  std::vector<double> phases, rates;
  c64 mean = 0;

  void SetUp() override {
    on_device::SetUp();
    if (IsSkipped()) return;
    for (int i = 0; i < n; ++i) {
      phases.push_back(0.02 * i);
      rates.push_back(0.5 * std::sin(i));
      mean += std::polar(1.0 / n, phases.back());
    }
    phase = dsl::to_device(phases);
    rate = dsl::to_device(rates);
  }
  /// One step of the loop in C++; returns the new mean.
  c64 expected_step(double pull, double h = 0.01) {
    c64 sum = 0;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      phases[i] += h * (rates[i] + pull * (mean * std::polar(1.0, -phases[i])).imag());
      sum += std::polar(1.0, phases[i]);
    }
    return mean = sum / static_cast<double>(n);
  }
  dsl::scalar<c64> first_mean() const { return dsl::mean(exp(1i * phase)); }
};
ON_EVERY_DEVICE(loops_doc);

TEST_P(loops_doc, beginning) {
#include <docs/loops/time-loops-2.inc>
  const auto got = history.copy_to_host();
  for (std::size_t k = 0; k < 1000; ++k)
    ASSERT_LT(std::abs(got[k] - expected_step(2.0)), 1e-10) << k;
  EXPECT_EQ(z.value(), got.back());
  const auto last = phase.copy_to_host();
  for (std::size_t i = 0; i < last.size(); ++i) ASSERT_NEAR(last[i], phases[i], 1e-10) << i;
}

TEST_P(loops_doc, the_number_of_the_step) {
  auto x = dsl::to_device(std::vector<double>{0, 1, -2}), v = dsl::zeros<double>(3);
#include <docs/loops/state-and-parameters.inc>
  const auto got = x.copy_to_host();
  for (std::size_t i = 0; i < 3; ++i) {
    double xi = i == 0 ? 0 : i == 1 ? 1 : -2, vi = 0;
    for (int k = 0; k < 1000; ++k) {
      vi += 0.01 * (std::cos(0.01 * k) - xi);
      xi += 0.01 * vi;
    }
    EXPECT_NEAR(got[i], xi, 1e-11);
  }
}

TEST_P(loops_doc, histories) {
  auto z = first_mean();
#include <docs/loops/histories.inc>
  const auto z_got = means.copy_to_host();
  const auto abs_got = coherence.copy_to_host(), least = lowest.copy_to_host(),
             rows = samples.copy_to_host();
  ASSERT_EQ(z_got.size(), 100u);
  EXPECT_EQ(samples.extents(), (dsl::extents<2>{100, 3}));
  for (std::size_t k = 0; k < 100; ++k) {
    for (int i = 0; i < 10; ++i) expected_step(2.0);
    ASSERT_LT(std::abs(z_got[k] - mean), 1e-10) << k;
    ASSERT_NEAR(abs_got[k], std::abs(mean), 1e-10) << k;
    ASSERT_NEAR(least[k], *std::min_element(phases.begin(), phases.end()), 1e-10) << k;
    for (std::size_t i = 0; i < 3; ++i) ASSERT_NEAR(rows[3 * k + i], phases[100 * i], 1e-10) << k;
  }
}

TEST_P(loops_doc, an_end) {
  auto z = first_mean();
#include <docs/loops/an-end.inc>
  std::int64_t steps = 1;
  while (std::abs(expected_step(2.0)) <= 0.9) ++steps;
  ASSERT_GT(steps, 10);
  ASSERT_EQ(ran.value(), steps);
  EXPECT_LT(std::abs(z.value() - mean), 1e-10);
  EXPECT_EQ(until_then(-1).value(), z.value());
  EXPECT_EQ(means(steps).value(), 0.0);
  EXPECT_NEAR(phase(7).value(), phases[7], 1e-10);
}

TEST_P(loops_doc, strategies) {
  auto z = first_mean();
  std::ostringstream out;
  std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
#include <docs/loops/strategies.inc>
  std::cout.rdbuf(before);
  const bool by_launches = !has_grid();
  EXPECT_EQ(plan.loop, by_launches ? dsl::strategy::launches : dsl::strategy::one_block);
  EXPECT_NE(out.str().find(by_launches ? "a launch a step" : "one block"), std::string::npos)
      << out.str();
  for (int k = 0; k < 1000; ++k) expected_step(2.0);
  if (by_launches)
    EXPECT_THROW(
        dsl::iterate(1, step, dsl::state(phase, z), rate, 2.0, 0.01, dsl::strategy::cooperative),
        dsl::device_error);
  else EXPECT_LT(std::abs(z.value() - mean), 1e-10);
}

TEST_P(loops_doc, long_runs) {
  auto z = first_mean(), whole_z = first_mean();
  dsl::array<double> whole = phase;
  const auto all =
      dsl::iterate(3000, step, dsl::state(whole, whole_z), rate, 0.5 + 1e-3 * dsl::step, 0.01)
          .copy_to_host();
  const auto start = phase.copy_to_host();
  bool interrupted = true;  // stops the loop after its first launches
#include <docs/loops/long-runs.inc>
  EXPECT_GT(done, 0);
  auto parts = first.copy_to_host();
  EXPECT_EQ(static_cast<std::int64_t>(parts.size()), done);
  for (const c64 each : rest.copy_to_host()) parts.push_back(each);
  EXPECT_EQ(parts, all);
  EXPECT_EQ(phase.copy_to_host(), whole.copy_to_host());
  for (int k = 0; k < 3000; ++k) expected_step(0.5 + 1e-3 * k);
  EXPECT_LT(std::abs(all.back() - mean), 1e-9);

  phase = dsl::to_device(start);
  z = dsl::mean(exp(1i * phase));
  const current_scratch_folder folder;
  const auto go_on = [&] {
#include <docs/loops/long-runs-2.inc>
    return at;
  };
  // A run that ended after its first checkpoint.
  dsl::iterate(1000, step, dsl::state(phase, z), rate, 0.5 + 1e-3 * dsl::step, 0.01);
  dsl::save_checkpoint("run", 1000, phase, z);
  phase = 0.0;
  z = c64(0);
  EXPECT_EQ(go_on(), 3000);
  EXPECT_EQ(z.value(), all.back());
  EXPECT_EQ(phase.copy_to_host(), whole.copy_to_host());
}

// The rows of the page's table of what is refused.
TEST_P(loops_doc, what_does_not_work) {
  const auto add = dsl::vectorize([](auto u, auto w) { return u + w; });
  auto u = dsl::to_device(std::vector<double>{1, 2, 3, 4});
  EXPECT_THROW(dsl::iterate(1, add, dsl::state(u), dsl::shift(u, 1)), dsl::shape_error);
  EXPECT_THROW(dsl::iterate(1, add, dsl::state(u), dsl::flip(u)), dsl::shape_error);
  auto m = dsl::zeros<double>(3, 4);
  const auto row = dsl::to_device(std::vector<double>{1, 2, 3, 4});
  EXPECT_EQ(dsl::plan_of(add, dsl::state(m), row).loop, dsl::strategy::launches);
  const bool is_opencl = dsl::device::current().kind == dsl::backend::opencl;
  EXPECT_EQ(dsl::plan_of(add, dsl::state(m), dsl::eval(dsl::broadcast_to(row, 3, 4))).loop,
            is_opencl ? dsl::strategy::launches : dsl::strategy::elementwise);
  dsl::iterate(3, add, dsl::state(m), dsl::eval(dsl::sum(row)));
  EXPECT_EQ(m(2, 3), 30.0);
  EXPECT_EQ(dsl::plan_of(add, dsl::state(u), u).loop, dsl::strategy::launches);
  dsl::iterate(2, add, dsl::state(u), u);
  EXPECT_EQ(u.copy_to_host(), (std::vector<double>{4, 8, 12, 16}));
  const auto clock = dsl::vectorize([](auto u, auto t) { return std::tuple{u + t, t + 0.5}; });
  dsl::scalar<double> t = 0.0;
  EXPECT_THROW(dsl::iterate(1, clock, dsl::state(u, t)), dsl::shape_error);
}

TEST_P(loops_doc, neighbours) {
  std::vector<double> want(64, 0.0), next(64);
  want[5] = 1;
  auto u = dsl::to_device(want);
#include <docs/loops/what-does-not-work-and-what-to-do.inc>
  for (int k = 0; k < 100; ++k) {
    for (std::size_t i = 0; i < 64; ++i)
      next[i] = want[i] + 0.1 * (want[(i + 63) % 64] - 2 * want[i] + want[(i + 1) % 64]);
    want.swap(next);
  }
  const auto got = u.copy_to_host();
  for (std::size_t i = 0; i < 64; ++i) EXPECT_NEAR(got[i], want[i], 1e-14) << i;
}

TEST_P(loops_doc, steps_on_whole_arrays) {
  dsl::array<double, 2> matrix = dsl::cast<double>(dsl::index(0, 5, 5) + 3 * dsl::index(1, 5, 5));
#include <docs/loops/steps-on-whole-arrays.inc>
  // The difference halves in each step.
  const auto got = matrix.copy_to_host();
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j)
      EXPECT_NEAR(got[static_cast<std::size_t>(5 * i + j)], 2 * (i + j), 1e-11);
}

}  // namespace

// Plans, and the accesses that the simulator reports.
#include <dsl/scan.hpp>

#include "../on_device.hpp"
#include "many_operands.hpp"

namespace {

struct plan : on_device {};
ON_EVERY_DEVICE(plan);

TEST_P(plan, covers_every_element) {
  if (!has_grid()) GTEST_SKIP() << "this device has no grid";
  for (const std::int64_t n : sizes()) {
    const auto a = dsl::ones<float>(n);
    dsl::array<float> out(n);
    const dsl::plan p = dsl::plan_of(out, exp(a) + a);
    EXPECT_EQ(p.lanes, 4);
    EXPECT_GE(p.grid * p.block * p.lanes, n);
    EXPECT_LT((p.grid - 1) * p.block * p.lanes, n > 0 ? n : 1);
    EXPECT_STREQ(p.path, "linear");
  }
}

TEST_P(plan, can_be_overridden) {
  if (!has_grid()) GTEST_SKIP() << "this device has no grid";
  const auto a = dsl::ones<float>(1000);
  dsl::array<float> out(1000);
  EXPECT_EQ(dsl::plan_of(out, a + 1, {.block = 512}).block, 512);
  dsl::assign(out, a + 1, {.block = 96});
  EXPECT_EQ(out.copy_to_host(), std::vector<float>(1000, 2.0f));
  EXPECT_THROW(dsl::assign(out, a + 2, {.block = 100}), dsl::device_error);
  EXPECT_EQ(out.copy_to_host(), std::vector<float>(1000, 2.0f));
  // The number of threads that reduce is halved until it is a power of two.
  dsl::scalar<float> total = 0.0f;
  EXPECT_THROW(dsl::assign(total, dsl::sum(a), {.block = 96}), dsl::device_error);
  dsl::assign(total, dsl::sum(a), {.block = 64});
  EXPECT_EQ(total.value(), 1000);
  // A given block size is used or refused.
  const auto many = dsl::ones<float>(100'000);
  EXPECT_EQ(dsl::plan_of(total, dsl::sum(many), {.block = 64, .grid = 2}).grid, 2);
  dsl::assign(total, dsl::sum(many), {.block = 64, .grid = 2});
  EXPECT_EQ(total.value(), 100'000);
  EXPECT_THROW(dsl::assign(out, a + 3, {.block = 64, .grid = 2}), dsl::device_error);
  EXPECT_THROW(dsl::assign(total, dsl::sum(a), {.grid = -5}), dsl::device_error);
  EXPECT_EQ(out.copy_to_host(), std::vector<float>(1000, 2.0f));
  const dsl::array<float, 2> m = dsl::reshape(a, 10, 100);
  dsl::array<float> sums(10);
  EXPECT_LE(dsl::plan_of(sums, dsl::sum(m, dsl::axis(1)), {.grid = 10}).grid, 10);
  dsl::assign(sums, dsl::sum(m, dsl::axis(1)), {.grid = 10});
  EXPECT_EQ(sums.copy_to_host(), std::vector<float>(10, 100.0f));
}

// A name may have its own policies: numbers compiled into kernels, and numbers used to plan a
// launch.
struct by_twos {
  struct policy : dsl::default_policy {
    static constexpr dsl::map_policy map(const dsl::formula_traits& f, int compute_capability) {
      dsl::map_policy p = default_policy::map(f, compute_capability);
      p.lanes = 2;
      p.block = 128;
      return p;
    }
    static constexpr dsl::reduction_policy reduction(const dsl::formula_traits& f,
                                                     int compute_capability) {
      dsl::reduction_policy p = default_policy::reduction(f, compute_capability);
      p.vectors_ahead = 2;
      p.occupancy = 25;
      return p;
    }
    static constexpr dsl::loop_policy loop(const dsl::formula_traits& f, int compute_capability) {
      dsl::loop_policy p = default_policy::loop(f, compute_capability);
      p.block = 64;
      p.vectors_held = 1;
      return p;
    }
  };
};

// Sums that accompany stores are finished by a second launch wherever blocks would otherwise stay
// resident.
struct joined_apart {
  struct policy : dsl::default_policy {
    static constexpr dsl::reduction_policy reduction(const dsl::formula_traits& f,
                                                     int compute_capability) {
      dsl::reduction_policy p = default_policy::reduction(f, compute_capability);
      p.finish_apart_from = 0;
      return p;
    }
  };
};

// Kernels that run once may be compiled for the general layout alone.
struct of_any_layout {
  struct policy : dsl::default_policy {
    static constexpr dsl::map_policy map(const dsl::formula_traits& f, int compute_capability) {
      dsl::map_policy p = default_policy::map(f, compute_capability);
      p.has_linear = false;
      return p;
    }
  };
};

TEST_P(plan, without_a_kernel_for_contiguous_arrays_the_other_one_runs) {
  const auto half = dsl::vectorize<of_any_layout>([](auto x) { return x / 2; });
  for (const std::int64_t n : {0, 1, 63, 100'001}) {
    const dsl::array<float> x = dsl::cast<float>(dsl::arange<std::int64_t>(n));
    dsl::array<float> got(n), want(n);
    got = half(x);
    want = x / 2;
    EXPECT_EQ(got.copy_to_host(), want.copy_to_host());
    if (n == 0 || !has_grid()) continue;
    EXPECT_STREQ(dsl::plan_of(got, half(x)).path, "strided");
  }
}

TEST_P(plan, goes_by_the_policy_of_a_name) {
  const auto step = [](auto x, auto) { return std::tuple{x / 2 + 1, dsl::sum(x)}; };
  const auto by_default = dsl::vectorize(step);
  const auto tuned = dsl::vectorize<by_twos>(step);
  for (const std::int64_t n : {1, 63, 2000, 100'001}) {
    const dsl::array<float> x =
        dsl::cast<float>(dsl::arange<std::int64_t>(n) % 4);  // their sums are the same in any order
    dsl::array<float> want(n), got(n);
    dsl::scalar<float> want_sum = 0.0f, got_sum = 0.0f;
    dsl::tie(want, want_sum) = by_default(x, want_sum);
    dsl::tie(got, got_sum) = tuned(x, got_sum);
    EXPECT_EQ(got.copy_to_host(), want.copy_to_host());
    EXPECT_EQ(got_sum.value(), want_sum.value());
    dsl::array<float> u = x, v = x;
    dsl::iterate(3, by_default, dsl::state(u, want_sum));
    dsl::iterate(3, tuned, dsl::state(v, got_sum));
    EXPECT_EQ(v.copy_to_host(), u.copy_to_host());
    EXPECT_EQ(got_sum.value(), want_sum.value());
  }
  if (!has_grid()) return;
  dsl::array<float> out(100'000);
  dsl::scalar<float> sum = 0.0f;
  const auto x = dsl::ones<float>(100'000);
  const dsl::reduction_plan p = dsl::plan_of(dsl::tie(out, sum), tuned(x, sum));
  EXPECT_EQ(p.lanes, 2);
  EXPECT_EQ(p.policy.vectors_ahead, 2);
  const std::string line = p.describe().c_str();
  EXPECT_NE(line.find("2 and 1 vectors ahead, 25 % of the threads"), std::string::npos) << line;
  const dsl::loop_plan l = dsl::plan_of(tuned, dsl::state(out, sum));
  EXPECT_LE(l.block, 64);
  EXPECT_LE(l.held, 1);
  EXPECT_NE(std::string(l.describe().c_str()).find("1 vectors held"), std::string::npos)
      << l.describe().c_str();
}

TEST_P(plan, joins_sums_beside_stores_by_a_second_launch) {
  if (!has_grid()) GTEST_SKIP() << "this device has no grid";
  const auto step = dsl::vectorize<joined_apart>([](auto x, auto y, auto total) {
    auto z = x + 2 * y;
    return std::tuple{z, dsl::sum(z) + total};
  });
  const auto expect_joined = [&](auto& x, auto& z, const auto& y) {
    const auto want = dsl::eval(x + 2 * y);
    const std::int64_t sum = dsl::scalar<std::int64_t>(dsl::sum(want)).value();
    dsl::scalar<std::int64_t> total = std::int64_t{7};
    const std::string line = dsl::plan_of(dsl::tie(z, total), step(x, y, total)).describe().c_str();
    EXPECT_NE(line.find("a second launch joins"), std::string::npos) << line;
    for (int k = 1; k <= 3; ++k) {  // one launch's leftovers do not reach the next
      dsl::tie(z, total) = step(x, y, total);
      EXPECT_EQ(total.value(), k * sum + 7);
    }
    EXPECT_EQ(z.copy_to_host(), want.copy_to_host());
  };
  const std::int64_t rows = simulated() ? 77 : 1537, columns = simulated() ? 259 : 2051;
  dsl::array<std::int64_t> x = dsl::arange<std::int64_t>(rows * columns) % 1000, z(rows * columns);
  expect_joined(x, z, x);
  dsl::array<std::int64_t, 2> m = dsl::reshape(x, rows, columns), n(rows, columns);
  expect_joined(m, n, dsl::array<std::int64_t>(dsl::arange<std::int64_t>(columns)));
}

TEST_P(plan, of_a_scan) {
  const dsl::array<float, 2> m = dsl::ones<float>(300, 70);
  dsl::array<float, 2> out, there(300, 70);
  const dsl::scan_plan rows = dsl::plan_of(out, dsl::cumsum(m, dsl::axis(1))),
                       columns = dsl::plan_of(there, dsl::cumsum(m, dsl::axis(0)));
  EXPECT_FALSE(out.has_memory());
  EXPECT_EQ(rows.elements, 21'000);
  EXPECT_FALSE(rows.along_columns);
  EXPECT_TRUE(columns.along_columns);
  EXPECT_EQ(rows.per_element.load_bytes + rows.per_element.store_bytes, 8);
  const bool has_blocks = has_grid();
  EXPECT_EQ(std::string(rows.describe().c_str()).find("rows in") != std::string::npos, true)
      << rows.describe().c_str();
  EXPECT_EQ(
      std::string(columns.describe().c_str()).find("chunks of at least 16") != std::string::npos,
      has_blocks)
      << columns.describe().c_str();
}

TEST_P(plan, prints) {
  const auto a = dsl::ones<float>(1000);
  dsl::array<float> out(1000);
  const std::string line = dsl::plan_of(out, 2 * a).describe();
  EXPECT_NE(line.find("1000 elements"), std::string::npos) << line;
  EXPECT_NE(line.find("1 flops and 4 + 4 bytes an element"), std::string::npos) << line;
}

TEST_P(plan, reads_equal_views_once) {
  const auto x = dsl::ones<float>(1000), other = dsl::ones<float>(1000);
  dsl::array<float> out(1000);
  const auto cost = [&out](const auto& e) { return dsl::plan_of(out, e).per_element; };
  const auto square = dsl::vectorize([](auto v) { return v * v + v; });
  EXPECT_EQ(cost(x * x + x).load_bytes, 4);
  EXPECT_EQ(cost(x * x + x).loads, 1);
  EXPECT_EQ(cost(square(x)).load_bytes, 4);
  EXPECT_EQ(cost(x * other + x).load_bytes, 8);
  EXPECT_EQ(cost(x * x(dsl::slice(dsl::end, dsl::end, -1)) + x()).load_bytes, 8);
  EXPECT_EQ(cost(dsl::shift(x, 1) + dsl::shift(x, -1) - 2 * x).load_bytes, 4);
  EXPECT_EQ(cost(dsl::shift(x, 1) + 1).load_bytes, 4);
  // The same for a loop.
  dsl::array<float> u = dsl::ones<float>(1000);
  const dsl::plan p = dsl::plan_of(dsl::vectorize([](auto v, auto a, auto b) { return v + a * b; }),
                                   dsl::state(u), x, x);
  EXPECT_EQ(p.per_element.load_bytes, 8);
}

#if !defined(__CUDACC__)  // nvcc takes minutes for it
TEST_P(plan, takes_more_operands_than_a_word_has_bits) { sum_of_operands<34>(); }
#endif

TEST(simulated_arrays, finds_an_access_outside_the_memory) {
  const dsl::device_guard sim("sim");
  const auto a = dsl::ones<float>(100);
  dsl::array<float> out(200);
  const dsl::view<const float, 1> too_long(a.view().owner(), a.data(), {200}, {1});
  try {
    out = too_long + 1;
    FAIL() << "nothing was thrown";
  } catch (const dsl::memory_error& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("outside every operand's memory"), std::string::npos) << what;
    EXPECT_NE(what.find("thread"), std::string::npos) << what;
    EXPECT_NE(what.find("a + 1"), std::string::npos) << what;
  }
}

// The last vector of four floats begins inside the memory and ends beyond it.
TEST(simulated_arrays, finds_an_access_that_begins_inside_the_memory) {
  const dsl::device_guard sim("sim");
  const auto a = dsl::ones<float>(98);
  dsl::array<float> out(100);
  EXPECT_THROW((out = dsl::view<const float, 1>(a.view().owner(), a.data(), {100}, {1}) + 1),
               dsl::memory_error);
}

TEST(simulated_arrays, shows_what_was_never_written) {
  const dsl::device_guard sim("sim");
  const dsl::array<float> a(10);
  for (const float x : dsl::array<float>(a + 1).copy_to_host()) EXPECT_TRUE(x != x);
}

}  // namespace

// Further tests of time loops: other dtypes, end conditions, and errors.
#include "iterate_loops.hpp"

#include <random>

namespace {

using dsl::strategy;

// A block reads the other blocks' sums while they are written: the 4 bytes and the step's number
// must be seen together.
constexpr auto count_to_seven = dsl::vectorize([](auto x, auto) {
  const auto next = where(x >= 7.0f, 0.0f, x + 1.0f);
  return std::tuple{next, dsl::sum(next)};
});

TEST_P(iterate, sums_of_every_step_arrive_whole) {
  const std::int64_t n = 1 << 14,
                     steps = dsl::device::current().kind == dsl::backend::cuda ? 5000 : 20;
  for (const strategy s : {strategy::automatic, strategy::launches, strategy::cooperative}) {
    if (s == strategy::cooperative && !has_grid()) continue;
    auto x = dsl::full<float>(0.0f, n);
    dsl::scalar<float> total = 0.0f;
    const auto totals =
        dsl::iterate(s == strategy::launches ? 20 : steps, count_to_seven, dsl::state(x, total), s)
            .copy_to_host();
    for (std::size_t k = 0; k < totals.size(); ++k)
      ASSERT_EQ(totals[k], static_cast<float>(n * static_cast<std::int64_t>((k + 1) % 8)))
          << "strategy " << int(s) << ", step " << k;
  }
}

// Loops of scalars alone, with every strategy: after the end nothing changes, and nothing is
// recorded.
TEST_P(iterate, scalars_alone_end) {
  const auto next = dsl::vectorize([](auto s, auto k) { return (s * 5 + k) & 255; });
  std::mt19937 engine(12);
  for (int round = 0; round < 40; ++round) {
    const std::int64_t last = static_cast<std::int64_t>(engine() % 256),
                       first = static_cast<std::int64_t>(engine() % 1000),
                       seed = static_cast<std::int64_t>(engine() % 256);
    const int steps = 1 + static_cast<int>(engine() % 250),
              each = 1 + static_cast<int>(engine() % 3);
    std::int64_t want = seed, count = 0;
    std::vector<std::int64_t> records(static_cast<std::size_t>(steps / each));
    while (count < steps) {
      want = (want * 5 + first + count++) & 255;
      if (count % each == 0) records[static_cast<std::size_t>(count / each - 1)] = want;
      if (want == last || want == last + 1) break;
    }
    for (const strategy how : {strategy::automatic, strategy::launches, strategy::elementwise}) {
      if (how == strategy::elementwise && !has_grid()) continue;
      dsl::scalar<std::int64_t> s = seed, ran;
      const auto history =
          dsl::iterate(steps, next, dsl::state(s), dsl::step, dsl::from_step(first),
                       dsl::every(each), dsl::until(s == last || s == last + 1, ran), how);
      ASSERT_EQ(s.value(), want) << round << ", strategy " << int(how);
      ASSERT_EQ(ran.value(), first + count) << round << ", strategy " << int(how);
      ASSERT_EQ(history.copy_to_host(), records) << round << ", strategy " << int(how);
    }
  }
}

TEST_P(iterate, sixteen_bits_are_rounded_each_step) {
  const auto shrink = dsl::vectorize(
      [](auto x, auto) { return std::tuple{x * 0.7f, dsl::sum(dsl::cast<float>(x * 0.7f))}; });
  const auto run = [&](strategy s) {
    auto x = dsl::full<dsl::half>(dsl::half(3.0f), 101);
    dsl::scalar<float> sum;
    const auto h = dsl::iterate(9, shrink, dsl::state(x, sum), s).copy_to_host();
    return std::pair{h, x(100).value()};
  };
  const auto want = run(strategy::launches);
  for (const strategy s : strategies()) {
    const auto got = run(s);
    EXPECT_EQ(float(got.second), float(want.second)) << int(s);
    for (std::size_t k = 0; k < 9; ++k) EXPECT_NEAR(got.first[k], want.first[k], 1e-4) << int(s);
  }
}

// The formula gives float, the variable is double. Records of a 16-bit variable are of its stored
// value.
TEST_P(iterate, records_are_of_the_variables_as_they_are_stored) {
  const auto add = dsl::vectorize(
      [](auto x, auto, auto h) { return std::tuple{x + 2, dsl::sum(x), h * 0.7001f}; });
  for (const strategy s : strategies()) {
    auto x = dsl::to_device(std::vector<float>{1});
    dsl::scalar<double> sum;
    dsl::scalar<dsl::half> h = dsl::half(1.0f);
    const auto [sums, hs, doubled, as_float] =
        dsl::iterate(4, add, dsl::state(x, sum, h), s, dsl::record([](auto, auto sum, auto h) {
                       return std::tuple{sum * 2, dsl::cast<float>(h)};
                     }));
    static_assert(std::is_same_v<decltype(doubled), const dsl::array<double>>);
    EXPECT_EQ(sums.copy_to_host(), (std::vector<double>{1, 3, 5, 7})) << int(s);
    EXPECT_EQ(doubled.copy_to_host(), (std::vector<double>{2, 6, 10, 14})) << int(s);
    const auto halves = hs.copy_to_host();
    EXPECT_EQ(as_float.copy_to_host(), std::vector<float>(halves.begin(), halves.end())) << int(s);
  }
}

TEST_P(iterate, records_nothing_after_the_end_of_a_loop_of_scalars) {
  const auto count = dsl::vectorize([](auto n) { return n + 1; });
  for (const strategy s : {strategy::automatic, strategy::launches}) {
    dsl::scalar<std::int64_t> n = std::int64_t{0};
    const auto [ns, tens] = dsl::iterate(6, count, dsl::state(n), dsl::until(n >= 3),
                                         dsl::record([](auto n) { return n * 10; }), s);
    EXPECT_EQ(ns.copy_to_host(), (std::vector<std::int64_t>{1, 2, 3, 0, 0, 0}));
    EXPECT_EQ(tens.copy_to_host(), (std::vector<std::int64_t>{10, 20, 30, 0, 0, 0}));
  }
}

TEST_P(iterate, ends_on_what_its_steps_change) {
  auto x = dsl::to_device(std::vector<float>{0});
  dsl::scalar<float> sum, other = 5.0f;
  dsl::scalar<std::int64_t> ran = std::int64_t{-1};
  const auto only = dsl::squeeze(x, 0);
  for (const strategy s : strategies()) {
    EXPECT_THROW(dsl::iterate(10, grow, dsl::state(x, sum), 1.0f, dsl::until(only >= 3.0f, ran), s),
                 dsl::value_error);
    EXPECT_THROW(
        dsl::iterate(10, grow, dsl::state(x, sum), 1.0f, dsl::until(other >= 3.0f, ran), s),
        dsl::value_error);
    EXPECT_THROW(dsl::plan_of(grow, dsl::state(x, sum), 1.0f, dsl::until(other >= 3.0f, ran), s),
                 dsl::value_error);
    EXPECT_THROW(dsl::iterate(10, grow, dsl::state(x, sum), 1.0f,
                              dsl::until(only >= 3.0f && sum > 3.0f, ran), s),
                 dsl::shape_error);
  }
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{0}));
  EXPECT_EQ(sum.value(), 0);
  EXPECT_EQ(ran.value(), -1);
}

// Errors are thrown before the first step.
TEST_P(iterate, changes_nothing_where_it_throws) {
  const dsl::device elsewhere(
      dsl::device::current().kind == dsl::backend::host ? dsl::backend::sim : dsl::backend::host);
  const auto away = [&](const auto& make) {
    const dsl::device_guard guard(elsewhere);
    return make();
  };
  auto x = dsl::to_device(std::vector<float>{1, 2, 3});
  dsl::scalar<float> sum = 7.0f;
  const auto far = away([] { return dsl::to_device(std::vector<float>{4, 5}); });
  const auto far_step = away([] { return dsl::scalar<float>(1.0f); });
  dsl::array<float> none;
  EXPECT_THROW(dsl::iterate(3, grow, dsl::state(none, sum), 1.0f), dsl::memory_error);
  EXPECT_FALSE(none.has_memory());
  EXPECT_THROW(dsl::iterate(3, grow, dsl::state(x, sum), far_step), dsl::device_error);
  EXPECT_THROW(dsl::iterate(3, grow, dsl::state(x, sum), dsl::to_device(std::vector<float>{1, 2})),
               dsl::shape_error);
  EXPECT_THROW(dsl::iterate(3, grow, dsl::state(x, sum), 1.0f, dsl::record(none)),
               dsl::memory_error);
  EXPECT_THROW(dsl::iterate(3, grow, dsl::state(x, sum), 1.0f, dsl::record(far)),
               dsl::device_error);
  EXPECT_THROW(dsl::iterate(3, grow, dsl::state(x, sum), 1.0f, strategy::elementwise),
               dsl::device_error);
  EXPECT_THROW(dsl::iterate(3, grow, dsl::state(x, sum), 1.0f, dsl::from_step(INT64_MAX)),
               dsl::shape_error);
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(sum.value(), 7);
}

}  // namespace

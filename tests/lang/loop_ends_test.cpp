// Loops that end long before the number of steps they were given: nothing more is queued soon after
// the end, so that any number returns. Values and histories are those of the steps that ran.
#include "iterate_loops.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime_api.h>
#endif

namespace {

using dsl::strategy;
using numbers = std::vector<std::int64_t>;

struct loop_ends : iterate {};
ON_EVERY_DEVICE(loop_ends);

constexpr std::int64_t endless = 1'000'000'000'000'000;  // years, if each step costs a nanosecond

constexpr auto add_up = dsl::vectorize([](auto x, auto, auto k) {
  auto next = (x * 3 + k) & 1023;
  return std::tuple{next, dsl::sum(next)};
});
// Two phases: the second one uses the first one's sum.
constexpr auto in_phases = dsl::vectorize([](auto x, auto, auto k) {
  auto next = (x + dsl::sum(x * k)) & 1023;
  return std::tuple{next, dsl::sum(next)};
});
// Neighbours along one dimension: each step is a launch on every device.
constexpr auto beside = dsl::vectorize([](auto x, auto, auto k) {
  auto next = (x + dsl::shift(x, 1, dsl::boundary::wrap) + k) & 1023;
  return std::tuple{next, dsl::sum(next)};
});

struct result {
  numbers elements, history;
  std::int64_t total, ran;
};
template <class F, class... Options>
result run(std::int64_t steps, const F&, std::int64_t last, const Options&... options) {
  dsl::array<std::int64_t> x = dsl::arange<std::int64_t>(29);
  dsl::scalar<std::int64_t> total = std::int64_t{-1}, ran;
  dsl::scalar<std::int64_t> count = std::int64_t{0};
  const auto step = dsl::vectorize([](auto u, auto sum, auto steps_so_far, auto k) {
    const auto made = F{}(u, sum, k);
    return std::tuple{std::get<0>(made), std::get<1>(made), steps_so_far + 1};
  });
  const auto [totals, counts] = dsl::iterate(steps, step, dsl::state(x, total, count), dsl::step,
                                             dsl::until(count >= last, ran), options...);
  EXPECT_EQ(count.value(), std::min(last, steps));
  return {x.copy_to_host(), totals.copy_to_host(), total.value(), ran.value()};
}

template <class F> void ends_early(const F& f, const std::vector<strategy>& all) {
  for (const strategy how : all)
    for (const std::int64_t last : {1, 7, 40}) {
      SCOPED_TRACE(testing::Message() << "strategy " << int(how) << ", ends after " << last);
      const result want = run(last, f, last, how);
      const result many = run(100'000, f, last, how);
      EXPECT_EQ(many.elements, want.elements);
      EXPECT_EQ(many.total, want.total);
      EXPECT_EQ(many.ran, last);
      numbers history = want.history;
      history.resize(100'000);
      EXPECT_EQ(many.history, history);

      const result any = run(endless, f, last, how, dsl::every(endless / 4));
      EXPECT_EQ(any.elements, want.elements);
      EXPECT_EQ(any.ran, last);
      EXPECT_EQ(any.history, numbers(4));
    }
}

TEST_P(loop_ends, ends_early_by_every_strategy) { ends_early(add_up, strategies()); }
TEST_P(loop_ends, ends_early_in_phases) { ends_early(in_phases, strategies()); }
TEST_P(loop_ends, ends_early_beside_neighbours) {
  ends_early(beside, {strategy::automatic, strategy::launches});
}

TEST_P(loop_ends, ends_early_with_scalars_alone) {
  const auto next = dsl::vectorize([](auto s, auto k) { return s * 3 + k; });
  for (const strategy how : {strategy::automatic, strategy::launches}) {
    dsl::scalar<std::int64_t> s = std::int64_t{1}, ran;
    const auto history = dsl::iterate(endless, next, dsl::state(s), dsl::step, how,
                                      dsl::every(endless / 3), dsl::until(s > 1000, ran));
    std::int64_t want = 1, count = 0;
    while (want <= 1000) want = want * 3 + count++;
    EXPECT_EQ(ran.value(), count) << int(how);
    EXPECT_EQ(s.value(), want) << int(how);
    EXPECT_EQ(history.copy_to_host(), numbers(3)) << int(how);
  }
}

// The end on either side of where a GPU's host looks for it (every 200 launches, or 256 steps of a
// graph).
TEST_P(loop_ends, ends_anywhere_among_many_launches) {
  std::vector<strategy> all{strategy::launches};
  if (dsl::device::current().kind == dsl::backend::cuda) all.push_back(strategy::graph);
  const result want = run(1100, add_up, 2000);
  for (const strategy how : all)
    for (const std::int64_t last : {199, 200, 201, 255, 256, 257, 512, 513, 768, 1023, 1100}) {
      const result got = run(1100, add_up, last, how);
      numbers history(want.history.begin(), want.history.begin() + last);
      history.resize(1100);
      EXPECT_EQ(got.history, history) << int(how) << ", ends after " << last;
      EXPECT_EQ(got.total, want.history[static_cast<std::size_t>(last - 1)]);
      EXPECT_EQ(got.ran, last);
    }
}

// Samples cut the loop; beyond the end they repeat the last one.
TEST_P(loop_ends, samples_repeat_the_last_one_after_an_early_end) {
  for (const strategy how : strategies())
    for (const std::int64_t each : {1, 3, 1000}) {
      const std::int64_t steps = 200'000;
      auto x = dsl::to_device(std::vector<float>{1, 2, 3});
      dsl::scalar<float> sum;
      dsl::scalar<std::int64_t> ran;
      const auto [sums, whole, first] =
          dsl::iterate(steps, grow, dsl::state(x, sum), 1.0f, dsl::every(each), dsl::record(x),
                       dsl::record(x(dsl::slice(0, 2))), dsl::until(sum > 20.0f, ran), how);
      SCOPED_TRACE(testing::Message() << "strategy " << int(how) << ", every " << each);
      EXPECT_EQ(ran.value(), 6);
      const std::int64_t rows = steps / each;
      ASSERT_EQ(whole.extents(), (dsl::extents<2>{rows, 3}));
      ASSERT_EQ(first.extents(), (dsl::extents<2>{rows, 2}));
      const auto got = whole.copy_to_host(), part = first.copy_to_host(), of = sums.copy_to_host();
      for (std::int64_t k = 0; k < rows; ++k) {
        const auto at = static_cast<float>(std::min<std::int64_t>((k + 1) * each, 6));
        for (std::int64_t i = 0; i < 3; ++i)
          ASSERT_EQ(got[static_cast<std::size_t>(3 * k + i)], at + static_cast<float>(1 + i));
        for (std::int64_t i = 0; i < 2; ++i)
          ASSERT_EQ(part[static_cast<std::size_t>(2 * k + i)], at + static_cast<float>(1 + i));
        ASSERT_EQ(of[static_cast<std::size_t>(k)],
                  (k + 1) * each <= 6 ? static_cast<float>(3 + 3 * (k + 1) * each) : 0.0f);
      }
    }
}

// With `progress` the last call has the number asked for, as if the remaining steps had run.
TEST_P(loop_ends, reports_an_early_end) {
  for (const strategy how : strategies()) {
    auto x = dsl::to_device(std::vector<float>{1, 2, 3});
    dsl::scalar<float> sum;
    dsl::scalar<std::int64_t> ran;
    std::int64_t calls = 0, done = 0;
    const auto sums = dsl::iterate(endless, grow, dsl::state(x, sum), 1.0f, dsl::every(endless / 2),
                                   dsl::until(sum > 20.0f, ran), how,
                                   dsl::progress([&](std::int64_t k, std::int64_t of) {
                                     EXPECT_EQ(of, endless);
                                     EXPECT_GT(k, done);
                                     done = k;
                                     return ++calls < 1000;
                                   }));
    EXPECT_EQ(ran.value(), 6) << int(how);
    EXPECT_EQ(done, endless) << int(how);
    EXPECT_EQ(sums.copy_to_host(), (std::vector<float>{0, 0})) << int(how);
  }
}

#if defined(__CUDACC__)
// While a stream is captured the host cannot look: the graph has all steps.
TEST(loop_ends_on_cuda, captures_all_steps_of_a_loop_that_ends_early) {
  if (dsl::devices().front().kind != dsl::backend::cuda) GTEST_SKIP() << "no GPU";
  const dsl::device_guard device{dsl::device("cuda")};
  const dsl::stream stream;
  const dsl::stream_guard guard(stream);
  dsl::array<float> x = dsl::full<float>(1, 3);
  dsl::scalar<float> sum = 0.0f;
  dsl::scalar<std::int64_t> ran = std::int64_t{0};
  stream.synchronize();
  const auto native = static_cast<cudaStream_t>(stream.native());
  cudaGraph_t graph{};
  cudaGraphExec_t ready{};
  ASSERT_EQ(cudaStreamBeginCapture(native, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  dsl::iterate(1500, grow, dsl::state(x, sum), 1.0f, dsl::until(sum > 3000.0f, ran),
               strategy::launches);
  ASSERT_EQ(cudaStreamEndCapture(native, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(ready, native), cudaSuccess);
  EXPECT_EQ(ran.value(), 1001);
  EXPECT_EQ(sum.value(), 3003);
  EXPECT_EQ(x.copy_to_host(), std::vector<float>(3, 1002));
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}
#endif

}  // namespace

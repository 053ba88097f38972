// Time loops, with every strategy: against one launch a step, and step by step in higher precision.
#include "iterate_loops.hpp"

#include <atomic>
#include <cmath>
#include <complex>
#include <numeric>
#include <thread>
#include <vector>

namespace {

using dsl::strategy;
using c32 = std::complex<float>;
using namespace std::complex_literals;

ON_EVERY_DEVICE(iterate);

// Both arrays and two reductions of different dtypes are fed back; the time and an array are
// parameters. Values are integers, so results depend neither on an order nor on contraction into
// fma.
constexpr auto mix = dsl::vectorize([](auto a, auto b, auto total, auto most, auto t, auto weight) {
  auto an = a * 1'664'525 + b + dsl::cast<int>(total) + t;
  auto bn = (b ^ a) + most * 3 + weight;
  return std::tuple{an, bn, dsl::sum(dsl::cast<std::int64_t>(an)), dsl::max(bn)};
});

// One element, the row boundaries of every block size used, and tails shorter than a vector.
const std::int64_t sizes[] = {1, 3, 32, 127, 1025, 4099, 40'003};

TEST_P(iterate, every_strategy_gives_the_same) {
  for (const std::int64_t n : sizes) {
    const auto weight = dsl::eval(dsl::cast<int>(dsl::arange<std::int64_t>(n) * 40'503));
    const auto run = [&](auto... options) {
      dsl::array<int> a = dsl::cast<int>(dsl::arange<std::int64_t>(n) * 2'654'435), b = a ^ 12'345;
      dsl::scalar<std::int64_t> total = std::int64_t{5};
      dsl::scalar<int> most = 7;
      const auto [totals, mosts] =
          dsl::iterate(12, mix, dsl::state(a, b, total, most), dsl::step, weight, options...);
      return std::tuple{a.copy_to_host(),     b.copy_to_host(), totals.copy_to_host(),
                        mosts.copy_to_host(), total.value(),    most.value()};
    };
    const auto want = run(strategy::launches);
    EXPECT_EQ(std::get<2>(want).size(), 12u);
    EXPECT_EQ(std::get<2>(want).back(), std::get<4>(want));
    for (const strategy s : strategies())
      for (const dsl::launch fixed :
           {dsl::launch{}, dsl::launch{.block = 32, .grid = 3}, dsl::launch{.block = 64, .grid = 2},
            dsl::launch{.block = 64, .grid = 40}}) {
        if (fixed.grid == 40 ? s != strategy::cooperative || n != 4099
                             : s != strategy::streamed && fixed.block == 64)
          continue;
        if (s == strategy::one_block && n > (simulated() ? 1025 : 4099))
          continue;  // does not fit on chip
        if (s == strategy::cooperative && n > (simulated() ? 4099 : 40'003)) continue;
        ASSERT_EQ(run(s, fixed), want) << n << ", strategy " << int(s) << ", block " << fixed.block;
      }
  }
}

constexpr auto spring = dsl::vectorize([](auto x, auto v, auto total, auto most, auto h, auto t) {
  auto vn = v - h * (x + 0.001f * dsl::cast<float>(total)) + 0.0001f * most * t;
  auto xn = x + h * vn;
  return std::tuple{xn, vn, dsl::sum(dsl::cast<double>(xn)), dsl::max(abs(vn))};
});

std::vector<float> ramp(std::int64_t n) {
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 0.01f * static_cast<float>(i % 1000) - 3;
  return v;
}

struct spring_state {
  dsl::array<float> x, v;
  dsl::scalar<double> total = 1.0;
  dsl::scalar<float> most = 2.0f;
  explicit spring_state(std::int64_t n)
      : x(dsl::to_device(ramp(n))), v(dsl::full<float>(0.25f, n)) {}
  template <class... Options>
  auto run(int steps, const Options&... options) {
    return dsl::iterate(steps, spring, dsl::state(x, v, total, most), 0.1f, 0.1f * dsl::step,
                        options...);
  }
};

TEST_P(iterate, steps_in_higher_precision) {
  const std::int64_t n = 777;
  for (const strategy s : strategies()) {
    spring_state got(n);
    const auto [totals, mosts] = got.run(20, s);
    const auto host = totals.copy_to_host();
    std::vector<long double> x, v(static_cast<std::size_t>(n), 0.25L);
    for (const float each : ramp(n)) x.push_back(each);
    long double total = 1, most = 2;
    for (int k = 0; k < 20; ++k) {
      long double sum = 0, largest = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        v[i] += -0.1L * (x[i] + 0.001L * total) + 0.0001L * most * 0.1L * k;
        x[i] += 0.1L * v[i];
        sum += x[i];
        largest = std::max(largest, std::abs(v[i]));
      }
      total = sum;
      most = largest;
      EXPECT_NEAR(host[static_cast<std::size_t>(k)], static_cast<double>(total), 2e-3) << k;
    }
    const auto last = got.x.copy_to_host();
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(last[i], static_cast<double>(x[i]), 2e-5) << i;
  }
}

// Bit for bit; in the simulator with a new order of blocks and warps each time.
TEST_P(iterate, is_the_same_every_time) {
  for (const strategy s : strategies()) {
    const auto run = [s](const char* seed) {
      const simulated_order order(seed);
      spring_state got(777);
      const auto [totals, mosts] = got.run(10, s, dsl::launch{.block = 64, .grid = 3});
      return std::tuple{totals.copy_to_host(), mosts.copy_to_host(), got.x.copy_to_host()};
    };
    const auto want = run("0");
    for (const char* seed : {"1", "2", "3"})
      EXPECT_EQ(run(seed), want) << "strategy " << int(s) << ", seed " << seed;
  }
}

// Host threads share a device's default stream: each loop's blocks exchange sums through their own
// memory.
TEST_P(iterate, of_threads_do_not_meet) {
  for (const strategy s : strategies()) {
    const auto run = [s] {
      spring_state got(300);
      const auto [totals, mosts] = got.run(10, s, dsl::launch{.block = 32, .grid = 3});
      return std::tuple{totals.copy_to_host(), mosts.copy_to_host(), got.x.copy_to_host()};
    };
    const auto want = run();
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, where = dsl::device::current()] {
        const dsl::device_guard guard(where);
        for (int k = 0; k < 20; ++k) wrong += run() == want ? 0 : 1;
      });
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(wrong, 0) << "strategy " << int(s);
  }
}

// Equal elements: adding them one by one would round in the same direction each time, so a thread
// must not do that.
TEST_P(iterate, sums_of_many_rows_are_accurate) {
  const std::int64_t n = 1 << 18;
  for (const strategy s : strategies())
    for (const dsl::launch fixed : {dsl::launch{}, dsl::launch{.block = 32, .grid = 2}}) {
      if (s == strategy::one_block || s == strategy::cooperative ||
          (s != strategy::streamed && fixed.block > 0))
        continue;  // the first do not fit on chip
      auto x = dsl::full<float>(0.1f, n);
      dsl::scalar<float> total = 0.0f;
      const auto totals =
          dsl::iterate(2, grow, dsl::state(x, total), 0.0f, s, fixed).copy_to_host();
      for (const float got : totals)
        EXPECT_NEAR(got / (double{0.1f} * static_cast<double>(n)), 1, 4e-6)
            << "strategy " << int(s) << ", block " << fixed.block;
    }
}

// Several sums exchanged together, in more than one 16-byte word; one parameter is an array.
constexpr auto moments = dsl::vectorize([](auto x, auto, auto spread, auto, auto weight) {
  auto xn = 0.5f * x + weight * dsl::cast<float>(spread);
  return std::tuple{xn, dsl::mean(xn), dsl::var(xn), dsl::argmax(xn)};
});

TEST_P(iterate, reductions_of_several_values) {
  for (const std::int64_t n : {5, 513, 3001}) {
    std::vector<float> given(static_cast<std::size_t>(n)), weight(given.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      given[i] = std::sin(float(i));
      weight[i] = std::cos(float(i * i));
    }
    const auto w = dsl::to_device(weight);
    for (const strategy s : strategies()) {
      auto x = dsl::to_device(given);
      dsl::scalar<float> mean, var = 1.0f;
      dsl::scalar<std::int64_t> where;
      const auto [means, vars, places] =
          dsl::iterate(6, moments, dsl::state(x, mean, var, where), w, s);
      const auto means_got = means.copy_to_host(), vars_got = vars.copy_to_host();
      const auto places_got = places.copy_to_host();
      std::vector<float> at = given;
      float spread = 1;
      for (std::size_t k = 0; k < 6; ++k) {
        long double sum = 0, squares = 0;
        std::size_t largest = 0;
        for (std::size_t i = 0; i < at.size(); ++i) {
          at[i] = std::fma(weight[i], spread, 0.5f * at[i]);
          sum += at[i];
          if (at[i] > at[largest]) largest = i;
        }
        const long double m = sum / static_cast<long double>(n);
        for (const float a : at) squares += (a - m) * (a - m);
        ASSERT_NEAR(means_got[k], static_cast<double>(m), 1e-6 * std::abs(means_got[k]) + 1e-6)
            << n << ' ' << int(s) << ' ' << k;
        ASSERT_NEAR(vars_got[k], static_cast<double>(squares / static_cast<long double>(n)),
                    1e-6 * vars_got[k] + 1e-6)
            << n << ' ' << int(s) << ' ' << k;
        ASSERT_EQ(places_got[k], static_cast<std::int64_t>(largest))
            << n << ' ' << int(s) << ' ' << k;
        spread = vars_got[k];
      }
    }
  }
}

constexpr auto rotate = dsl::vectorize(
    [](auto z, auto a, auto t) { return std::tuple{z * (1.0f + 0.001if * a), a + 0.25f * t}; });

// All steps of an element before the next element: the same as one launch a step, aligned or not,
// with every tail.
TEST_P(iterate, without_reductions) {
  for (const std::int64_t n : {1, 2, 5, 255, 4097, 70'001}) {
    const auto make = [n](std::int64_t offset) {
      auto z = dsl::full<c32>(c32(1, 0.5f), n + offset);
      auto a = dsl::full<float>(0.5f, n + offset);
      a = a + dsl::cast<float>(dsl::arange<std::int64_t>(n + offset)) * 1e-3f;
      return std::pair{std::move(z), std::move(a)};
    };
    for (const std::int64_t offset : {0, 1}) {
      auto [z, a] = make(offset);
      auto [wz, wa] = make(offset);
      const auto part = [offset](auto& x) { return from_element(x, offset, x.size() - offset); };
      const auto zv = part(z), wzv = part(wz);
      const auto av = part(a), wav = part(wa);
      dsl::iterate(9, rotate, dsl::state(wzv, wav), 0.01f * dsl::step, strategy::launches);
      dsl::iterate(9, rotate, dsl::state(zv, av), 0.01f * dsl::step);
      EXPECT_EQ(z.copy_to_host(), wz.copy_to_host()) << n;
      EXPECT_EQ(a.copy_to_host(), wa.copy_to_host()) << n;
      float sum = 0.5f;
      for (int k = 0; k < 9; ++k) sum = std::fma(0.25f, 0.01f * float(k), sum);
      if (offset == 0) {
        EXPECT_NEAR(a(0).value(), sum, 1e-6);
      }
    }
  }
}

constexpr auto two_sums = dsl::vectorize(
    [](auto x, auto, auto) { return std::tuple{x + 1, dsl::sum(x), dsl::sum(x * x)}; });

TEST_P(iterate, histories_of_none_one_and_several_scalars) {
  const auto twice = dsl::vectorize([](auto x) { return x * 2; });
  auto x = dsl::to_device(std::vector<float>{1, 2});
  dsl::iterate(3, twice, dsl::state(x));
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{8, 16}));

  dsl::scalar<float> s, q;
  auto [sums, squares] = dsl::iterate(2, two_sums, dsl::state(x, s, q));
  EXPECT_EQ(sums.copy_to_host(), (std::vector<float>{24, 26}));
  EXPECT_EQ(squares.copy_to_host(), (std::vector<float>{320, 370}));

  const auto half = dsl::vectorize([](auto v) { return v / 2; });  // a scalar without any array
  dsl::scalar<double> v = 1.0;
  EXPECT_EQ(dsl::iterate(3, half, dsl::state(v)).copy_to_host(),
            (std::vector<double>{0.5, 0.25, 0.125}));
  EXPECT_EQ(dsl::iterate(4, half, dsl::state(v), dsl::every(2)).copy_to_host(),
            (std::vector<double>{1.0 / 32, 1.0 / 128}));
  EXPECT_TRUE(dsl::iterate(0, half, dsl::state(v)).copy_to_host().empty());
  dsl::scalar<std::int64_t> ran;
  EXPECT_EQ(dsl::iterate(20, half, dsl::state(v), dsl::until(v < 1e-3, ran)).size(), 20);
  EXPECT_EQ(v.value(), 1.0 / 1024);
  EXPECT_EQ(ran.value(), 3);
}

#if defined(__CUDACC__)
// A graph may run on any stream, concurrently with the one that it was captured on: their blocks
// exchange sums through different memory.
TEST(iterate_on_cuda, shares_nothing_with_a_graph) {
  if (dsl::devices().front().kind != dsl::backend::cuda) GTEST_SKIP() << "no GPU";
  const dsl::device_guard device{dsl::device("cuda")};
  const std::int64_t n = 40'003;
  struct variables {
    dsl::array<int> a, b;
    dsl::scalar<std::int64_t> total = std::int64_t{5};
    dsl::scalar<int> most = 7;
    explicit variables(std::int64_t n)
        : a(dsl::cast<int>(dsl::arange<std::int64_t>(n) * 2'654'435)), b(a ^ 12'345) {}
    void run(const dsl::array<int>& weight) {
      dsl::iterate(12, mix, dsl::state(a, b, total, most), dsl::step, weight,
                   strategy::cooperative);
    }
  };
  const dsl::stream stream, other;
  const dsl::stream_guard guard(stream);
  const dsl::array<int> weight = dsl::cast<int>(dsl::arange<std::int64_t>(n) * 40'503);
  variables captured(n), beside(n), want(n);
  stream.synchronize();
  const auto native = static_cast<cudaStream_t>(stream.native());
  cudaGraph_t graph{};
  cudaGraphExec_t ready{};
  ASSERT_EQ(cudaStreamBeginCapture(native, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  captured.run(weight);
  ASSERT_EQ(cudaStreamEndCapture(native, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
  for (int k = 0; k < 30; ++k) {
    ASSERT_EQ(cudaGraphLaunch(ready, static_cast<cudaStream_t>(other.native())), cudaSuccess);
    beside.run(weight);
  }
  other.synchronize();
  stream.synchronize();
  for (int k = 0; k < 30; ++k) want.run(weight);
  EXPECT_EQ(captured.a.copy_to_host(), want.a.copy_to_host());
  EXPECT_EQ(captured.total.value(), want.total.value());
  EXPECT_EQ(beside.a.copy_to_host(), want.a.copy_to_host());
  EXPECT_EQ(beside.total.value(), want.total.value());
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}
#endif

constexpr auto largest = [](auto x, auto s) { return std::tuple{dsl::max(x), s + 1}; };

// Every second step, with the formula's own reduction, records of it, and a sample; until a sum is
// large enough.
TEST_P(iterate, records_and_ends) {
  for (const strategy s : strategies()) {
    auto x = dsl::to_device(std::vector<float>{1, 2, 3});
    dsl::scalar<float> sum;
    dsl::scalar<std::int64_t> ran;
    const auto [sums, most, more, sample] = dsl::iterate(
        10, grow, dsl::state(x, sum), 0.5f * dsl::step, dsl::every(2), dsl::record(largest),
        dsl::record(x(dsl::slice(0, dsl::end, 2))), dsl::until(sum > 20.0f, ran), s);
    EXPECT_EQ(sums.copy_to_host(), (std::vector<float>{6, 10.5f, 21, 0, 0})) << int(s);
    EXPECT_EQ(most.copy_to_host(), (std::vector<float>{3.5f, 6, 10.5f, 0, 0})) << int(s);
    EXPECT_EQ(more.copy_to_host(), (std::vector<float>{7, 11.5f, 22, 0, 0})) << int(s);
    const auto rows = sample.copy_to_host();
    EXPECT_EQ(sample.extents(), (dsl::extents<2>{5, 2}));
    EXPECT_EQ(std::vector<float>(rows.begin(), rows.begin() + 6),
              (std::vector<float>{1.5f, 3.5f, 4, 6, 8.5f, 10.5f}))
        << int(s);
    EXPECT_EQ(ran.value(), 6) << int(s);
    EXPECT_EQ(x.copy_to_host(), (std::vector<float>{8.5f, 9.5f, 10.5f})) << int(s);
  }
}

// Records of a 16-bit variable are computed from its stored, rounded value.
TEST_P(iterate, records_of_16_bits_are_rounded) {
  const auto shrink = dsl::vectorize([](auto h) { return h * 0.7001f; });
  dsl::scalar<dsl::half> h = dsl::half(1.0f);
  const auto [halves, as_float] = dsl::iterate(
      4, shrink, dsl::state(h), dsl::record([](auto h) { return dsl::cast<float>(h); }));
  const auto held = halves.copy_to_host();
  EXPECT_EQ(as_float.copy_to_host(), std::vector<float>(held.begin(), held.end()));
}

// In a loop without reductions records are separate passes.
TEST_P(iterate, records_beside_loops_without_reductions) {
  const auto add = dsl::vectorize([](auto x, auto h) { return x + h; });
  auto x = dsl::to_device(std::vector<double>{1, 2, 3});
  const auto [sums, first] =
      dsl::iterate(7, add, dsl::state(x), 1.0, dsl::every(3),
                   dsl::record([](auto x) { return dsl::sum(x); }), dsl::record(x(0)));
  EXPECT_EQ(sums.copy_to_host(), (std::vector<double>{15, 24}));
  EXPECT_EQ(first.copy_to_host(), (std::vector<double>{4, 7}));
  EXPECT_EQ(x.copy_to_host(), (std::vector<double>{8, 9, 10}));
}

// Stopped by the callback and continued: bit for bit the same.
TEST_P(iterate, stops_and_goes_on) {
  for (const strategy s : strategies()) {
    const std::int64_t n = 3001;
    spring_state whole(n), parts(n);
    const auto [all, most] = whole.run(60, s);
    std::vector<std::int64_t> reported;
    std::int64_t done = 0;
    std::vector<double> history;
    while (done < 60) {
      std::int64_t now = 0;
      const auto [part, unused] =
          parts.run(static_cast<int>(std::min<std::int64_t>(60 - done, 25)), s,
                    dsl::from_step(done), dsl::progress([&](std::int64_t k, std::int64_t of) {
                      EXPECT_LE(k, of);
                      now = k;
                      return done > 0;  // the first call stops after its first launch
                    }));
      const auto values = part.copy_to_host();
      ASSERT_EQ(static_cast<std::int64_t>(values.size()), now);
      history.insert(history.end(), values.begin(), values.end());
      done += now;
    }
    EXPECT_EQ(history, all.copy_to_host()) << int(s);
    EXPECT_EQ(parts.x.copy_to_host(), whole.x.copy_to_host()) << int(s);
  }
}

// The callback stops a loop that samples divide as well.
TEST_P(iterate, stops_between_samples) {
  auto x = dsl::to_device(std::vector<float>{1, 2, 3});
  dsl::scalar<float> sum;
  int calls = 0;
  const auto [sums, sample] =
      dsl::iterate(10, grow, dsl::state(x, sum), 1.0f, dsl::every(2), dsl::record(x(0)),
                   dsl::progress([&](std::int64_t, std::int64_t) { return ++calls < 2; }));
  const auto rows = static_cast<std::size_t>(x(0).value() - 1) / 2;
  EXPECT_LT(rows, 5u);
  EXPECT_GT(rows, 0u);
  EXPECT_EQ(sums.size(), static_cast<std::int64_t>(rows));
  const auto firsts = sample.copy_to_host();
  ASSERT_EQ(firsts.size(), rows);
  for (std::size_t k = 0; k < rows; ++k) EXPECT_EQ(firsts[k], 3 + 2 * static_cast<float>(k));
}

// Operands that are not contiguous, or overlap the variables' memory, need one launch a step.
TEST_P(iterate, operands_of_any_shape) {
  const auto step =
      dsl::vectorize([](auto m, auto, auto row) { return std::tuple{m + row, dsl::sum(m)}; });
  auto m = dsl::zeros<double>(3, 4);
  const auto row = dsl::to_device(std::vector<double>{1, 2, 3, 4});
  dsl::scalar<double> s;
  EXPECT_EQ(dsl::iterate(3, step, dsl::state(m, s), row).copy_to_host(),
            (std::vector<double>{0, 30, 60}));
  EXPECT_EQ(m(2, 3).value(), 12);
  EXPECT_THROW(dsl::iterate(3, step, dsl::state(m, s), row, strategy::cooperative),
               dsl::device_error);
  const auto again = dsl::iterate(100, step, dsl::state(m, s), m).copy_to_host();  // m + m
  EXPECT_EQ(again[2], 4 * 90);
  EXPECT_EQ(again.size(), 100u);
}

TEST_P(iterate, wants_variables_of_its_own) {
  const auto copy = dsl::vectorize([](auto, auto y) { return y + 1; });
  auto x = dsl::to_device(std::vector<float>{1, 2, 3, 4});
  const auto front = from_element(x, 0, 3);
  EXPECT_THROW(dsl::iterate(2, copy, dsl::state(front), from_element(x, 1, 3)), dsl::shape_error);
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{1, 2, 3, 4}));
}

// Variables and a parameter that interleave in one matrix (blocks of columns, every third column,
// every third row), compared with separate arrays. Only the variables change.
constexpr auto exchange = dsl::vectorize([](auto u, auto v, auto weight) {
  return std::tuple{(dsl::shift(u, 1, dsl::boundary::wrap) * 3 +
                     dsl::shift(u, -1, dsl::boundary::clamp, 0) + v + weight) &
                        0xffff,
                    (v * 5 + u) & 0xffff};
});
TEST_P(iterate, variables_lie_between_each_other) {
  using dsl::slice;
  const auto part = [](dsl::array<int, 2>& m, int layout, std::int64_t i) {
    const std::int64_t width = m.extent(1) / 3;
    return layout == 0   ? m(slice(), slice(i * width, (i + 1) * width))
           : layout == 1 ? m(slice(), slice(i, dsl::end, 3))
                         : m(slice(i, dsl::end, 3), slice());
  };
  for (const std::int64_t rows : {3, 9, 66})
    for (const std::int64_t columns : {3, 6, 63, 120})
      for (int layout = 0; layout < 3; ++layout)
        for (const strategy s : {strategy::automatic, strategy::launches, strategy::tiled}) {
          dsl::array<int, 2> m = dsl::reshape(
              dsl::cast<int>(dsl::arange<std::int64_t>(rows * columns) * 7 & 63), rows, columns);
          const auto u = part(m, layout, 0), v = part(m, layout, 1);
          dsl::array<int, 2> a = u, b = v, weight = part(m, layout, 2);
          try {
            dsl::iterate(3, exchange, dsl::state(u, v), part(m, layout, 2), s);
          } catch (const dsl::device_error&) {
            EXPECT_EQ(s, strategy::tiled);  // these have no tiles
            continue;
          }
          dsl::iterate(3, exchange, dsl::state(a, b), weight, strategy::launches);
          const std::string name =
              std::to_string(rows) + " x " + std::to_string(columns) + " " + std::to_string(layout);
          ASSERT_EQ(u.copy_to_host(), a.copy_to_host()) << name;
          ASSERT_EQ(v.copy_to_host(), b.copy_to_host()) << name;
          ASSERT_EQ(part(m, layout, 2).copy_to_host(), weight.copy_to_host()) << name;
        }
  // Variables with a common element are refused and unchanged.
  dsl::array<int, 2> m = dsl::ones<int>(4, 8);
  const auto left = m(slice(), slice(0, 3)), middle = m(slice(), slice(2, 5)),
             right = m(slice(), slice(5, 8));
  EXPECT_THROW(dsl::iterate(1, exchange, dsl::state(left, middle), 1), dsl::shape_error);
  EXPECT_THROW(dsl::iterate(1, exchange, dsl::state(left, right), middle), dsl::shape_error);
  EXPECT_EQ(m.copy_to_host(), std::vector<int>(32, 1));
}

// Refused with every strategy: each would give another result.
constexpr auto turn = dsl::vectorize([](auto x, auto y) { return std::tuple{x + y, x - 2 * y}; });
TEST_P(iterate, refuses_a_variable_that_stands_twice) {
  for (const strategy s : {strategy::automatic, strategy::launches, strategy::elementwise,
                           strategy::one_block, strategy::graph}) {
    auto x = dsl::to_device(std::vector<float>{1, 2, 3, 4});
    const auto whole = x.view(), front = from_element(x, 0, 2), back = from_element(x, 2, 2),
               middle = from_element(x, 1, 2);
    EXPECT_THROW(dsl::iterate(3, turn, dsl::state(x, x), s), dsl::shape_error);
    EXPECT_THROW(dsl::iterate(3, turn, dsl::state(whole, whole), s), dsl::shape_error);
    EXPECT_THROW(dsl::iterate(3, turn, dsl::state(front, middle), s), dsl::shape_error);
    EXPECT_THROW(dsl::iterate(3, turn, dsl::state(front, front), s), dsl::shape_error);
    dsl::scalar<float> a = 2.0f, b = 3.0f;
    EXPECT_THROW(dsl::iterate(3, turn, dsl::state(a, a), s), dsl::shape_error);
    EXPECT_THROW(dsl::iterate(3, two_sums, dsl::state(x, a, a), s), dsl::shape_error);
    dsl::array<float> none(0);
    EXPECT_THROW(dsl::iterate(3, two_sums, dsl::state(none, a, a), s), dsl::shape_error);
    // One element is a variable, and so is its array.
    const auto second = x(1).view(), third = x(2).view();
    const auto only = from_element(x, 2, 1);
    EXPECT_THROW(dsl::iterate(3, grow, dsl::state(whole, second), 1.0f, s), dsl::shape_error);
    EXPECT_THROW(dsl::iterate(3, grow, dsl::state(only, third), 1.0f, s), dsl::shape_error);
    EXPECT_EQ(x.copy_to_host(), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(a.value(), 2);
    if (s == strategy::automatic || s == strategy::launches) {
      auto pairs = dsl::to_device(std::vector<float>{1, 3, 2, 4});
      const auto left = from_element(pairs, 0, 2, 2), right = from_element(pairs, 1, 2, 2);
      dsl::iterate(1, turn, dsl::state(left, right), s);  // columns
      EXPECT_EQ(pairs.copy_to_host(), (std::vector<float>{4, -5, 6, -6}));
      dsl::iterate(1, turn, dsl::state(front, back), s);  // adjacent
      EXPECT_EQ(x.copy_to_host(), (std::vector<float>{4, 6, -5, -6}));
      dsl::iterate(2, turn, dsl::state(a, b), s);
      EXPECT_EQ(a.value(), 1);
      EXPECT_EQ(b.value(), 13);
      dsl::iterate(2, grow, dsl::state(front, third), 1.0f,
                   s);  // an element of the same array, outside the variable
      EXPECT_EQ(x.copy_to_host(), (std::vector<float>{6, 8, 12, -6}));
    }
  }
}

TEST_P(iterate, says_what_is_wrong) {
  spring_state s(100);
  EXPECT_THROW(s.run(-1), dsl::shape_error);
  EXPECT_THROW(s.run(1, dsl::every(0)), dsl::shape_error);
  EXPECT_THROW(s.run(1, strategy::elementwise), dsl::device_error);
  EXPECT_EQ(s.x.copy_to_host(), ramp(100));
  EXPECT_EQ(std::get<0>(s.run(0)).size(), 0);
  EXPECT_THROW(spring_state(0).run(3), dsl::shape_error);  // the maximum of no elements
  dsl::array<float> none(0);
  dsl::scalar<float> sum = 5.0f;
  EXPECT_EQ(dsl::iterate(3, grow, dsl::state(none, sum), 1.0f).copy_to_host(),
            (std::vector<float>{0, 0, 0}));
}

TEST_P(iterate, plans_print_their_strategy) {
  spring_state small(10), large(300'000);
  const auto describe = [](spring_state& s, auto... options) {
    return std::string(dsl::plan_of(spring, dsl::state(s.x, s.v, s.total, s.most), 0.1f,
                                    0.1f * dsl::step, options...)
                           .describe()
                           .c_str());
  };
  const bool by_launches = !has_grid();
  EXPECT_NE(describe(small).find(by_launches ? "a launch a step" : "one block"), std::string::npos)
      << describe(small);
  EXPECT_NE(describe(large).find(by_launches   ? "a launch a step"
                                 : simulated() ? "partly on chip"
                                               : "on chip"),
            std::string::npos)
      << describe(large);
}

}  // namespace

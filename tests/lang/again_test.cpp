// Statements that run again on the same operands, which are then checked and planned only once, and
// on operands that only look the same: other values, memory that has come to the same address,
// other sizes in turn, other streams and threads.
#include "../on_device.hpp"

#include <cmath>
#include <thread>

#if defined(__CUDACC__)
#include <cuda_runtime_api.h>
#endif

struct scaled_and_moved {
  float scale;
  double offset;
  DSL_FN float operator()(float x) const { return scale * x + static_cast<float>(offset); }
};

namespace {

struct again : on_device {};
ON_EVERY_DEVICE(again);

using floats = dsl::array<float>;
using numbers = std::vector<float>;

numbers values(std::int64_t n, int first) {
  numbers all(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] =
        static_cast<float>(static_cast<int>(i * 7 + static_cast<std::size_t>(first)) % 23 - 11);
  return all;
}
// The chain of two phases, and what it gives.
template <class Target> void scale(Target&& x, const auto& y, float by = 1) {
  x = by * y / dsl::norm(y);
}
numbers scaled(const numbers& y, float by = 1) {
  double squares = 0;
  for (const float each : y) squares += double{each} * each;
  numbers all;
  for (const float each : y) all.push_back(static_cast<float>(by * each / std::sqrt(squares)));
  return all;
}
void expect_near(const numbers& seen, const numbers& wanted) {
  ASSERT_EQ(seen.size(), wanted.size());
  for (std::size_t i = 0; i < seen.size(); ++i)
    ASSERT_NEAR(seen[i], wanted[i], 1e-5 * (1 + std::abs(wanted[i]))) << i;
}

TEST_P(again, other_values_and_scalars) {
  const std::int64_t n = 1000;
  floats x = dsl::zeros<float>(n), y = dsl::zeros<float>(n);
  dsl::scalar<float> sum = 0.0f;
  for (int round = 0; round < 6; ++round) {
    const numbers in = values(n, round / 2);
    y.copy_from_host(in);
    const auto by = static_cast<float>(round / 3 + 1);
    scale(x, y, by);
    expect_near(x.copy_to_host(), scaled(in, by));
    y = x * by + 1;
    sum = dsl::sum(y);
    double wanted = 0;
    for (const float each : scaled(in, by)) wanted += each * by + 1;
    EXPECT_NEAR(sum.value(), wanted, 1e-2);
  }
}

TEST_P(again, scalars_that_are_equal_or_not) {
  const numbers in = values(300, 6), unit = scaled(in);
  const floats y = dsl::to_device(in);
  floats x = dsl::zeros<float>(300), z = dsl::zeros<float>(300);
  const float pairs[][2] = {{2, 2}, {2, 2}, {2, 2}, {3, 3}, {3, 4}, {3, 4},
                            {3, 4}, {4, 3}, {5, 6}, {6, 6}, {6, 6}, {6, 6}};
  for (const auto& [p, q] : pairs) {
    z = p * y + q;
    x = p * y / dsl::norm(y) + q;
    const numbers maps = z.copy_to_host(), chains = x.copy_to_host();
    for (std::size_t i = 0; i < 300; ++i) {
      ASSERT_FLOAT_EQ(maps[i], p * in[i] + q);
      ASSERT_NEAR(chains[i], p * unit[i] + q, 1e-4);
    }
  }
}

// A functor's members are values of the statement.
TEST_P(again, functors_with_other_members) {
  const floats x = dsl::ones<float>(1000);
  floats y = dsl::zeros<float>(1000), z = dsl::zeros<float>(1000);
  const scaled_and_moved all[] = {{1, 0}, {1, 0}, {2, 0}, {2, 3}, {3, 3}, {3, 3}, {4, 5}};
  for (const scaled_and_moved& f : all) {
    y = dsl::vectorize(f)(x);
    z = dsl::vectorize(f)(x) - dsl::mean(x);
    const float wanted = f.scale + static_cast<float>(f.offset);
    EXPECT_EQ(y.copy_to_host(), numbers(1000, wanted));
    EXPECT_EQ(z.copy_to_host(), numbers(1000, wanted - 1));
  }
}

// Other statements with the same first pass, on the same operands.
TEST_P(again, statements_that_begin_alike) {
  const numbers in = values(500, 3), unit = scaled(in);
  const floats y = dsl::to_device(in);
  floats x = dsl::zeros<float>(500);
  for (int round = 0; round < 4; ++round) {
    scale(x, y);
    expect_near(x.copy_to_host(), unit);
    x = y - y / dsl::norm(y);
    const numbers seen = x.copy_to_host();
    for (std::size_t i = 0; i < 500; ++i) ASSERT_NEAR(seen[i], in[i] - unit[i], 1e-4);
  }
}

TEST_P(again, many_sizes_and_layouts_in_turn) {
  const std::int64_t most = 3000;
  const numbers in = values(most, 3);
  const floats y = dsl::to_device(in);
  floats x = dsl::zeros<float>(most);
  for (int round = 0; round < 4; ++round)
    for (const std::int64_t n : {1, 31, 32, 33, 255, 256, 257, 1000, 1021, 2049, 2999})
      for (const std::int64_t first : {0, 1}) {
        auto part = x(dsl::slice(first, first + n));
        scale(part, y(dsl::slice(first, first + n)));
        const numbers of(in.begin() + first, in.begin() + first + n);
        if (round > 1) expect_near(dsl::eval(part + 0).copy_to_host(), scaled(of));
      }
}

TEST_P(again, rows_and_columns_of_one_matrix) {
  const numbers in = values(64 * 64, 5);
  dsl::array<float, 2> m = dsl::reshape(dsl::to_device(in), 64, 64),
                       out = dsl::zeros<float>(64, 64);
  numbers first[2];
  for (int round = 0; round < 4; ++round)
    for (const int k : {0, 1}) {
      out = m / dsl::norm(m, dsl::axis(k), dsl::keep_dims);
      const numbers seen = out.copy_to_host();
      if (round == 0) first[k] = seen;
      else ASSERT_EQ(seen, first[k]) << "bits of round " << round;
      double squares = 0;
      for (std::size_t i = 0; i < 64; ++i) {
        const double each = in[k == 0 ? 64 * i : i];
        squares += each * each;
      }
      ASSERT_NEAR(seen[0], in[0] / std::sqrt(squares), 1e-5);
    }
}

TEST_P(again, memory_at_an_address_that_others_had) {
  for (int round = 0; round < 8; ++round) {
    const std::int64_t n = 500 + round / 4;
    const numbers in = values(n, round);
    const floats y = dsl::to_device(in);
    floats x;
    scale(x, y);
    expect_near(x.copy_to_host(), scaled(in));
    const floats sum = y + x;
    EXPECT_FLOAT_EQ(sum(3).value(), in[3] + scaled(in)[3]);
  }
}

TEST_P(again, targets_that_are_read) {
  numbers now = values(777, 1), shifted = now;
  floats y = dsl::to_device(now), z = dsl::to_device(shifted);
  for (int round = 0; round < 4; ++round) {
    scale(y, y, 2);
    now = scaled(now, 2);
    auto behind = z(dsl::slice(1, 777));
    scale(behind, z(dsl::slice(0, 776)), 2);
    const numbers left = scaled({shifted.begin(), shifted.end() - 1}, 2);
    std::copy(left.begin(), left.end(), shifted.begin() + 1);
  }
  expect_near(y.copy_to_host(), now);
  expect_near(z.copy_to_host(), shifted);
}

TEST_P(again, mistakes_between) {
  const numbers in = values(100, 2);
  const floats y = dsl::to_device(in), other = dsl::ones<float>(99);
  floats x = dsl::zeros<float>(100), small = dsl::full<float>(7, 99);
  for (int round = 0; round < 3; ++round) {
    scale(x, y);
    EXPECT_THROW(scale(small, y), dsl::shape_error);
    if (has_grid())
      EXPECT_THROW(dsl::assign(x, y / dsl::norm(y), {.block = 33}), dsl::device_error);
    EXPECT_EQ(small.copy_to_host(), numbers(99, 7));
    scale(small, other, 3);
    EXPECT_NEAR(small(0).value(), 3 / std::sqrt(99.0), 1e-5);
    small = dsl::full<float>(7, 99);
    expect_near(x.copy_to_host(), scaled(in));
  }
}

// Threads run the same statement at the same time, on a stream each or all on one.
TEST_P(again, streams_and_threads) {
  const numbers in = values(2000, 4), wanted = scaled(in);
  const floats y = dsl::to_device(in);
  const dsl::device where = dsl::device::current();
  where.synchronize();
  for (const bool together : {false, true}) {
    const dsl::stream common(where);
    std::vector<numbers> seen(3);
    std::vector<std::thread> threads;
    for (numbers& mine : seen)
      threads.emplace_back([&, together] {
        const dsl::device_guard on(where);
        const dsl::stream own(where);
        const dsl::stream_guard queue(together ? common : own);
        floats x = dsl::zeros<float>(2000);
        dsl::array<float, 2> rows = dsl::zeros<float>(20, 100);
        for (int round = 0; round < 30; ++round) {
          scale(x, y);
          // Two launches with a value between them: the sum of another shape.
          rows = dsl::reshape(x, 20, 100) + 0 * dsl::sum(y);
        }
        mine = rows.copy_to_host();
      });
    for (std::thread& each : threads) each.join();
    for (const numbers& each : seen) expect_near(each, wanted);
  }
}

#if defined(__CUDACC__)
// A statement that has run before is captured into a graph of the program's.
TEST_P(again, in_a_captured_graph) {
  if (dsl::device::current().kind != dsl::backend::cuda || std::getenv("DSL_TEST_MESH") != nullptr)
    GTEST_SKIP();
  const dsl::stream s(dsl::device::current());
  const dsl::stream_guard on(s);
  for (const std::int64_t n : {1000, 100'000, 2'000'000}) {
    floats x = dsl::zeros<float>(n), y = dsl::to_device(values(n, 0)), z = dsl::zeros<float>(n);
    const auto work = [&] {
      scale(x, y);
      z = x + dsl::sum(dsl::reshape(y, 2, n / 2));
    };
    for (int round = 0; round < 3; ++round) work();
    s.synchronize();
    const auto native = static_cast<cudaStream_t>(s.native());
    cudaGraph_t graph{};
    cudaGraphExec_t ready{};
    ASSERT_EQ(cudaStreamBeginCapture(native, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    work();
    ASSERT_EQ(cudaStreamEndCapture(native, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
    for (int round = 0; round < 3; ++round) {
      const numbers in = values(n, round);
      y.copy_from_host(in);
      ASSERT_EQ(cudaGraphLaunch(ready, native), cudaSuccess);
      work();
      ASSERT_EQ(cudaGraphLaunch(ready, native), cudaSuccess);
      const numbers wanted = scaled(in);
      expect_near(x.copy_to_host(), wanted);
      double sum = 0;
      for (const float each : in) sum += each;
      EXPECT_NEAR(z(5).value(), wanted[5] + sum, 1e-5 * (1 + std::abs(sum)));
    }
    s.synchronize();
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
  }
}
#endif

}  // namespace

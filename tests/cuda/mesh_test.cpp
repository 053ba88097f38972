// Two GPUs as one device. Without two that reach each other there is nothing to see.
#include <dsl/dsl.hpp>
#include <dsl/scan.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace {

const int timeout = setenv("DSL_TIMEOUT", "2", 1);  // before the library reads it, once

struct mesh_loop;
struct feedback {
  template <class X, class S> constexpr auto operator()(X x, S s) const {
    const auto next = x + 0.5f * (s - x);
    return std::tuple{next, dsl::mean(next)};
  }
};

// Holds all of a GPU's multiprocessors for a while.
__global__ void occupy(unsigned long long nanoseconds) {
  extern __shared__ unsigned char all[];
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < nanoseconds);
  if (nanoseconds == 1) all[0] = 0;
}

class mesh_test : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0, reach = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2 || cudaDeviceCanAccessPeer(&reach, 0, 1) != cudaSuccess ||
        reach == 0)
      GTEST_SKIP() << "no two GPUs that reach each other's memory";
  }
  static std::vector<float> numbers(std::int64_t n) {
    std::vector<float> all(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i % 8191);
    return all;
  }
};

// What members compute of their own elements is cut at other places than memory and copies are.
TEST_F(mesh_test, copies_and_maps_follow_each_other) {
  const dsl::device_guard on("cuda:0-1");
  for (const std::int64_t n : {3'000'001, 4'194'304, 5'555'557}) {
    const std::vector<float> given = numbers(n);
    dsl::array<float> x(n), y(n);
    for (int round = 0; round < 20; ++round) {
      x = dsl::to_device(given);
      y = x + static_cast<float>(round);
      x = 2 * y;
      const std::vector<float> seen = x.copy_to_host();
      std::int64_t wrong = 0;
      for (std::size_t i = 0; i < seen.size(); ++i) wrong += seen[i] != 2 * (given[i] + static_cast<float>(round));
      ASSERT_EQ(wrong, 0) << n << " elements, round " << round;
    }
  }
}

TEST_F(mesh_test, sums_of_rows_columns_and_all_are_those_of_one) {
  const std::int64_t rows = 2053, columns = 3001;
  const auto sums = [&](const char* where) {
    const dsl::device_guard on(where);
    dsl::array<double, 2> m = dsl::reshape(dsl::arange<double>(rows * columns) / 1000, rows, columns);
    dsl::array<double> r = dsl::sum(m, dsl::axis(1)), c = dsl::sum(m, dsl::axis(0));
    dsl::scalar<double> all = dsl::sum(m), least = dsl::min(m);
    return std::tuple{r.copy_to_host(), c.copy_to_host(), all.value(), least.value()};
  };
  const auto [r1, c1, all1, least1] = sums("cuda:0");
  const auto [r2, c2, all2, least2] = sums("cuda:0-1");
  for (std::size_t i = 0; i < r1.size(); ++i) ASSERT_NEAR(r1[i], r2[i], 1e-12 * r1[i]) << "row " << i;
  for (std::size_t i = 0; i < c1.size(); ++i) ASSERT_NEAR(c1[i], c2[i], 1e-12 * c1[i]) << "column " << i;
  EXPECT_NEAR(all1, all2, 1e-12 * all1);
  EXPECT_EQ(least1, least2);
  EXPECT_EQ(all2, std::get<2>(sums("cuda:0-1"))) << "the same from run to run";
}

TEST_F(mesh_test, streams_of_several_threads) {
  const std::int64_t n = 3'000'017;
  const std::vector<float> given = numbers(n);
  std::vector<std::thread> threads;
  std::vector<std::int64_t> wrong(4, -1);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const dsl::device_guard on("cuda:0-1");
      const dsl::stream own;
      const dsl::stream_guard queued(own);
      dsl::array<float> x = dsl::to_device(given);
      dsl::scalar<float> mean = dsl::mean(x);
      for (int k = 0; k < 5; ++k) dsl::iterate(10, dsl::vectorize<mesh_loop>(feedback{}), dsl::state(x, mean));
      dsl::array<float> y = x + static_cast<float>(t);
      const std::vector<float> a = x.copy_to_host(), b = y.copy_to_host();
      wrong[static_cast<std::size_t>(t)] = 0;
      for (std::size_t i = 0; i < a.size(); ++i) wrong[static_cast<std::size_t>(t)] += b[i] != a[i] + static_cast<float>(t);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<std::int64_t>(4, 0));
}

// A member whose blocks do not come: all of its GPU is taken by another kernel, for longer than is waited.
TEST_F(mesh_test, a_gpu_that_does_not_answer_is_an_error_that_names_it) {
  const dsl::device_guard on("cuda:0-1");
  const std::int64_t n = 4'000'037;
  dsl::array<float> x = dsl::to_device(numbers(n));
  dsl::scalar<float> mean = dsl::mean(x);
  const auto step = dsl::vectorize<mesh_loop>(feedback{});
  dsl::iterate(3, step, dsl::state(x, mean));
  dsl::device::current().synchronize();

  int shared = 0, blocks = 0;
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 1), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 1), cudaSuccess);
  ASSERT_EQ(cudaFuncSetAttribute(occupy, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), cudaSuccess);
  cudaStream_t beside{};
  ASSERT_EQ(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking), cudaSuccess);
  occupy<<<blocks, 1024, shared, beside>>>(8'000'000'000);
  ASSERT_EQ(cudaGetLastError(), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);

  const auto begin = std::chrono::steady_clock::now();
  std::string error;
  try {
    dsl::iterate(100, step, dsl::state(x, mean));
    dsl::device::current().synchronize();
  } catch (const dsl::cuda_error& e) {
    error = e.what();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_NE(error.find("cuda:1 did not come to step 0"), std::string::npos) << error;
  EXPECT_NE(error.find("mesh_loop"), std::string::npos) << error;
  EXPECT_LT(seconds, 15);
  EXPECT_EQ(timeout, 0);
  std::printf("%s (%.1f s)\n", error.c_str(), seconds);
  cudaStreamDestroy(beside);

  // And then everything works as before.
  x = dsl::to_device(numbers(n));
  mean = dsl::mean(x);
  dsl::iterate(100, step, dsl::state(x, mean));
  EXPECT_NEAR(mean.value(), dsl::scalar<float>(dsl::mean(x)).value(), 1);
}

TEST_F(mesh_test, names_and_errors) {
  EXPECT_EQ(dsl::device("cuda:0-1").name(), "cuda:0-1");
  EXPECT_EQ(dsl::device("cuda:1,0").name(), "cuda:1,0");
  const dsl::device mesh("cuda:0-1");
  EXPECT_EQ(dsl::properties(mesh).multiprocessors,
            dsl::properties(dsl::device("cuda:0")).multiprocessors + dsl::properties(dsl::device("cuda:1")).multiprocessors);
  const dsl::device_guard on(mesh);
  try {
    const dsl::array<float> too_large(std::int64_t{1} << 40);
    ADD_FAILURE() << "no error";
  } catch (const dsl::memory_error& e) {
    EXPECT_NE(std::string(e.what()).find("out of memory on cuda:0-1"), std::string::npos) << e.what();
  }
  {
    const dsl::array<float> large(std::int64_t{1} << 28);
    EXPECT_GE(dsl::memory_usage_of(mesh).used, std::size_t{1} << 30);
  }
  dsl::release_memory(mesh);
  EXPECT_LT(dsl::memory_usage_of(mesh).reserved, std::size_t{1} << 30);
}

}  // namespace

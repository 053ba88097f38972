// Two GPUs as one device. Skipped without two GPUs with peer access.
#include <dsl/dsl.hpp>
#include <dsl/mem/marker.hpp>
#include <dsl/scan.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

// before the library reads it, which it does once
const int timeout = setenv("DSL_TIMEOUT", "1", 1);

struct mesh_loop;
struct feedback {
  template <class X, class S> constexpr auto operator()(X x, S s) const {
    const auto next = x + 0.5f * (s - x);
    return std::tuple{next, dsl::mean(next)};
  }
};

// Holds all of a GPU's multiprocessors until the host says otherwise.
__global__ void occupy(const volatile int* go_on) {
  extern __shared__ unsigned char all[];
  while (*go_on == 0) __nanosleep(1000);
  if (*go_on == 2) all[0] = 0;
}
class occupied_gpu {
 public:
  explicit occupied_gpu(int gpu) {
    int shared = 0, blocks = 0;
    EXPECT_EQ(cudaHostAlloc(&go_on_, sizeof *go_on_, cudaHostAllocPortable), cudaSuccess);
    *go_on_ = 0;
    EXPECT_EQ(cudaSetDevice(gpu), cudaSuccess);
    EXPECT_EQ(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu),
              cudaSuccess);
    EXPECT_EQ(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, gpu), cudaSuccess);
    EXPECT_EQ(cudaFuncSetAttribute(occupy, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
              cudaSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&beside_, cudaStreamNonBlocking), cudaSuccess);
    occupy<<<blocks, 1024, shared, beside_>>>(go_on_);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  }
  ~occupied_gpu() {
    release();
    cudaStreamSynchronize(beside_);
    cudaStreamDestroy(beside_);
    cudaFreeHost(go_on_);
  }
  occupied_gpu(const occupied_gpu&) = delete;
  void release() { *static_cast<volatile int*>(go_on_) = 1; }

 private:
  int* go_on_ = nullptr;
  cudaStream_t beside_{};
};

class mesh_test : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0, reach = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2 ||
        cudaDeviceCanAccessPeer(&reach, 0, 1) != cudaSuccess || reach == 0)
      GTEST_SKIP() << "no two GPUs that reach each other's memory";
  }
  static std::vector<float> numbers(std::int64_t n) {
    std::vector<float> all(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i % 8191);
    return all;
  }
};

// Elements are divided among members at other boundaries than memory and copies.
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
      for (std::size_t i = 0; i < seen.size(); ++i)
        wrong += seen[i] != 2 * (given[i] + static_cast<float>(round));
      ASSERT_EQ(wrong, 0) << n << " elements, round " << round;
    }
  }
}

TEST_F(mesh_test, sums_of_rows_columns_and_all_are_those_of_one) {
  const std::int64_t rows = 2053, columns = 3001;
  const auto sums = [&](const char* where) {
    const dsl::device_guard on(where);
    dsl::array<double, 2> m =
        dsl::reshape(dsl::arange<double>(rows * columns) / 1000, rows, columns);
    dsl::array<double> r = dsl::sum(m, dsl::axis(1)), c = dsl::sum(m, dsl::axis(0));
    dsl::scalar<double> all = dsl::sum(m), least = dsl::min(m);
    return std::tuple{r.copy_to_host(), c.copy_to_host(), all.value(), least.value()};
  };
  const auto [r1, c1, all1, least1] = sums("cuda:0");
  const auto [r2, c2, all2, least2] = sums("cuda:0-1");
  for (std::size_t i = 0; i < r1.size(); ++i)
    ASSERT_NEAR(r1[i], r2[i], 1e-12 * r1[i]) << "row " << i;
  for (std::size_t i = 0; i < c1.size(); ++i)
    ASSERT_NEAR(c1[i], c2[i], 1e-12 * c1[i]) << "column " << i;
  EXPECT_NEAR(all1, all2, 1e-12 * all1);
  EXPECT_EQ(least1, least2);
  EXPECT_EQ(all2, std::get<2>(sums("cuda:0-1"))) << "the same from run to run";
}

// Rows that cross from one GPU to the next, and rows that do not. Scans and sums alternate because
// they use the same memory.
TEST_F(mesh_test, scans_go_on_from_one_gpu_to_the_next) {
  const dsl::device_guard on("cuda:0-1");
  for (const auto& [rows, columns] :
       {std::pair{1, 5'000'011}, {3, 2'000'003}, {4099, 1031}, {2, 4'194'304}}) {
    dsl::array<std::int64_t, 2> m =
        dsl::reshape(dsl::arange<std::int64_t>(std::int64_t{rows} * columns) % 1009, rows, columns);
    const dsl::array<std::int64_t> flat = dsl::reshape(m, std::int64_t{rows} * columns);
    const std::vector<std::int64_t> given = flat.copy_to_host();
    for (int round = 0; round < 3; ++round) {
      const dsl::array<std::int64_t> all = dsl::cumsum(flat);
      const dsl::scalar<std::int64_t> total = dsl::sum(flat);
      const dsl::array<std::int64_t, 2> along = dsl::cumsum(m, dsl::axis(1));
      const dsl::array<std::int64_t> last = dsl::sum(m, dsl::axis(1));
      const std::vector<std::int64_t> a = all.copy_to_host(), b = along.copy_to_host(),
                                      c = last.copy_to_host();
      std::int64_t wrong = 0, sum = 0, of_row = 0;
      for (std::size_t i = 0; i < given.size(); ++i) {
        if (i % static_cast<std::size_t>(columns) == 0) of_row = 0;
        wrong += a[i] != (sum += given[i]);
        wrong += b[i] != (of_row += given[i]);
        if ((i + 1) % static_cast<std::size_t>(columns) == 0)
          wrong += c[i / static_cast<std::size_t>(columns)] != of_row;
      }
      ASSERT_EQ(wrong, 0) << rows << " x " << columns << ", round " << round;
      ASSERT_EQ(total.value(), sum);
    }
  }
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
      for (int k = 0; k < 5; ++k)
        dsl::iterate(10, dsl::vectorize<mesh_loop>(feedback{}), dsl::state(x, mean));
      dsl::array<float> y = x + static_cast<float>(t);
      const std::vector<float> a = x.copy_to_host(), b = y.copy_to_host();
      wrong[static_cast<std::size_t>(t)] = 0;
      for (std::size_t i = 0; i < a.size(); ++i)
        wrong[static_cast<std::size_t>(t)] += b[i] != a[i] + static_cast<float>(t);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<std::int64_t>(4, 0));
}

// Steps run in order, whatever a graph's kernels on two GPUs wait for. Integers, compared with the
// host's.
template <int Beside> struct mixing {
  template <class X, class S, class K> constexpr auto operator()(X x, S s, K k) const {
    auto next = (x * 5 + s + k) & 1023;
    if constexpr (Beside > 0) next = (next + dsl::shift(x, Beside, dsl::boundary::wrap, 0)) & 1023;
    return std::tuple{next, dsl::sum(next)};
  }
};
template <int Beside> void graphs_run_all_steps() {
  const std::int64_t n = 1'100'003, steps = 200;
  const auto run = [&](const char* where, dsl::strategy how) {
    const dsl::device_guard on(where);
    dsl::array<std::int64_t> x = dsl::arange<std::int64_t>(n);
    dsl::scalar<std::int64_t> total = std::int64_t{1}, ran;
    const auto step = dsl::vectorize(mixing<Beside>{});
    const dsl::array<std::int64_t> first =
        dsl::iterate(steps, step, dsl::state(x, total), dsl::step, how);
    const dsl::array<std::int64_t> second =
        dsl::iterate(steps, step, dsl::state(x, total), dsl::step, dsl::until(total % 16 == 0, ran),
                     dsl::every(3), how);
    return std::tuple{first.copy_to_host(), second.copy_to_host(), x.copy_to_host(), ran.value()};
  };
  const auto want = run("host", dsl::strategy::launches);
  EXPECT_EQ(run("cuda:0-1", dsl::strategy::graph), want);
  EXPECT_EQ(run("cuda:0-1", dsl::strategy::launches), want);
}
TEST_F(mesh_test, graphs_run_all_steps) { graphs_run_all_steps<0>(); }
TEST_F(mesh_test, graphs_read_neighbours_of_the_other_gpu) { graphs_run_all_steps<700'000>(); }

// Views of the first GPU's part, of the second GPU's, and of memory that only the first one has.
TEST_F(mesh_test, views_of_pointers_into_its_arrays_are_the_meshs) {
  const dsl::device_guard on("cuda:0-1");
  const std::int64_t n = 3'000'001;
  dsl::array<float> x = dsl::to_device(numbers(n)), y(n), few = dsl::full<float>(4, 1000);
  EXPECT_EQ(dsl::device_of(x.data()).name(), "cuda:0-1");
  EXPECT_EQ(dsl::device_of(x.data() + n - 1).name(), "cuda:0-1");
  EXPECT_EQ(dsl::device_of(few.data() + 999).name(), "cuda:0-1");
  const dsl::view all(x.data(), n), last(x.data() + n - 5, 5), small(few.data(), 1000);
  y = 2 * all + all;
  small = 2 * small + small;
  last = 2 * last + last;
  const std::vector<float> seen = y.copy_to_host(), after = x.copy_to_host(), given = numbers(n);
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < seen.size(); ++i)
    wrong += seen[i] != 3 * given[i] || after[i] != (i + 5 < seen.size() ? 1 : 3) * given[i];
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(few.copy_to_host(), std::vector<float>(1000, 12));
  EXPECT_THROW((void)dsl::view(x.data(), n, dsl::device("cuda:0")), dsl::device_error);
}

// A member whose blocks never start: another kernel occupies its whole GPU for longer than the
// timeout.
struct unanswered : mesh_test {
  void SetUp() override {
    mesh_test::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(timeout, 0);
    on.emplace("cuda:0-1");
    start();
    iterate(3);
    dsl::device::current().synchronize();
  }
  void start() {
    x.emplace(dsl::to_device(numbers(n)));
    mean.emplace(dsl::mean(*x));
  }
  void iterate(std::int64_t steps) {
    dsl::iterate(steps, dsl::vectorize<mesh_loop>(feedback{}), dsl::state(*x, *mean));
  }
  template <class Work> void fails(const Work& work, double least, double most, const char* says) {
    const auto begin = std::chrono::steady_clock::now();
    std::string error;
    try {
      work();
    } catch (const dsl::cuda_error& e) {
      error = e.what();
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_NE(error.find("cuda:1 did not come to step 0 within 1 s"), std::string::npos) << error;
    EXPECT_NE(error.find(says), std::string::npos) << error;
    EXPECT_NE(error.find("mesh_loop"), std::string::npos) << error;
    EXPECT_GT(seconds, least);
    EXPECT_LT(seconds, most);
    std::printf("%s (%.2f s)\n", error.c_str(), seconds);
  }
  // The mesh works as before; so does the failed statement's target.
  void works_again() {
    iterate(100);
    (void)x->copy_to_host();
    *x = dsl::to_device(numbers(n));
    *mean = dsl::mean(*x);
    iterate(100);
    EXPECT_NEAR(mean->value(), dsl::scalar<float>(dsl::mean(*x)).value(), 1);
  }
  static constexpr std::int64_t n = 4'000'037;
  std::optional<dsl::device_guard> on;
  std::optional<dsl::array<float>> x;
  std::optional<dsl::scalar<float>> mean;
};

TEST_F(unanswered, a_gpu_that_comes_late_is_an_error_that_names_it) {
  occupied_gpu busy(1);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    busy.release();
  });
  fails(
      [&] {
        iterate(100);
        dsl::device::current().synchronize();
      },
      1.4, 2, "Its results mean nothing");
  later.join();
  works_again();
}

// The wait times out before the GPU is free, for every kind of wait.
TEST_F(unanswered, a_gpu_that_never_comes_is_an_error_that_names_it) {
  {
    occupied_gpu busy(1);
    const char* const says = "cuda:1 has not ended after as long again";
    iterate(100);
    fails([&] { (void)mean->value(); }, 1.9, 3, says);
    fails([&] { dsl::device::current().synchronize(); }, 0.9, 2, says);
    const dsl::detail::marker behind(dsl::stream::current(dsl::device::current()));
    fails([&] { behind.wait(); }, 0.9, 2, says);
  }
  works_again();
}

TEST_F(mesh_test, names_and_errors) {
  EXPECT_EQ(dsl::device("cuda:0-1").name(), "cuda:0-1");
  EXPECT_EQ(dsl::device("cuda:1,0").name(), "cuda:1,0");
  const dsl::device mesh("cuda:0-1");
  EXPECT_EQ(dsl::properties(mesh).multiprocessors,
            dsl::properties(dsl::device("cuda:0")).multiprocessors +
                dsl::properties(dsl::device("cuda:1")).multiprocessors);
  const dsl::device_guard on(mesh);
  try {
    const dsl::array<float> too_large(std::int64_t{1} << 40);
    ADD_FAILURE() << "no error";
  } catch (const dsl::memory_error& e) {
    EXPECT_NE(std::string(e.what()).find("out of memory on cuda:0-1"), std::string::npos)
        << e.what();
  }
  {
    const dsl::array<float> large(std::int64_t{1} << 28);
    EXPECT_GE(dsl::memory_usage_of(mesh).used, std::size_t{1} << 30);
  }
  dsl::release_memory(mesh);
  EXPECT_LT(dsl::memory_usage_of(mesh).reserved, std::size_t{1} << 30);
}

}  // namespace

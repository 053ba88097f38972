// Profiler ranges as a tool sees them. The tool is injection.cpp; without a tool no range is
// described.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <dsl/dsl.hpp>
#include <dsl/scan.hpp>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "mem/profiling.hpp"
#include "recorded.hpp"

struct axpy;

namespace {

// NVTX looks for a tool once, in the first call.
[[maybe_unused]] const bool has_tool = setenv("NVTX_INJECTION64_PATH", INJECTION, 1) == 0;

const std::vector<recorded_range>& recorded() {
  void* const tool = dlopen(INJECTION, RTLD_NOW);
  void* const function = tool == nullptr ? nullptr : dlsym(tool, "recorded_ranges");
  if (function == nullptr) throw std::runtime_error("the tool is not there");
  return *reinterpret_cast<recorded_ranges_function>(function)();
}

// Returns the ranges recorded since the last call.
std::vector<recorded_range> new_ranges() {
  static std::size_t seen = 0;
  const std::vector<recorded_range>& all = recorded();
  std::vector<recorded_range> fresh(all.begin() + static_cast<std::ptrdiff_t>(seen), all.end());
  seen = all.size();
  for (const recorded_range& r : fresh) {
    EXPECT_EQ(r.domain, "dsl");
    EXPECT_TRUE(r.is_closed) << r.message;
  }
  return fresh;
}

using fields = std::vector<std::pair<std::string, std::int64_t>>;
fields numbers(std::int64_t elements, std::int64_t steps, std::int64_t bytes, std::int64_t flops) {
  return {{"elements", elements}, {"steps", steps}, {"bytes", bytes}, {"flops", flops}};
}

class ranges_on : public testing::TestWithParam<const char*> {
 protected:
  dsl::device_guard guard{dsl::device(GetParam())};
  std::string device = GetParam();
};

TEST_P(ranges_on, transfers) {
  new_ranges();
  dsl::array<float> x = dsl::to_device(std::vector<float>(1000, 1.0f));
  dsl::array<float> y = x;
  y = dsl::full<float>(2.5f, 1000);
  EXPECT_EQ(y.copy_to_host()[999], 2.5f);
  std::vector<std::string> messages;
  for (const recorded_range& r : new_ranges()) {
    messages.push_back(r.message);
    EXPECT_EQ(r.payload, numbers(0, 1, 4000, 0)) << r.message;
  }
  EXPECT_EQ(messages.front(), "copy from the host to " + device + " (4 kB)");
  EXPECT_EQ(messages.back(), "copy to the host from " + device + " (4 kB)");
  EXPECT_EQ(std::count(messages.begin(), messages.end(), "copy on " + device + " (4 kB)"), 1);
  EXPECT_EQ(std::count(messages.begin(), messages.end(), "fill on " + device + " (4 kB)"), 1);
}

TEST_P(ranges_on, launches) {
  dsl::array<float> x = dsl::full<float>(1.0f, 1000), y = dsl::full<float>(2.0f, 1000);
  dsl::scalar<float> total = 0.0f;
  new_ranges();
  y = dsl::vectorize<axpy>([](auto a, auto b, auto h) { return a * h + b; })(x, y, 3.0f);
  total = dsl::sum(x * y);
  y = dsl::cumsum(x);
  const std::vector<recorded_range> all = new_ranges();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].message, "axpy (1000 elements, 12 kB, 2 kflop): a * 3 + b");
  EXPECT_EQ(all[0].payload, numbers(1000, 1, 12000, 2000));
  EXPECT_EQ(all[1].message, "sum(a * b) (1000 elements, 8 kB, 2 kflop)");
  EXPECT_EQ(all[1].payload, numbers(1000, 1, 8000, 2000));
  EXPECT_EQ(all[2].message, "scan of a (1000 elements, 8 kB)");
  dsl::array<float> none = x(dsl::slice(0, 0)) + 1;
  EXPECT_TRUE(new_ranges().empty());  // nothing is launched
}

TEST_P(ranges_on, loops) {
  dsl::array<float> x = dsl::full<float>(1.0f, 64);
  dsl::scalar<float> mean = 1.0f;
  new_ranges();
  const auto history = dsl::iterate(5, dsl::vectorize<axpy>([](auto a, auto m) {
                                      auto b = a * 0.5f + m;
                                      return std::tuple{b, dsl::mean(b)};
                                    }),
                                    dsl::state(x, mean));
  std::int64_t steps = 0;
  for (const recorded_range& r : new_ranges()) {
    if (r.depth > 0 || r.message.rfind("axpy (", 0) != 0) continue;
    steps += r.payload.at(1).second;
    EXPECT_EQ(r.payload, numbers(64, r.payload.at(1).second, r.payload.at(1).second * 64 * 8,
                                 r.payload.at(1).second * 64 * 3))
        << r.message;
  }
  EXPECT_EQ(steps, 5);
  EXPECT_EQ(history.copy_to_host().size(), 5u);
  new_ranges();
}

INSTANTIATE_TEST_SUITE_P(, ranges_on, testing::Values("host", "sim"),
                         [](const auto& info) { return std::string(info.param); });

TEST(ranges, end_where_something_is_thrown) {
  const dsl::device_guard guard(dsl::device("sim"));
  dsl::array<float> x = dsl::full<float>(1.0f, 64);
  new_ranges();
  EXPECT_THROW(dsl::assign(x, x + 1, dsl::launch{.block = 7}), dsl::error);
  EXPECT_EQ(new_ranges().size(), 1u);
}

TEST(ranges, of_several_threads) {
  new_ranges();
  const auto work = [](float value) {
    const dsl::device_guard guard(dsl::device("host"));
    dsl::array<float> x = dsl::full<float>(value, 100);
    for (int i = 0; i < 100; ++i) x = x + 1;
  };
  std::thread a(work, 1.0f), b(work, 2.0f);
  a.join();
  b.join();
  int launches = 0;
  for (const recorded_range& r : new_ranges()) {
    launches += r.message == "a + 1 (100 elements, 800 B, 100 flop)" ? 1 : 0;
    EXPECT_EQ(r.depth, 0) << r.message;
  }
  EXPECT_EQ(launches, 200);
}

}  // namespace

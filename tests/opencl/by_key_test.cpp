// Reductions by key on an OpenCL device against the host; the language's own tests run there too.
#include <dsl/by_key.hpp>

#include <cstdint>
#include <random>
#include <vector>

#include "on_opencl.hpp"

namespace {

struct opencl_by_key : on_opencl {
  static constexpr std::int64_t n = 3001;
  static std::vector<std::int32_t> keys(std::int64_t groups) {
    std::mt19937 engine(3);
    std::vector<std::int32_t> all;
    for (std::int64_t i = 0; i < n; ++i)
      all.push_back(static_cast<std::int32_t>(engine() % static_cast<unsigned>(groups)));
    return all;
  }
  static std::vector<float> values() {
    std::vector<float> all;
    for (std::int64_t i = 0; i < n; ++i) all.push_back(0.1f * static_cast<float>(i * 7 % 113));
    return all;
  }
  static void sums_and_counts(std::int64_t groups) {
    const std::vector<std::int32_t> given = keys(groups);
    const std::vector<float> of = values();
    const auto k = dsl::to_device(given);
    const auto x = dsl::to_device(of);
    dsl::array<float> sums, again;
    dsl::array<std::int64_t> counts;
    sums = dsl::sum_by(k, 2 * x, groups);
    again = dsl::sum_by(k, 2 * x, groups);
    counts = dsl::bincount(k, groups);
    std::vector<double> expected(static_cast<std::size_t>(groups));
    std::vector<std::int64_t> number(expected.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto group = static_cast<std::size_t>(given[i]);
      expected[group] += 2 * static_cast<double>(of[i]);
      ++number[group];
    }
    const std::vector<float> got = sums.copy_to_host();
    for (std::size_t g = 0; g < expected.size(); ++g)
      ASSERT_NEAR(got[g], expected[g], 1e-5 * expected[g]) << "group " << g << " of " << groups;
    EXPECT_EQ(counts.copy_to_host(), number);
    EXPECT_EQ(again.copy_to_host(), got) << "the same bits in each run";
  }
};

TEST_F(opencl_by_key, of_few_groups) {
  for (const std::int64_t groups : {1, 5, 300}) sums_and_counts(groups);
}
TEST_F(opencl_by_key, of_more_groups_than_elements) { sums_and_counts(40'000); }

TEST_F(opencl_by_key, of_nothing) {
  const dsl::array<std::int32_t> k(0);
  const dsl::array<float> x(0);
  EXPECT_EQ(dsl::eval(dsl::sum_by(k, x, 3)).copy_to_host(), std::vector<float>(3));
}

}  // namespace

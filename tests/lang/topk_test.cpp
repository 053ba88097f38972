// The largest elements, and percentiles, against sorts of the standard library.
#include <dsl/by_key.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../error_of.hpp"
#include "../on_device.hpp"

namespace {

using largest = on_device;
ON_EVERY_DEVICE(largest);

template <class T>
void expect_largest(const std::vector<T>& host, std::int64_t k) {
  SCOPED_TRACE(std::to_string(k) + " of " + std::to_string(host.size()));
  std::vector<std::int64_t> want(host.size());
  std::iota(want.begin(), want.end(), 0);
  const auto comes_first = [&host](std::int64_t i, std::int64_t j) {
    const T a = host[static_cast<std::size_t>(i)], b = host[static_cast<std::size_t>(j)];
    return a > b || (a != a && b == b);
  };
  std::stable_sort(want.begin(), want.end(), comes_first);
  want.resize(static_cast<std::size_t>(k));
  const auto x = dsl::to_device(host);
  ASSERT_EQ(dsl::argtopk(x, k).copy_to_host(), want);
  const auto values = dsl::topk(x, k).copy_to_host();
  ASSERT_EQ(values.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    const T expected = host[static_cast<std::size_t>(want[i])];
    ASSERT_TRUE(values[i] == expected || (expected != expected && values[i] != values[i])) << i;
  }
}

std::int64_t many() { return 100003; }

TEST_P(largest, of_few_elements) {
  for (const std::int64_t n : {0, 1, 31, 32, 33, 255, 1009, 5000})
    for (const std::int64_t k : {0, 1, 2, 31, 1009})
      if (k <= n) expect_largest(random_floats(n), k);
  expect_largest(random_floats(600), 600);
}

TEST_P(largest, of_many_elements) {
  for (const std::int64_t k : {1, 5, 100, 2000, 60000}) expect_largest(random_floats(many()), k);
}

// In order, in reverse order, of one value, of few values, in periods.
TEST_P(largest, of_elements_in_an_order) {
  const auto n = static_cast<std::size_t>(many());
  std::vector<float> x(n);
  std::iota(x.begin(), x.end(), -50.f);
  expect_largest(x, 40);
  std::reverse(x.begin(), x.end());
  expect_largest(x, 40);
  std::fill(x.begin(), x.end(), 3.f);
  expect_largest(x, 40);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 1000);
  expect_largest(x, 150);
  for (std::size_t i = 0; i < n; ++i) x[i] = i % 3 == 0 ? -0.f : 0.f;
  expect_largest(x, 40);
}

TEST_P(largest, nan_is_the_largest) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                  most = std::numeric_limits<float>::infinity();
  std::vector<float> x = random_floats(many());
  x[77] = x[4000] = x[90000] = nan;
  x[12] = x[60001] = most;
  expect_largest(x, 4);
  expect_largest(x, 50);
  for (std::size_t i = 0; i < x.size(); i += 2) x[i] = nan;
  expect_largest(x, 50);
  std::fill(x.begin(), x.end(), -most);
  expect_largest(x, 50);
}

// The sample has none of the large elements, so that too many reach its bound.
TEST_P(largest, of_elements_that_the_sample_misses) {
  std::vector<float> x = random_floats(many(), 1, 2);
  const dsl::array<std::int64_t> sampled =
      dsl::detail::sampled_positions(dsl::detail::plan_topk(dsl::device::current(), many(), 20));
  for (const std::int64_t i : sampled.copy_to_host()) x[static_cast<std::size_t>(i)] = 0;
  expect_largest(x, 20);
}

TEST_P(largest, of_views_and_expressions) {
  const std::vector<float> host = random_floats(50000);
  const auto x = dsl::to_device(host);
  std::vector<float> odd, negative;
  for (std::size_t i = 1; i < host.size(); i += 2) odd.push_back(host[i]);
  for (const float value : host) negative.push_back(-value);
  const auto want = [](std::vector<float> of) {
    std::sort(of.begin(), of.end(), std::greater<>());
    of.resize(20);
    return of;
  };
  EXPECT_EQ(dsl::topk(x(dsl::slice(1, dsl::end, 2)), 20).copy_to_host(), want(odd));
  EXPECT_EQ(dsl::topk(-x, 20).copy_to_host(), want(negative));
  const auto later = x(dsl::slice(1, dsl::end));
  EXPECT_EQ(dsl::topk(later, 20).copy_to_host(),
            want(std::vector<float>(host.begin() + 1, host.end())));
}

TEST_P(largest, beyond_a_partition_s_place) {
  const auto x = dsl::to_device(std::vector<float>{3, 1, 5, 2, 4});
  const auto parted = dsl::partition(x, 2).copy_to_host();
  EXPECT_EQ(parted[2], 3);
  EXPECT_LT(std::max(parted[0], parted[1]), 3);
  EXPECT_GT(std::min(parted[3], parted[4]), 3);
  EXPECT_EQ(error_of([&] { dsl::partition(x, 5); }), "element 5 of a partition of 5 elements");
  EXPECT_THROW(dsl::partition(x, -1), dsl::shape_error);
}

TEST_P(largest, not_of_fewer_elements) {
  const dsl::array<float> x = dsl::zeros<float>(5);
  EXPECT_EQ(error_of([&] { dsl::topk(x, 7); }), "the 7 largest of 5 elements");
  EXPECT_THROW(dsl::argtopk(x, -1), dsl::shape_error);
}

TEST_P(largest, several_percentiles) {
  const auto x = dsl::to_device(std::vector<float>{3, 1, 4, 1, 5});
  EXPECT_EQ(dsl::percentile(x, {0, 25, 50, 62.5, 100}).copy_to_host(),
            (std::vector<float>{1, 1, 3, 3.5, 5}));
  for (const double p : {0.0, 12.0, 99.0})
    EXPECT_EQ(dsl::percentile(x, {p}).copy_to_host()[0], dsl::percentile(x, p).value());
  EXPECT_EQ(dsl::percentile(x, {}).size(), 0);
  EXPECT_EQ(error_of([&] { dsl::percentile(x, {50, 101}); }),
            error_of([&] { dsl::percentile(x, 101); }));
  EXPECT_THROW(dsl::percentile(dsl::zeros<float>(0), {50}), dsl::shape_error);
}

}  // namespace

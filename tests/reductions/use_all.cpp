// Further tests of reductions in programs.
#include "use.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

namespace {

TEST_P(reduction_use, operator_with_and_without_init) {
  for (const std::int64_t n : {1, 2, 33, 1000, 20'000})
    EXPECT_EQ(dsl::reduce(larger)(dsl::to_device(counting(n))).value(), n);
  // A weak init does not change the dtype.
  static_assert(
      std::is_same_v<
          decltype(dsl::eval(dsl::reduce(plus, 0.5)(std::declval<dsl::array<float>>())).value()),
          float>);
  EXPECT_EQ(dsl::reduce(plus, 0.5)(dsl::to_device(std::vector<float>{1, 2, 4})).value(), 7.5f);
}

// int16 accumulates values whose int8 sum would wrap.
TEST_P(reduction_use, accumulator) {
  const auto a = dsl::full<std::int8_t>(127, 1000);
  const dsl::scalar<std::int16_t> wrapped = dsl::sum<std::int16_t>(a);
  EXPECT_EQ(wrapped.value(), static_cast<std::int16_t>(127'000));
  const dsl::scalar<float> in_float =
      dsl::sum<float>(dsl::full<dsl::half>(dsl::half(60'000.0f), 4));  // beyond float16
  EXPECT_EQ(in_float.value(), 240'000.0f);
}

// The target of one reduction is an operand of another over a different index space.
TEST_P(reduction_use, into_what_another_reduces) {
  auto m = counting(3, 5, 1);
  auto v = dsl::to_device(counting(5));
  dsl::scalar<std::int64_t> s = std::int64_t{7};
  dsl::tie(v, s) = std::tuple{dsl::sum(m, dsl::axis(0)), dsl::sum(v)};
  EXPECT_EQ(s.value(), 15);
  EXPECT_EQ(v.copy_to_host(), (std::vector<std::int64_t>{18, 21, 24, 27, 30}));
}

TEST_P(reduction_use, several_at_once) {
  const auto m = counting(40, 30, -600);
  dsl::scalar<std::int64_t> lowest, highest, at;
  dsl::scalar<double> mean;
  dsl::tie(lowest, highest, mean, at) =
      std::tuple{dsl::min(m), dsl::max(m), dsl::mean(m), dsl::argmax(m)};
  EXPECT_EQ(lowest.value(), -600);
  EXPECT_EQ(highest.value(), 599);
  EXPECT_EQ(mean.value(), -0.5);
  EXPECT_EQ(at.value(), 1199);
  dsl::array<std::int64_t> sums, most;
  dsl::tie(sums, most) = std::tuple{dsl::sum(m, dsl::axis(0)), dsl::max(m, dsl::axis(0))};
  const auto got_sums = sums.copy_to_host(), got_most = most.copy_to_host();
  for (std::int64_t j = 0; j < 30; ++j) {
    EXPECT_EQ(got_sums[static_cast<std::size_t>(j)], 40 * (j - 600) + 30 * 780);
    EXPECT_EQ(got_most[static_cast<std::size_t>(j)], j - 600 + 39 * 30);
  }
}

TEST_P(reduction_use, beside_arrays) {
  const auto f = dsl::vectorize([](auto x, auto y) {
    return std::tuple{x * y, dsl::sum(x * y), dsl::max(x), dsl::mean(y), dsl::any(x > 998)};
  });
  const auto a = dsl::to_device(counting(1000, 0)), b = dsl::to_device(counting(1000, 1));
  dsl::array<std::int64_t> products;
  dsl::scalar<std::int64_t> sum, largest;
  dsl::scalar<double> mean;
  dsl::scalar<bool> reached;
  dsl::tie(products, sum, largest, mean, reached) = f(a, b);
  const auto got = products.copy_to_host();
  for (std::int64_t i = 0; i < 1000; ++i) ASSERT_EQ(got[static_cast<std::size_t>(i)], i * (i + 1));
  EXPECT_EQ(sum.value(), std::accumulate(got.begin(), got.end(), std::int64_t{0}));
  EXPECT_EQ(largest.value(), 999);
  EXPECT_EQ(mean.value(), 500.5);
  EXPECT_TRUE(reached.value());
}

TEST_P(reduction_use, softmax_and_reductions_of_reductions) {
  const auto host = random_floats(3000);
  const auto x = dsl::to_device(host);
  double squares = 0, largest = -9, exps = 0;
  for (const float v : host) {
    squares += double(v) * v;
    largest = std::max(largest, double(v));
  }
  for (const float v : host) exps += std::exp(v - largest);

  const auto softmax =
      dsl::array<float>(exp(x - dsl::max(x)) / dsl::sum(exp(x - dsl::max(x)))).copy_to_host();
  const dsl::scalar<float> rms = sqrt(dsl::sum(x * x) / static_cast<std::int64_t>(host.size()));
  for (std::size_t i = 0; i < host.size(); ++i) {
    ASSERT_NEAR(softmax[i], std::exp(host[i] - largest) / exps, 1e-6 / exps);
  }
  EXPECT_NEAR(rms.value(), std::sqrt(squares / 3000), 1e-6);

  const auto m = dsl::reshape(x, 60, 50);
  // A reduction of a reduction.
  const dsl::scalar<float> smallest_row = dsl::min(dsl::sum(m * m, dsl::axis(1)));
  double least = 1e9;
  for (std::size_t i = 0; i < 60; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < 50; ++j) sum += double(host[i * 50 + j]) * host[i * 50 + j];
    least = std::min(least, sum);
  }
  EXPECT_NEAR(smallest_row.value(), least, 1e-4);
}

TEST_P(reduction_use, nothing_to_reduce_of_float) {
  const dsl::array<float> none(0);
  EXPECT_THROW(dsl::scalar<float>{dsl::reduce(larger)(none)}, dsl::shape_error);
  EXPECT_THROW(dsl::scalar<float>{dsl::max(none)}, dsl::shape_error);
  const dsl::array<float, 2> rows(3, 0);
  EXPECT_THROW(dsl::array<float>{dsl::max(rows, dsl::axis(1))}, dsl::shape_error);
  EXPECT_EQ(dsl::array<float>(dsl::max(rows, dsl::axis(0))).size(), 0);
  EXPECT_EQ(dsl::array<float>(dsl::sum(rows, dsl::axis(1))).copy_to_host(),
            (std::vector<float>{0, 0, 0}));
}

TEST_P(reduction_use, positions_of_the_first_of_int8) {
  for (const std::int64_t n : {1, 31, 32, 33, 100, 2047, 2048, 2049, 5000, 40'000}) {
    expect_first<std::int8_t>(-128, {127, 0}, n);
    expect_first<std::int8_t>(127, {-128, 1}, n);
  }
}

// Bit for bit: the order of the terms depends on the shape alone.
TEST_P(reduction_use, same_every_time) {
  const std::int64_t n = simulated() ? 30'030 : 1'021'020;
  const auto x = dsl::to_device(random_floats(n));
  const auto m = dsl::reshape(x, 30, -1);
  const auto tall = dsl::reshape(x, -1, 30);
  const auto bits = [](const auto& r) {
    std::vector<std::uint32_t> all;
    for (const float v : r.copy_to_host()) all.push_back(std::bit_cast<std::uint32_t>(v));
    return all;
  };
  const auto along = [&](const auto& of, int axis) {
    dsl::array<float> sum, variance;
    dsl::tie(sum, variance) =
        std::tuple{dsl::sum(of, dsl::axis(axis)), dsl::var(of, dsl::axis(axis))};
    return std::pair{bits(sum), bits(variance)};
  };
  const auto once = [&] {
    dsl::scalar<float> sum, variance;
    dsl::tie(sum, variance) = std::tuple{dsl::sum(x), dsl::var(x)};
    return std::tuple{sum.value(), variance.value(), along(m, 0),
                      along(m, 1), along(tall, 0),   along(tall, 1)};
  };
  const auto first = once();
  for (int k = 0; k < 3; ++k) EXPECT_EQ(once(), first);
}

// A NaN at any single place.
TEST_P(reduction_use, nan_anywhere) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t n : {1, 16, 17, 1000, 5000})
    for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
      std::vector<float> host(static_cast<std::size_t>(n), 1);
      host[static_cast<std::size_t>(at)] = nan;
      const auto x = dsl::to_device(host);
      dsl::scalar<float> most, sum, sum_of_others;
      dsl::scalar<std::int64_t> least_at, most_of_others_at, count;
      dsl::tie(most, sum, least_at, sum_of_others, most_of_others_at, count) =
          std::tuple{dsl::max(x),    dsl::sum(x),       dsl::argmin(x),
                     dsl::nansum(x), dsl::nanargmax(x), dsl::count_nonzero(dsl::isnan(x))};
      EXPECT_TRUE(std::isnan(most.value())) << n << ", " << at;
      EXPECT_TRUE(std::isnan(sum.value())) << n << ", " << at;
      EXPECT_EQ(least_at.value(), at) << n;
      EXPECT_EQ(sum_of_others.value(), static_cast<float>(n - 1)) << at;
      EXPECT_EQ(most_of_others_at.value(), n == 1 ? -1 : at == 0 ? 1 : 0) << at;
      EXPECT_EQ(count.value(), 1);
    }
}

TEST_P(reduction_use, positions_of_the_first) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const std::int64_t n : {1, 31, 32, 33, 100, 2047, 2048, 2049, 5000, 40'000}) {
    expect_first(-infinity, {infinity, 0.0f, -0.0f, 1.0f}, n);
    expect_first(infinity, {-infinity, -1.0f}, n);
  }
}

TEST_P(reduction_use, position_of_one_value) {
  const dsl::scalar<float> s = 2.5f;
  EXPECT_EQ(dsl::argmin(s).value(), 0);
}

}  // namespace

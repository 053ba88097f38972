// Reductions by key against plain loops: group counts for every plan, adversarial keys, layouts.
#include <dsl/by_key.hpp>
#include <dsl/scan.hpp>

#include <cmath>
#include <limits>

#include "../error_of.hpp"
#include "../on_device.hpp"

namespace {

using by_key = on_device;
ON_EVERY_DEVICE(by_key);

enum class order { random, sorted, equal, descending };
std::vector<std::int32_t> keys_of(std::int64_t n, std::int64_t groups, order how) {
  std::mt19937 engine(7);
  std::vector<std::int32_t> keys;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t rising = i * groups / n;
    keys.push_back(static_cast<std::int32_t>(how == order::random   ? engine() % groups
                                             : how == order::sorted ? rising
                                             : how == order::equal  ? groups / 2
                                                                    : groups - 1 - rising));
  }
  return keys;
}
template <class T>
std::vector<T> sums_of(const std::vector<std::int32_t>& keys, const std::vector<T>& values,
                       std::int64_t groups) {
  std::vector<T> sums(static_cast<std::size_t>(groups));
  for (std::size_t i = 0; i < keys.size(); ++i)
    sums[static_cast<std::size_t>(keys[i])] += values[i];
  return sums;
}

// Integers, whose sums are exact in any order.
TEST_P(by_key, sums_of_any_number_of_groups) {
  const bool is_host = dsl::device::current().kind == dsl::backend::host;
  for (const std::int64_t n : {0, 1, 31, 33, 1000, 4097, 20011, 100'003})
    for (const std::int64_t groups : {1, 2, 7, 40, 300, 1000, 5000, 40'000, 90'000}) {
      // For more elements the host uses several tables; two, for as many groups as leave each fewer
      // than four elements a group.
      if (n == 100'003 ? !is_host || groups < 300 : groups > 1000 && (groups > 5000 || n != 4097))
        continue;
      for (const order how : {order::random, order::sorted, order::equal, order::descending}) {
        const auto keys = keys_of(n, groups, how);
        std::vector<float> values;
        for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i * 7 % 23) - 11);
        const auto k = dsl::to_device(keys);
        const auto v = dsl::to_device(values);
        const dsl::array<float> got = dsl::sum_by(k, v, groups);
        ASSERT_EQ(got.copy_to_host(), sums_of(keys, values, groups))
            << n << " elements, " << groups << " groups";
      }
    }
}

// More groups than a block's memory holds: the pairs are sorted; accumulators are 4 bytes or more.
TEST_P(by_key, means_of_many_groups) {
  const std::int64_t n = 20011, groups = 9000;
  for (const order how : {order::random, order::sorted, order::equal}) {
    const auto keys = keys_of(n, groups, how);
    std::vector<double> values, sums(static_cast<std::size_t>(groups)), counts(sums), want(sums);
    for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<double>(i * 7 % 23) - 11);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      sums[static_cast<std::size_t>(keys[i])] += values[i];
      counts[static_cast<std::size_t>(keys[i])] += 1;
    }
    const auto k = dsl::to_device(keys);
    const auto v = dsl::to_device(values);
    const auto got =
        dsl::eval(dsl::reduce_by(k, v, groups, [](auto x) { return dsl::mean(x); })).copy_to_host();
    for (std::size_t g = 0; g < want.size(); ++g) {
      if (counts[g] == 0) {
        ASSERT_TRUE(std::isnan(got[g])) << g;
      } else {
        ASSERT_EQ(got[g], sums[g] / counts[g]) << g;
      }
    }
  }
  const auto k = dsl::to_device(keys_of(n, 100000, order::random));
  EXPECT_EQ(dsl::sum(dsl::eval(dsl::bincount(k, 100000))).value(), n);
}

TEST_P(by_key, are_the_same_in_every_run_and_order_of_blocks) {
  const std::int64_t n = 30001, groups = 50;
  const auto k = dsl::to_device(keys_of(n, groups, order::random));
  const auto v = dsl::to_device(random_floats(n));
  const dsl::array<float> first = dsl::sum_by(k, v, groups);
  for (const char* seed : {"1", "2", "3"}) {
    const simulated_order with(seed);
    const dsl::array<float> again = dsl::sum_by(k, v, groups);
    ASSERT_EQ(again.copy_to_host(), first.copy_to_host());
  }
}

TEST_P(by_key, any_reduction) {
  const std::int64_t n = 5003, groups = 37;
  const auto keys = keys_of(n, groups, order::random);
  const auto values = random_floats(n);
  const auto k = dsl::to_device(keys);
  const auto v = dsl::to_device(values);
  const dsl::array<float> greatest =
      dsl::reduce_by(k, v, groups + 1, [](auto x) { return dsl::max(x); });
  const dsl::array<double> variances = dsl::reduce_by(
      k, dsl::cast<double>(v), groups, [](auto x) { return dsl::var(x) + 2 * dsl::mean(x); });
  const dsl::array<std::int64_t> places =
      dsl::reduce_by(k, v, groups, [](auto x) { return dsl::argmin(x); });
  const dsl::array<float> joined = dsl::reduce_by(k, v, groups, [](auto x) {
    return dsl::reduce([](auto a, auto b) { return where(a * a > b * b, a, b); })(x);
  });
  std::vector<std::vector<std::size_t>> members(static_cast<std::size_t>(groups));
  for (std::size_t i = 0; i < keys.size(); ++i)
    members[static_cast<std::size_t>(keys[i])].push_back(i);
  const auto got_greatest = greatest.copy_to_host(), got_joined = joined.copy_to_host();
  const auto got_variances = variances.copy_to_host();
  const auto got_places = places.copy_to_host();
  for (std::size_t g = 0; g < members.size(); ++g) {
    double sum = 0, squares = 0;
    std::size_t least = members[g].front();
    float most = -1e9f, widest = 0;
    for (const std::size_t i : members[g]) {
      sum += static_cast<double>(values[i]);
      if (values[i] < values[least]) least = i;
      most = std::max(most, values[i]);
      if (std::fabs(values[i]) > std::fabs(widest)) widest = values[i];
    }
    const double count = static_cast<double>(members[g].size()), mean = sum / count;
    for (const std::size_t i : members[g])
      squares += std::pow(static_cast<double>(values[i]) - mean, 2);
    ASSERT_EQ(got_greatest[g], most);
    ASSERT_NEAR(got_variances[g], squares / count + 2 * mean, 1e-12);
    ASSERT_EQ(got_places[g], static_cast<std::int64_t>(least));
    ASSERT_EQ(got_joined[g], widest);
  }
  EXPECT_EQ(got_greatest.back(), -std::numeric_limits<float>::infinity());  // of no elements
}

TEST_P(by_key, keys_and_values_of_any_layout) {
  const std::int64_t rows = 37, columns = 130, groups = 11;
  const auto values = random_floats(rows * columns, 0, 100);
  std::vector<std::int64_t> whole;
  for (const float x : values) whole.push_back(static_cast<std::int64_t>(x));
  const auto all = dsl::to_device(whole);
  const auto m = dsl::reshape(all, rows, columns);
  std::vector<std::int64_t> by_column(static_cast<std::size_t>(groups)), of_part(by_column);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int64_t x = whole[static_cast<std::size_t>(i * columns + j)];
      by_column[static_cast<std::size_t>(j % groups)] += x;
      if (i % 2 == 1 && j > 0) of_part[static_cast<std::size_t>(x % groups)] += i;
    }
  // A broadcast row of keys, a transposed operand, a view with steps.
  const dsl::array<std::int64_t> columns_keys = dsl::arange<std::int64_t>(columns) % groups;
  EXPECT_EQ(dsl::eval(dsl::sum_by(columns_keys, m, groups)).copy_to_host(), by_column);
  EXPECT_EQ(dsl::eval(dsl::sum_by(dsl::expand_dims(columns_keys, 1), dsl::transpose(m), groups))
                .copy_to_host(),
            by_column);
  const auto part = m(dsl::slice(1, dsl::end, 2), dsl::slice(1, dsl::end));
  const auto row =
      dsl::index(0, rows, columns)(dsl::slice(1, dsl::end, 2), dsl::slice(1, dsl::end));
  dsl::array<std::int64_t> target = dsl::full<std::int64_t>(-1, 2 * groups);
  auto every_second = target(dsl::slice(0, dsl::end, 2));
  dsl::assign(every_second, dsl::sum_by(part % groups, row, groups));
  const auto got = target.copy_to_host();
  for (std::size_t g = 0; g < of_part.size(); ++g) {
    EXPECT_EQ(got[2 * g], of_part[g]);
    EXPECT_EQ(got[2 * g + 1], -1);
  }
}

TEST_P(by_key, may_write_what_is_read) {
  auto x = dsl::to_device(std::vector<std::int64_t>{3, 1, 0, 1});
  x = dsl::bincount(x, 4);
  EXPECT_EQ(x.copy_to_host(), (std::vector<std::int64_t>{1, 2, 0, 1}));
}

TEST_P(by_key, counts) {
  const auto keys = keys_of(20011, 100, order::random);
  std::vector<std::int64_t> want(100);
  for (const std::int32_t k : keys) ++want[static_cast<std::size_t>(k)];
  const auto k = dsl::to_device(keys);
  EXPECT_EQ(dsl::eval(dsl::bincount(k, 100)).copy_to_host(), want);
  EXPECT_EQ(dsl::eval(dsl::bincount(dsl::cast<std::uint8_t>(k), 100)).copy_to_host(), want);
  EXPECT_EQ(dsl::eval(dsl::bincount(dsl::array<std::int32_t>(0), 3)).copy_to_host(),
            (std::vector<std::int64_t>{0, 0, 0}));
}

// np.histogram of the same values.
TEST_P(by_key, histograms_have_numpys_edges) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               inf = std::numeric_limits<double>::infinity();
  const auto x = dsl::to_device(
      std::vector<double>{0, 0.1, 0.2, 0.3, 0.7, 0.8, 0.9, 1, -0.01, 1.01, nan, inf, -inf});
  EXPECT_EQ(dsl::eval(dsl::histogram(x, 10, 0., 1.)).copy_to_host(),
            (std::vector<std::int64_t>{1, 1, 2, 0, 0, 0, 1, 0, 1, 2}));
  const auto i = dsl::to_device(std::vector<std::int32_t>{-3, -2, -1, 0, 1, 2, 3});
  EXPECT_EQ(dsl::eval(dsl::histogram(i, 3, -3, 3)).copy_to_host(),
            (std::vector<std::int64_t>{2, 2, 3}));
}

// Ranges that np.histogram refuses, and its results for extreme ones.
TEST_P(by_key, histograms_have_numpys_ranges) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               inf = std::numeric_limits<double>::infinity();
  const auto x = dsl::to_device(std::vector<double>{1, 2, inf, -1e300, nan});
  const auto floats = dsl::cast<float>(x);
  const auto refused = [](const auto& of, std::int64_t bins, double low, double high,
                          const char* why) {
    EXPECT_NE(error_of([&] { dsl::eval(dsl::histogram(of, bins, low, high)); }).find(why),
              std::string::npos)
        << low << ' ' << high;
    EXPECT_THROW(dsl::eval(dsl::histogram(of, bins, low, high)), dsl::value_error);
  };
  refused(x, 0, 0, 1, "a histogram of 0 bins from 0 to 1: there are to be bins, fewer than 2^31");
  refused(x, std::int64_t{1} << 31, 0, 1, "there are to be bins");
  refused(x, 3, 2, 1, "the first edge is above the last");
  for (const auto& [low, high] :
       {std::pair{0., inf}, {-inf, inf}, {-inf, 0.}, {0., nan}, {nan, 0.}, {inf, inf}})
    refused(x, 3, low, high, "are to be finite");
  refused(x, 3, -1.5e308, 1.5e308,
          "the distance between the first edge and the last is to be finite");
  refused(x, 100, 1e16, 1e16 + 2, "float64 has too few numbers between them for so many edges");
  refused(x, 3, 1e30, 1e30, "too few numbers");
  refused(x, 3, 0, 1e-323, "too few numbers");
  refused(floats, 3, 1e10, 1e10, "float32 has too few numbers");
  refused(floats, 3, 1, 1e39, "too few numbers");
  refused(floats, 1 << 25, 0.5, 1, "too few numbers");
  const auto counts = [](const auto& of, std::int64_t bins, double low, double high) {
    return dsl::eval(dsl::histogram(of, bins, low, high)).copy_to_host();
  };
  using numbers = std::vector<std::int64_t>;
  EXPECT_EQ(counts(x, 3, 1, 1), (numbers{0, 1, 0}));  // from 0.5 to 1.5
  EXPECT_EQ(counts(floats, 3, 2, 2), (numbers{0, 1, 0}));
  EXPECT_EQ(counts(x, 3, -8e307, 8e307), (numbers{0, 3, 0}));
  EXPECT_EQ(counts(x, 3, 0, 1.7e308), (numbers{2, 0, 0}));
  EXPECT_EQ(counts(x, 3, -1.7e308, 0), (numbers{0, 0, 1}));
  const auto least = dsl::to_device(std::vector<double>{0, 1e-322, 5e-322, 1e-321});
  EXPECT_EQ(counts(least, 3, 0, 1e-321), (numbers{2, 1, 1}));
  EXPECT_EQ(counts(least, 202, 0, 1e-321)[101], 1);
}

TEST_P(by_key, histograms_of_many_values) {
  const std::int64_t n = 20011, bins = 100;
  const auto values = random_floats(n);
  std::vector<std::int64_t> want(static_cast<std::size_t>(bins));
  for (const float x : values)
    for (std::size_t b = 0; b < want.size(); ++b) {
      const auto edge = [&](std::size_t i) {
        return static_cast<float>(-1.5 + static_cast<double>(i) * 0.03);
      };
      if (x >= edge(b) && (b + 1 < want.size() ? x < edge(b + 1) : x <= 1.5f)) ++want[b];
    }
  const auto x = dsl::to_device(values);
  EXPECT_EQ(dsl::eval(dsl::histogram(x, bins, -1.5, 1.5)).copy_to_host(), want);
}

// Counts with reductions of all elements, including those outside all bins: in tables, in several
// launches of tables, and in buckets.
TEST_P(by_key, counts_beside_reductions_of_all_elements) {
  dsl::array<std::int64_t> counts;
  dsl::scalar<double> sum;
  dsl::scalar<float> greatest;
  for (const std::int64_t n : {1, 33, 4097, 20011})
    for (const std::int64_t bins : {1, 100, 5000, 200000}) {
      if (bins > 5000 && n != 4097) continue;
      const auto values = random_floats(n, -2, 2);
      const auto x = dsl::to_device(values);
      const auto squares = dsl::sum(dsl::cast<double>(x) * x);
      const auto last = 2 * dsl::max(x) + 1;
      const auto in_bins = dsl::histogram(x, bins, -1.5, 1.5);
      ASSERT_TRUE(
          dsl::detail::are_of_keys(dsl::detail::tuple{in_bins}, dsl::detail::tuple{squares, last}));
      dsl::tie(sum, counts, greatest) = std::tuple{squares, in_bins, last};
      double want = 0;
      for (const float v : values) want += static_cast<double>(v) * v;
      ASSERT_NEAR(sum.value(), want, 1e-12 * want) << n << ", " << bins;
      ASSERT_EQ(greatest.value(), 2 * *std::max_element(values.begin(), values.end()) + 1);
      ASSERT_EQ(counts.copy_to_host(), dsl::eval(in_bins).copy_to_host());
      const double once = sum.value();
      dsl::tie(sum, counts, greatest) = std::tuple{squares, in_bins, last};
      ASSERT_EQ(sum.value(), once);
      counts = dsl::array<std::int64_t>();
    }
}

TEST_P(by_key, reductions_of_groups_and_of_all_elements) {
  const std::int64_t n = 20011;
  dsl::array<float> sums;
  dsl::array<double> means;
  dsl::scalar<double> mean;
  const auto run = [&](const auto& k, const auto& x, const auto& all, std::int64_t groups) {
    dsl::tie(sums, means, mean) = std::tuple{
        dsl::sum_by(k, x, groups),
        dsl::reduce_by(k, x, groups, [](auto v) { return dsl::mean(dsl::cast<double>(v)); }),
        dsl::mean(dsl::cast<double>(all))};
  };
  for (const std::int64_t groups : {3, 300, 9000}) {
    const auto keys = keys_of(n, groups, order::random);
    std::vector<float> values, counts(static_cast<std::size_t>(groups));
    double total = 0;
    for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i * 7 % 23) - 11);
    for (const float v : values) total += static_cast<double>(v);
    for (const std::int32_t k : keys) ++counts[static_cast<std::size_t>(k)];
    const auto k = dsl::to_device(keys);
    const auto x = dsl::to_device(values);
    sums = dsl::array<float>();
    means = dsl::array<double>();
    run(k, x, x, groups);
    const auto want = sums_of(keys, values, groups);
    EXPECT_EQ(sums.copy_to_host(), want);
    EXPECT_DOUBLE_EQ(mean.value(), total / static_cast<double>(n));
    const auto got = means.copy_to_host();
    for (std::size_t g = 0; g < got.size(); ++g) {
      if (counts[g] > 0) {
        ASSERT_DOUBLE_EQ(got[g], static_cast<double>(want[g]) / static_cast<double>(counts[g]))
            << g;
      }
    }
    // Expressions over other elements are a separate pass. A target may also be an input.
    run(k, x, dsl::to_device(std::vector<float>{1, 2, 6}), groups);
    EXPECT_EQ(mean.value(), 3);
    EXPECT_EQ(sums.copy_to_host(), want);
  }
  const auto k = dsl::to_device(std::vector<std::int32_t>{1, 0, 1});
  sums = dsl::to_device(std::vector<float>{1, 2, 4});
  means = dsl::array<double>(3);
  run(k, sums, sums, 3);
  EXPECT_EQ(sums.copy_to_host(), (std::vector<float>{2, 5, 0}));
  EXPECT_DOUBLE_EQ(mean.value(), 7 / 3.);
  // A scalar target may also be read; places count all elements.
  dsl::array<std::int64_t> counts;
  dsl::scalar<float> factor = 2;
  dsl::scalar<std::int64_t> place;
  dsl::tie(factor, counts, place) =
      std::tuple{dsl::sum(sums * factor), dsl::bincount(k, 2), dsl::argmax(sums)};
  EXPECT_EQ(factor.value(), 14);
  EXPECT_EQ(counts.copy_to_host(), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(place.value(), 1);
  dsl::array<std::int64_t> none_of_them;
  dsl::tie(factor, none_of_them, place) =
      std::tuple{dsl::sum(sums * factor), dsl::bincount(k, 0), dsl::argmax(sums)};
  EXPECT_EQ(none_of_them.size(), 0);
  EXPECT_EQ(factor.value(), 98);
  // A wrong later expression leaves the earlier targets unchanged.
  const dsl::array<float> none(0);
  const auto wrong = [&] { run(k, none, sums, 3); };
  EXPECT_THROW(wrong(), dsl::shape_error);
  EXPECT_EQ(sums.copy_to_host(), (std::vector<float>{2, 5, 0}));
  EXPECT_EQ(means.size(), 3);
}

// In one pass and in consecutive ones: two targets that share an element are refused, as a
// formula's are, and an error in a later target leaves the earlier ones unchanged.
TEST_P(by_key, targets_share_no_element) {
  const auto k = dsl::to_device(std::vector<std::int32_t>{0, 1, 2, 2}),
             other = dsl::to_device(std::vector<std::int32_t>{0, 0, 1, 1});
  dsl::array<std::int64_t> x = dsl::arange<std::int64_t>(6), fresh;
  auto first = x(dsl::slice(0, 3)), second = x(dsl::slice(2, 5)),
       even = x(dsl::slice(0, dsl::end, 2)), last = x(dsl::slice(5, 6));
  dsl::array<double> numbers = dsl::zeros<double>(2);
  const std::string common =
      "two targets have an element in common: number 0 of shape (3) and number 1 of shape (3)";
  const auto together = [&](auto& a, auto& b) {
    dsl::tie(a, b) = std::tuple{dsl::bincount(k, 3), dsl::sum_by(k, 10 * k, 3)};
  };
  const auto apart = [&](auto& a, auto& b) {
    dsl::tie(a, b) = std::tuple{dsl::bincount(k, 3), dsl::sum_by(other, 10 * k, 3)};
  };
  EXPECT_EQ(error_of([&] { together(first, second); }), common);
  EXPECT_EQ(error_of([&] { apart(first, second); }), common);
  EXPECT_EQ(error_of([&] { together(fresh, fresh); }), "a target stands twice in one statement");
  EXPECT_EQ(error_of([&] { apart(fresh, fresh); }), "a target stands twice in one statement");
  const auto of_all = [&](auto& a, auto& b) {
    dsl::tie(a, b) = std::tuple{dsl::bincount(k, 3), dsl::max(10 * k)};
  };
  auto single = x(2).view();
  EXPECT_NE(error_of([&] { of_all(first, single); }).find("in common"), std::string::npos);
  EXPECT_NE(
      error_of([&] { apart(first, numbers); }).find("shape (3) cannot be assigned to shape (2)"),
      std::string::npos);
  EXPECT_NE(
      error_of([&] { together(first, last); }).find("3 groups cannot be assigned to shape (1)"),
      std::string::npos);
  EXPECT_EQ(x.copy_to_host(), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(fresh.has_memory());
  auto odd = x(dsl::slice(1, dsl::end, 2));
  apart(even, odd);
  EXPECT_EQ(x.copy_to_host(), (std::vector<std::int64_t>{1, 10, 1, 40, 2, 0}));
  together(odd, even);
  EXPECT_EQ(x.copy_to_host(), (std::vector<std::int64_t>{0, 1, 10, 1, 40, 2}));
}

TEST_P(by_key, keys_of_no_group) {
  const auto k = dsl::to_device(std::vector<std::int32_t>{0, -1, 2, 3, 1 << 30});
  if (simulated()) {
    EXPECT_THROW(dsl::eval(dsl::bincount(k, 3)), dsl::memory_error);
  } else {
    EXPECT_EQ(dsl::eval(dsl::bincount(k, 3)).copy_to_host(), (std::vector<std::int64_t>{1, 0, 1}));
  }
  const auto beyond = dsl::to_device(std::vector<std::uint64_t>{~std::uint64_t{0}});
  if (simulated()) {
    EXPECT_NE(error_of([&] {
                dsl::eval(dsl::bincount(beyond, 3));
              }).find("key 9223372036854775807 or more is none of 3 groups"),
              std::string::npos);
  }
}

// Reductions inside keys and values are evaluated first; scans and other expressions may be in the
// same statement.
TEST_P(by_key, reductions_among_keys_and_values) {
  const std::vector<float> h{1, 2, 3, 4, 5, 6};
  dsl::array<float> x = dsl::to_device(h);
  const auto k = dsl::to_device(std::vector<std::int32_t>{0, 1, 2, 0, 1, 2});
  dsl::array<float> of_total = dsl::sum_by(k, 84 * x / dsl::sum(x), 3);
  EXPECT_EQ(of_total.copy_to_host(), (std::vector<float>{20, 28, 36}));
  const dsl::array<float, 2> m = dsl::reshape(x, 2, 3);
  const auto centred = dsl::vectorize([](auto row) { return row - dsl::mean(row); });
  dsl::array<float> halves =
      dsl::sum_by(dsl::reshape(k, 2, 3) % 2, m - dsl::mean(m, dsl::axis(1), dsl::keep_dims), 2);
  EXPECT_EQ(halves.copy_to_host(), (std::vector<float>{0, 0}));
  const auto bins = dsl::cast<std::int32_t>(2.9f * (x - dsl::min(x)) / (dsl::max(x) - dsl::min(x)));
  EXPECT_EQ(dsl::eval(dsl::sum_by(bins, 2 * centred(x), 3)).copy_to_host(),
            (std::vector<float>{-8, 0, 8}));
  EXPECT_EQ(dsl::eval(dsl::compress(x > dsl::mean(x), x - dsl::min(x))).copy_to_host(),
            (std::vector<float>{3, 4, 5}));
  dsl::scalar<std::int64_t> count;
  dsl::array<float> kept;
  dsl::tie(kept, count) = dsl::compress(centred(x) > 0, x);
  EXPECT_EQ(count.value(), 3);

  // All right sides are complete before the first write.
  dsl::scalar<float> largest;
  dsl::array<float> sums;
  dsl::tie(x, largest, sums) =
      std::tuple{dsl::cumsum(x - dsl::mean(x)), dsl::max(x), dsl::sum_by(k, x, 3)};
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{-2.5f, -4, -4.5f, -4, -2.5f, 0}));
  EXPECT_EQ(largest.value(), 6);
  EXPECT_EQ(sums.copy_to_host(), (std::vector<float>{5, 7, 9}));
  dsl::array<float> other = dsl::zeros<float>(5);
  dsl::tie(largest, x) = std::tuple{dsl::sum(x), dsl::cumsum(x)};
  EXPECT_EQ(largest.value(), -17.5f);
  const std::vector<float> before = x.copy_to_host();
  EXPECT_THROW((dsl::tie(x, other) = std::tuple{2 * x, dsl::cumsum(x)}), dsl::shape_error);
  EXPECT_EQ(x.copy_to_host(), before);
}

TEST_P(by_key, is_explained) {
  const dsl::array<float> x = dsl::arange<float>(600);
  const dsl::array<std::int32_t> k = dsl::arange<std::int32_t>(600) % 3;
  dsl::array<float> sums, large;
  const auto has = [](const dsl::explanation& e, const char* text) {
    return std::string(e.text().c_str()).find(text) != std::string::npos;
  };
  const dsl::backend kind = dsl::device::current().kind;
  const bool has_buckets = kind == dsl::backend::cuda || kind == dsl::backend::sim;
  const auto told = dsl::explain(sums, dsl::sum_by(k, 2 * x, 3));
  EXPECT_TRUE(has(told, "out = sum(2 * b); by key a, 3 groups")) << told;
  EXPECT_TRUE(has(told, "of 3 groups")) << told;
  EXPECT_FALSE(sums.has_memory());
  dsl::array<float> two(2);
  EXPECT_THROW(dsl::explain(two, dsl::sum_by(k, x, 3)), dsl::shape_error);
  EXPECT_TRUE(has(dsl::explain(sums, dsl::sum_by(k, x, 0)), "by key a, 0 groups"));
  EXPECT_TRUE(has(dsl::explain(sums, dsl::bincount(k, 1'000'000)),
                  has_buckets ? "sorted into" : "of 1000000 groups"));
  const dsl::detail::explained_runs runs;
  sums = dsl::sum_by(k, 2 * x, 3);
  large = dsl::compress(x > 5.f, x);
  ASSERT_GE(runs.count(), 2);
  EXPECT_TRUE(has(runs[0], "by key a, 3 groups"));
  EXPECT_TRUE(has(runs[1], "where a > 5")) << runs[1];
  EXPECT_TRUE(has(runs[1], "selection: ")) << runs[1];
}

TEST_P(by_key, wrong_shapes) {
  const auto k = dsl::to_device(std::vector<std::int32_t>{0, 1, 2});
  dsl::array<std::int64_t> target(4);
  EXPECT_THROW(target = dsl::bincount(k, 3), dsl::shape_error);
  EXPECT_THROW(dsl::eval(dsl::sum_by(k, dsl::array<float>(2), 3)), dsl::shape_error);
  EXPECT_THROW(dsl::eval(dsl::bincount(k, -1)), dsl::shape_error);
}

}  // namespace

// skew and kurtosis: values of SciPy, and of other sizes and shapes in long double.
#include "../on_device.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace {

struct central_moments : on_device {};
ON_EVERY_DEVICE(central_moments);

constexpr double inf = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();

struct shape_of_values { double skew, kurtosis; };
template <class T>
shape_of_values exact(const std::vector<T>& x) {
  long double mean = 0, m2 = 0, m3 = 0, m4 = 0;
  const auto n = static_cast<long double>(x.size());
  for (const T v : x) mean += static_cast<long double>(v) / n;
  for (const T v : x) {
    const long double d = static_cast<long double>(v) - mean;
    m2 += d * d / n;
    m3 += d * d * d / n;
    m4 += d * d * d * d / n;
  }
  return {static_cast<double>(m3 / std::pow(m2, 1.5L)), static_cast<double>(m4 / (m2 * m2) - 3)};
}

// A number, NaN where NaN is wanted.
void expect_near(double got, double want, double bound, const std::string& what) {
  if (std::isnan(want)) EXPECT_TRUE(std::isnan(got)) << what << ": " << got;
  else EXPECT_NEAR(got, want, bound * std::max(1.0, std::abs(want))) << what;
}

template <class T>
shape_of_values computed(const dsl::view<const T>& x) {
  dsl::scalar<T> skew, kurtosis;
  dsl::tie(skew, kurtosis) = std::tuple{dsl::skew(x), dsl::kurtosis(x)};
  return {static_cast<double>(skew.value()), static_cast<double>(kurtosis.value())};
}
template <class T>
void check(const dsl::view<const T>& x, double bound, const std::string& what) {
  const std::vector<T> values = x.copy_to_host();
  const bool few = values.size() < 2;
  const shape_of_values got = computed(x), want = few ? shape_of_values{nan, nan} : exact(values);
  expect_near(got.skew, want.skew, bound, what + ", skew");
  expect_near(got.kurtosis, want.kurtosis, bound, what + ", kurtosis");
}

// From 1 on, mostly near it, as e^x for uniform x.
std::vector<double> skewed(std::int64_t n) {
  std::vector<double> all;
  for (const float v : random_floats(n, 0, 3)) all.push_back(std::exp(v));
  return all;
}

TEST_P(central_moments, of_scipy) {
  // scipy.stats.skew and kurtosis of SciPy 1.17.1.
  const struct {
    std::vector<double> x;
    double skew, kurtosis;
  } rows[] = {{{}, nan, nan},
              {{3}, nan, nan},
              {{1, 2}, 0, -2},
              {{1, 2, 4}, 0.3818017741606059, -1.5},
              {std::vector<double>(7, 0.1), nan, nan},
              {{0, 1, 4, 9, 16, 25, 36, 49}, 0.6754369040970769, -0.8830459916255573},
              {{1, nan, 2, 5}, nan, nan},
              {{1, inf, 2, 5}, nan, nan},
              {{1e6 + 1, 1e6 + 2, 1e6 + 4, 1e6 + 8, 1e6}, 0.795495128834866, -0.7375},
              {{1e15, 1e15, 1e15, 1e15 + 0.125}, nan, nan},
              {{0.0, -0.0}, nan, nan}};
  for (const auto& row : rows) {
    const dsl::array<double> x = dsl::to_device(row.x);
    const shape_of_values got = computed<double>(x.view());
    expect_near(got.skew, row.skew, 1e-9, std::to_string(row.x.size()));
    expect_near(got.kurtosis, row.kurtosis, 1e-9, std::to_string(row.x.size()));
  }
  const dsl::array<std::int32_t> whole = dsl::to_device({1, 2, 4, 8, 16});
  const dsl::scalar<double> of_whole = dsl::skew(whole);
  EXPECT_NEAR(of_whole.value(), 0.8890481348169542, 1e-15);
}

TEST_P(central_moments, every_size) {
  for (const std::int64_t n : sizes()) {
    const dsl::array<double> x = dsl::to_device(skewed(n));
    check<double>(x.view(), 1e-13, std::to_string(n));
    check<double>(from_element(x, n > 0, n / 3, 3), 1e-13, std::to_string(n) + " with a step");
    if (n > 1) check<double>(from_element(x, 1, n - 1), 1e-13, std::to_string(n) + ", misaligned");
    const dsl::array<float> single = dsl::cast<float>(x), far = single + 100;
    check<float>(single.view(), 4e-6, std::to_string(n) + " floats");
    check<float>(far.view(), 4e-5, std::to_string(n) + " floats far away");
  }
}

TEST_P(central_moments, along_axes) {
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{3, 1009}, {1009, 3}, {257, 33}, {1, 5}, {70, 128}}) {
    const std::vector<double> h = skewed(rows * columns);
    const dsl::array<double, 2> m = dsl::reshape(dsl::to_device(h), rows, columns);
    for (const int axis : {0, 1}) {
      dsl::array<double> lopsided, tailed;
      dsl::tie(lopsided, tailed) =
          std::tuple{dsl::skew(m, dsl::axis(axis)), dsl::kurtosis(m, dsl::axis(axis))};
      const auto skews = lopsided.copy_to_host(), tails = tailed.copy_to_host();
      ASSERT_EQ(skews.size(), static_cast<std::size_t>(axis == 0 ? columns : rows));
      for (std::size_t i = 0; i < skews.size(); ++i) {
        std::vector<double> line;
        for (std::int64_t k = 0; k < (axis == 0 ? rows : columns); ++k)
          line.push_back(
              h[axis == 0 ? static_cast<std::size_t>(k * columns) + i
                          : i * static_cast<std::size_t>(columns) + static_cast<std::size_t>(k)]);
        const shape_of_values want = line.size() > 1 ? exact(line) : shape_of_values{nan, nan};
        expect_near(skews[i], want.skew, 1e-12, "skew");
        expect_near(tails[i], want.kurtosis, 1e-12, "kurtosis");
      }
    }
  }
}

TEST_P(central_moments, of_the_header) {
  const auto returns = dsl::to_device({0.0, 1.0, 4.0, 9.0, 16.0, 25.0, 36.0, 49.0});
  const auto m = dsl::reshape(returns, 4, 2);
  dsl::scalar<double> lopsided, tailed;
  dsl::tie(lopsided, tailed) = std::tuple{dsl::skew(returns), dsl::kurtosis(returns)};
  dsl::array<double> of_columns = dsl::skew(m, dsl::axis(0));
  EXPECT_NEAR(lopsided.value(), 0.6754369040970769, 1e-14);
  EXPECT_NEAR(tailed.value(), -0.8830459916255573, 1e-14);
  EXPECT_NEAR(of_columns(0).value(), exact<double>({0, 4, 16, 36}).skew, 1e-14);
}

}  // namespace

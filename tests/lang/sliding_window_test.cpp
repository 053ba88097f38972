// Windows of adjacent elements, and their reductions, against sums over each window.
#include <dsl/window.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "../error_of.hpp"
#include "../on_device.hpp"

namespace {

using sliding = on_device;
ON_EVERY_DEVICE(sliding);

constexpr float infinity = std::numeric_limits<float>::infinity(),
                nan_value = std::numeric_limits<float>::quiet_NaN();

/// The exact reductions of one window.
struct exact {
  double sum = 0, least, greatest, variance = 0;

  template <class T>
  exact(const T* x, std::int64_t n, std::int64_t step = 1)
      : least(static_cast<double>(x[0])), greatest(least) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto value = static_cast<double>(x[i * step]);
      sum += value;
      least = std::isnan(least) || least <= value ? least : value;
      greatest = std::isnan(greatest) || greatest >= value ? greatest : value;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const double d = static_cast<double>(x[i * step]) - sum / static_cast<double>(n);
      variance += d * d / static_cast<double>(n);
    }
  }
};

void expect_near(double got, double want, double tolerance, std::size_t i) {
  if (std::isnan(want)) {
    ASSERT_TRUE(std::isnan(got)) << i << ": " << got;
  } else if (std::isinf(want)) {
    ASSERT_EQ(got, want) << i;
  } else {
    ASSERT_NEAR(got, want, tolerance) << i;
  }
}

/// Sums, means, extrema and deviations of all windows. `scale`: of the largest differences.
void expect_reductions(const std::vector<float>& host, std::int64_t n, double scale) {
  SCOPED_TRACE(std::to_string(n) + " of " + std::to_string(host.size()));
  const auto x = dsl::to_device(host);
  const auto w = dsl::sliding_window(x, n);
  const auto sums = eval(sum(w, dsl::axis(-1))).copy_to_host(),
             means = eval(mean(w, dsl::axis(1))).copy_to_host(),
             least = eval(min(w, dsl::axis(-1))).copy_to_host(),
             greatest = eval(max(w, dsl::axis(-1))).copy_to_host(),
             variances = eval(var(w, dsl::axis(-1))).copy_to_host();
  ASSERT_EQ(sums.size(), host.size() - static_cast<std::size_t>(n) + 1);
  const double rounding = 1e-6 * scale, length = static_cast<double>(n);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const exact want(host.data() + i, n);
    expect_near(sums[i], want.sum, rounding * length + 1e-7 * std::abs(want.sum), i);
    expect_near(means[i], want.sum / length, rounding + 1e-7 * std::abs(want.sum) / length, i);
    expect_near(least[i], want.least, 0, i);
    expect_near(greatest[i], want.greatest, 0, i);
    expect_near(variances[i], want.variance, 4 * rounding * scale, i);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST_P(sliding, of_every_length) {
  for (const std::int64_t length : {1, 2, 31, 32, 33, 255, 1009, 2048, 4099})
    for (const std::int64_t n : {1, 2, 3, 7, 8, 9, 32, 64, 100, 257, 1000})
      if (n <= length) expect_reductions(random_floats(length), n, 2);
  expect_reductions(random_floats(777), 777, 2);
}

TEST_P(sliding, infinities_and_nans_concern_their_own_windows) {
  for (const std::int64_t n : {1, 3, 8, 50, 300}) {
    std::vector<float> x = random_floats(2500);
    for (std::size_t i = 100; i < x.size(); i += 611) x[i] = i % 2 == 0 ? infinity : nan_value;
    x[1500] = -infinity;
    x[1501] = infinity;
    expect_reductions(x, n, 2);
  }
}

// Each window's error depends on its own elements.
TEST_P(sliding, large_elements_leave_no_error_behind) {
  for (const std::int64_t n : {5, 64}) {
    std::vector<float> x = random_floats(2000);
    for (std::size_t i = 50; i < x.size(); i += 500) x[i] = 1e30f;
    const auto given = dsl::to_device(x);
    const auto w = dsl::sliding_window(given, n);
    const auto sums = eval(sum(w, dsl::axis(-1))).copy_to_host(),
               deviations = eval(dsl::std(w, dsl::axis(-1))).copy_to_host();
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const exact want(x.data() + i, n);
      if (want.greatest > 2) continue;
      ASSERT_NEAR(sums[i], want.sum, 1e-5 * static_cast<double>(n)) << i;
      ASSERT_NEAR(deviations[i], std::sqrt(want.variance), 1e-5) << i;
    }
  }
}

TEST_P(sliding, error_does_not_grow_with_the_length) {
  const std::int64_t length = simulated() ? 20000 : 1000000, n = 10;
  const dsl::array<float> x = dsl::full<float>(0.1f, length);
  const auto w = dsl::sliding_window(x, n);
  const auto sums = eval(sum(w, dsl::axis(-1))).copy_to_host();
  const double want = 10 * static_cast<double>(0.1f);
  for (const float s : sums) ASSERT_NEAR(s, want, 2e-7);
}

TEST_P(sliding, deviations_of_a_large_offset) {
  std::vector<double> x(3000);
  std::mt19937 engine(7);
  std::normal_distribution<double> normal(1e9, 1);
  for (double& each : x) each = normal(engine);
  const auto given = dsl::to_device(x);
  for (const std::int64_t n : {2, 64, 200}) {
    const auto w = dsl::sliding_window(given, n);
    const auto variances = eval(var(w, dsl::axis(-1), dsl::ddof(1))).copy_to_host();
    for (std::size_t i = 0; i < variances.size(); ++i) {
      const exact want(x.data() + i, n);
      const auto length = static_cast<double>(n);
      ASSERT_NEAR(variances[i], want.variance * length / (length - 1), 1e-6) << n << " " << i;
    }
  }
  std::vector<float> narrow(3000);
  for (std::size_t i = 0; i < narrow.size(); ++i) narrow[i] = static_cast<float>(65536 + i % 7);
  const auto of_floats = dsl::to_device(narrow);
  for (const float v : eval(var(dsl::sliding_window(of_floats, 70), dsl::axis(-1))).copy_to_host())
    ASSERT_NEAR(v, 4, 1e-5);
}

TEST_P(sliding, rows_columns_and_parts) {
  const std::int64_t rows = 37, columns = 61;
  const std::vector<float> host = random_floats(rows * columns);
  dsl::array<float, 2> m(rows, columns);
  m.copy_from_host(host);
  const auto at = [&](std::int64_t i, std::int64_t k) { return host.data() + i * columns + k; };

  const dsl::array<float, 2> along_rows = max(dsl::sliding_window(m, 6), dsl::axis(-1));
  ASSERT_EQ(along_rows.extents(), (dsl::extents<2>{rows, columns - 5}));
  const auto r = along_rows.copy_to_host();
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = 0; k + 6 <= columns; ++k)
      ASSERT_EQ(r[static_cast<std::size_t>(i * (columns - 5) + k)], exact(at(i, k), 6).greatest);

  const dsl::array<float, 2> along_columns =
      max(dsl::sliding_window(m, 4, dsl::axis(0)), dsl::axis(2));
  ASSERT_EQ(along_columns.extents(), (dsl::extents<2>{rows - 3, columns}));
  const auto c = along_columns.copy_to_host();
  for (std::int64_t i = 0; i + 4 <= rows; ++i)
    for (std::int64_t k = 0; k < columns; ++k)
      ASSERT_EQ(c[static_cast<std::size_t>(i * columns + k)], exact(at(i, k), 4, columns).greatest);

  // Misaligned, and every second element.
  const auto line = dsl::ravel(m);
  const auto odd = line(dsl::slice(1, dsl::end, 2)), misaligned = line(dsl::slice(3, dsl::end));
  const auto o = eval(max(dsl::sliding_window(odd, 5), dsl::axis(1))).copy_to_host(),
             a = eval(max(dsl::sliding_window(misaligned, 5), dsl::axis(1))).copy_to_host();
  for (std::size_t i = 0; i < o.size(); ++i)
    ASSERT_EQ(o[i], exact(host.data() + 1 + 2 * i, 5, 2).greatest);
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(a[i], exact(host.data() + 3 + i, 5).greatest);
}

TEST_P(sliding, windows_are_operands) {
  const auto x = dsl::to_device(std::vector<float>{1, 2, 4, 8, 16, 32});
  const auto w = dsl::sliding_window(x, 3);
  EXPECT_EQ(w.extents(), (dsl::extents<2>{4, 3}));
  EXPECT_EQ(w.view().data(), x.data());
  EXPECT_EQ(w.copy_to_host(), (std::vector<float>{1, 2, 4, 2, 4, 8, 4, 8, 16, 8, 16, 32}));
  const dsl::array<float> product = sum(w * 2 + 1, dsl::axis(1));
  EXPECT_EQ(product.copy_to_host(), (std::vector<float>{17, 31, 59, 115}));
  const dsl::array<float> across = max(w, dsl::axis(0));
  EXPECT_EQ(across.copy_to_host(), (std::vector<float>{8, 16, 32}));
  const dsl::array<float, 2> centred = w - max(w, dsl::axis(-1), dsl::keep_dims);
  EXPECT_EQ(centred.copy_to_host(),
            (std::vector<float>{-3, -2, 0, -6, -4, 0, -12, -8, 0, -24, -16, 0}));
  // An expression is evaluated; the windows keep its values.
  EXPECT_EQ(eval(max(dsl::sliding_window(x * -1, 2), dsl::axis(-1))).copy_to_host(),
            (std::vector<float>{-1, -2, -4, -8, -16}));
}

TEST_P(sliding, reductions_are_operands) {
  auto x = dsl::to_device(std::vector<float>{1, 2, 4, 8, 16, 32});
  const auto w = dsl::sliding_window(x, 3);
  dsl::array<float> y(4);
  y = max(w, dsl::axis(-1));
  const auto of_y = dsl::sliding_window(y, 2);
  EXPECT_EQ(y.copy_to_host(), (std::vector<float>{4, 8, 16, 32}));
  y = max(w, dsl::axis(1)) - min(w, dsl::axis(1)) + y;
  EXPECT_EQ(y.copy_to_host(), (std::vector<float>{7, 14, 28, 56}));
  dsl::array<float> of_sums = sum(of_y, dsl::axis(-1)), across = sum(w, dsl::axis(0));
  EXPECT_EQ(of_sums.copy_to_host(), (std::vector<float>{21, 42, 84}));
  EXPECT_EQ(across.copy_to_host(), (std::vector<float>{15, 30, 60}));
  // Into the elements that the windows read.
  x(dsl::slice(1, 5)) = sum(w, dsl::axis(-1));
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{1, 7, 14, 28, 56, 32}));
  EXPECT_THROW(y = sum(of_y, dsl::axis(-1)), dsl::shape_error);
  EXPECT_THROW((void)sum(w, dsl::axis(2)), dsl::shape_error);
  EXPECT_EQ(y.copy_to_host(), (std::vector<float>{7, 14, 28, 56}));
  EXPECT_NE(std::string(explain(y, sum(w, dsl::axis(-1))).text())
                .find("sum of each of the windows of 3 elements along axis 0 of (6)"),
            std::string::npos);
}

TEST_P(sliding, errors_name_the_sizes) {
  const dsl::array<float> x = dsl::zeros<float>(5);
  EXPECT_EQ(error_of([&] { dsl::sliding_window(x, 6); }),
            "sliding_window of shape (5): windows of 6 elements along axis 0: they have at least 1 "
            "element and at most 5");
  EXPECT_THROW(dsl::sliding_window(x, 0), dsl::shape_error);
  EXPECT_THROW(dsl::sliding_window(x, 2, dsl::axis(1)), dsl::shape_error);
  EXPECT_THROW(dsl::sliding_window(dsl::array<float>(), 1), dsl::memory_error);
  const dsl::array<float, 2> empty(0, 7);
  EXPECT_EQ(eval(sum(dsl::sliding_window(empty, 3), dsl::axis(-1))).extents(),
            (dsl::extents<2>{0, 5}));
}

}  // namespace

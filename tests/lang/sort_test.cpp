// Sorting and functions based on it, against the standard library.
#include <dsl/by_key.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../error_of.hpp"
#include "../on_device.hpp"

namespace {

using sorting = on_device;
ON_EVERY_DEVICE(sorting);

const double nan_value = std::numeric_limits<double>::quiet_NaN(),
             infinity = std::numeric_limits<double>::infinity();

template <class T>
bool is_before(T a, T b) {
  return a < b || (a == a && b != b);
}
template <class T>
void expect_sorted(const std::vector<T>& host) {
  const auto x = dsl::to_device(host);
  std::vector<T> want = host;
  std::stable_sort(want.begin(), want.end(), is_before<T>);
  std::vector<std::int64_t> order(host.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&host](std::int64_t a, std::int64_t b) {
    return is_before(host[static_cast<std::size_t>(a)], host[static_cast<std::size_t>(b)]);
  });
  const auto got = dsl::sort(x).copy_to_host();
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_TRUE(got[i] == want[i] || (got[i] != got[i] && want[i] != want[i])) << i;
  ASSERT_EQ(dsl::argsort(x).copy_to_host(), order);
}

TEST_P(sorting, of_every_size_of_elements) {
  std::mt19937_64 engine(3);
  for (const std::size_t n : {0u, 1u, 2u, 33u, 1000u, 20011u}) {
    std::vector<std::int8_t> i8(n);
    std::vector<std::uint16_t> u16(n);
    std::vector<std::int32_t> i32(n);
    std::vector<float> f32(n);
    std::vector<double> f64(n);
    std::vector<std::int64_t> i64(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t drawn = engine();
      i8[i] = static_cast<std::int8_t>(drawn);
      u16[i] = static_cast<std::uint16_t>(drawn);
      i32[i] = static_cast<std::int32_t>(drawn % 100) - 50;
      f32[i] = drawn % 50 == 0 ? static_cast<float>(nan_value)
                               : static_cast<float>(static_cast<std::int32_t>(drawn)) / 1e6f;
      f64[i] = drawn % 40 == 0   ? -0.0
               : drawn % 41 == 0 ? 0.0
               : drawn % 43 == 0 ? -infinity
                                 : static_cast<double>(drawn) - 9e18;
      i64[i] = static_cast<std::int64_t>(drawn);
    }
    expect_sorted(i8);
    expect_sorted(u16);
    expect_sorted(i32);
    expect_sorted(f32);
    expect_sorted(f64);
    expect_sorted(i64);
  }
}

// One block sorts few elements; a sort of more takes as many passes as the range of the elements
// needs.
TEST_P(sorting, of_every_range_of_elements) {
  std::mt19937_64 engine(5);
  for (const std::size_t n : {1024u, 1025u, 5632u, 5633u, 7169u, 10241u, 30011u}) {
    std::vector<std::int64_t> i64(n);
    std::vector<std::uint64_t> u64(n);
    std::vector<std::int32_t> i32(n);
    std::vector<std::uint8_t> u8(n);
    std::vector<float> f32(n);
    for (const std::uint64_t range : {1ull, 2ull, 256ull, 257ull, 12345ull, 1ull << 33}) {
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t drawn = engine() % range;
        i64[i] = static_cast<std::int64_t>(drawn) - static_cast<std::int64_t>(range / 2);
        u64[i] = ~drawn;
        i32[i] = static_cast<std::int32_t>(drawn) - 100;
        u8[i] = static_cast<std::uint8_t>(255 - drawn % 3);
        f32[i] = static_cast<float>(drawn) - 2;
      }
      expect_sorted(i64);
      expect_sorted(u64);
      expect_sorted(i32);
      expect_sorted(u8);
      expect_sorted(f32);
    }
  }
}

TEST_P(sorting, distinct_elements) {
  const auto x =
      dsl::to_device(std::vector<double>{3, nan_value, -1, 3, nan_value, 0, -1, infinity});
  const dsl::array<double> u = dsl::unique(x);
  const auto got = u.copy_to_host();
  ASSERT_EQ(got.size(), 5u);
  EXPECT_EQ((std::vector<double>(got.begin(), got.end() - 1)),
            (std::vector<double>{-1, 0, 3, infinity}));
  EXPECT_TRUE(std::isnan(got.back()));
  dsl::array<int> values(6);
  dsl::scalar<std::int64_t> count;
  dsl::tie(values, count) = dsl::unique(dsl::to_device(std::vector<int>{2, 2, 1, 7, 1, 2}));
  EXPECT_EQ(count.value(), 3);
  EXPECT_EQ(dsl::eval(values(dsl::slice(0, 3))).copy_to_host(), (std::vector<int>{1, 2, 7}));
  const dsl::array<int> none = dsl::unique(dsl::array<int>(0));
  EXPECT_EQ(none.size(), 0);
}

TEST_P(sorting, medians_and_percentiles) {
  const auto x = dsl::to_device(std::vector<float>{7, 1, 3, 10});
  EXPECT_EQ(dsl::median(x).value(), 5);
  EXPECT_EQ(dsl::percentile(x, 0).value(), 1);
  EXPECT_EQ(dsl::percentile(x, 100).value(), 10);
  EXPECT_FLOAT_EQ(dsl::percentile(x, 25).value(), 2.5f);
  EXPECT_FLOAT_EQ(dsl::percentile(x, 90).value(), 9.1f);
  EXPECT_EQ(dsl::median(dsl::to_device(std::vector<std::int32_t>{4, 1, 3})).value(), 3.0);
  EXPECT_EQ(dsl::median(dsl::to_device(std::vector<std::int32_t>{4, 1})).value(), 2.5);
  EXPECT_TRUE(
      std::isnan(dsl::median(dsl::to_device(std::vector<double>{1, nan_value, 2})).value()));
  EXPECT_THROW(dsl::median(dsl::array<float>(0)), dsl::shape_error);
  EXPECT_THROW(dsl::percentile(x, 101), dsl::value_error);
}

// np.median, and np.percentile of 0, 25, 50, 75 and 100.
TEST_P(sorting, medians_and_percentiles_of_infinities_are_numpys) {
  const auto nan = static_cast<float>(nan_value), inf = static_cast<float>(infinity), huge = 3e38f;
  struct of_numpy {
    std::vector<float> x;
    float median;
    std::vector<float> percentiles;
  };
  const auto is_one = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  for (const auto& [x, median, percentiles] :
       {of_numpy{{1, 2, inf}, 2, {1, 1.5f, nan, nan, nan}},
        of_numpy{{1, inf}, inf, {nan, inf, nan, nan, nan}},
        of_numpy{{inf, inf, inf}, inf, {nan, nan, nan, nan, nan}},
        of_numpy{{1, inf, inf}, inf, {nan, nan, nan, nan, nan}},
        of_numpy{{-inf, inf}, nan, {nan, nan, nan, nan, nan}},
        of_numpy{{-inf, -inf, 1}, -inf, {nan, nan, nan, -inf, 1}},
        of_numpy{{1, nan, inf}, nan, {nan, nan, nan, nan, nan}},
        of_numpy{{-inf, 0, inf}, 0, {nan, -inf, nan, nan, nan}},
        of_numpy{{-inf, 1, 2, inf}, 1.5f, {nan, -inf, 1.5f, inf, nan}},
        of_numpy{{inf}, inf, {nan, nan, nan, nan, nan}},
        of_numpy{{-huge, huge}, 0, {nan, inf, -inf, -inf, huge}},
        of_numpy{{7, 1, 3, 10}, 5, {1, 2.5f, 5, 7.75f, 10}}}) {
    const auto on_device = dsl::to_device(x);
    EXPECT_TRUE(is_one(dsl::median(on_device).value(), median)) << testing::PrintToString(x);
    for (std::size_t i = 0; i < percentiles.size(); ++i)
      EXPECT_TRUE(
          is_one(dsl::percentile(on_device, 25. * static_cast<double>(i)).value(), percentiles[i]))
          << testing::PrintToString(x) << ", " << 25 * i;
  }
  // Here NumPy's sum overflows.
  EXPECT_EQ(dsl::median(dsl::to_device(std::vector<float>{huge, huge})).value(), huge);
}

template <class T, class X>
void expect_found(const std::vector<T>& sorted, const std::vector<X>& x,
                  const std::vector<std::int64_t>& left, const std::vector<std::int64_t>& right) {
  const auto in = dsl::to_device(sorted);
  const auto wanted = dsl::to_device(x);
  EXPECT_EQ(dsl::eval(dsl::searchsorted(in, wanted)).copy_to_host(), left);
  EXPECT_EQ(dsl::eval(dsl::searchsorted(in, wanted, dsl::right)).copy_to_host(), right);
}

// Any two dtypes, neither of which is converted to the other; ir/integer_arithmetic_test.cpp tests
// all pairs.
TEST_P(sorting, searches_compare_exactly) {
  const std::int64_t wide = std::int64_t{1} << 53, most = std::numeric_limits<std::int64_t>::max();
  expect_found<std::uint8_t, std::int32_t>({1, 2, 3}, {-1, 257, 2, 0}, {0, 3, 1, 0}, {0, 3, 2, 0});
  expect_found<std::int64_t, double>(
      {wide, wide + 1, wide + 2, most},
      {9007199254740992, 2.5, 0x1p63, nan_value, infinity, -infinity}, {0, 0, 4, 4, 4, 0},
      {1, 0, 4, 4, 4, 0});
  expect_found<dsl::half, float>({0.5f, 1.f, 65504.f}, {1.0001f, 1, 1e6f}, {2, 1, 3}, {2, 2, 3});
  const auto in = dsl::to_device(std::vector<std::int32_t>{1, 2, 3});
  EXPECT_EQ(dsl::eval(dsl::searchsorted(in, 2.5)).value(), 2);
  EXPECT_EQ(dsl::eval(dsl::searchsorted(in, std::int64_t{1} << 32)).value(), 3);
}

TEST_P(sorting, search_among_sorted_elements) {
  const std::vector<double> host = {-2, 0, 0, 1, 5, nan_value};
  const std::vector<double> wanted = {-3, -2, 0, 0.5, 5, 6, nan_value};
  const auto sorted = dsl::to_device(host), x = dsl::to_device(wanted);
  std::vector<std::int64_t> left, right;
  for (const double w : wanted) {
    left.push_back(std::lower_bound(host.begin(), host.end(), w, is_before<double>) - host.begin());
    right.push_back(std::upper_bound(host.begin(), host.end(), w, is_before<double>) -
                    host.begin());
  }
  EXPECT_EQ(dsl::eval(dsl::searchsorted(sorted, x)).copy_to_host(), left);
  EXPECT_EQ(dsl::eval(dsl::searchsorted(sorted, x, dsl::right)).copy_to_host(), right);
  EXPECT_EQ(dsl::eval(dsl::searchsorted(sorted(dsl::slice(0, 5, 2)), x) + 1).copy_to_host(),
            (std::vector<std::int64_t>{1, 1, 2, 3, 3, 4, 4}));
}

TEST_P(sorting, writing_to_positions) {
  auto x = dsl::to_device(std::vector<float>{0, 1, 2, 3, 4, 5});
  const auto index = dsl::to_device(std::vector<std::int32_t>{1, -1, 1, 3, 1});
  dsl::scatter_add(x, index, dsl::to_device(std::vector<float>{10, 20, 30, 40, 50}));
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{0, 91, 2, 43, 4, 25}));
  dsl::put(x, index, dsl::to_device(std::vector<float>{7, 8, 9}));  // 7, 8, 9, 7, 8
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{0, 8, 2, 7, 4, 8}));
  dsl::put(x, dsl::cast<std::int64_t>(index) - 1, -1.f);
  EXPECT_EQ(x.copy_to_host(), (std::vector<float>{-1, 8, -1, 7, -1, 8}));
  dsl::array<std::int32_t, 2> m = dsl::zeros<std::int32_t>(2, 3);
  dsl::scatter_add(m, index, 1);
  EXPECT_EQ(
      error_of([&] { dsl::put(m, index, std::int64_t{1} << 32); }),
      "the integer 4294967296 is out of bounds for int32, the dtype that it is computed with");
  EXPECT_EQ(m.copy_to_host(), (std::vector<std::int32_t>{0, 3, 0, 1, 0, 1}));
}

// Writing to a few positions of a large target touches no other element.
TEST_P(sorting, writing_to_few_positions) {
  const std::int64_t n = 3001, count = 300;
  std::mt19937 engine(3);
  std::vector<std::int32_t> index;
  std::vector<float> sums(static_cast<std::size_t>(2 * n), 1), last(sums);
  for (std::int64_t i = 0; i < count; ++i)
    index.push_back(static_cast<std::int32_t>(engine() % 90 * 33) - 60);
  for (std::size_t i = 0; i < index.size(); ++i) {
    const auto at = static_cast<std::size_t>(2 * (index[i] < 0 ? index[i] + n : index[i]));
    sums[at] += static_cast<float>(i);
    last[at] = static_cast<float>(i);
  }
  const auto positions = dsl::reshape(dsl::to_device(index), 3, 100);
  const dsl::array<float> values = dsl::arange<float>(count);
  auto x = dsl::full<float>(1, 2 * n);
  auto every_second = x(dsl::slice(0, dsl::end, 2));
  dsl::scatter_add(every_second, positions, dsl::reshape(values, 3, 100));
  EXPECT_EQ(x.copy_to_host(), sums);
  x = 1;
  dsl::put(every_second, positions, values);
  EXPECT_EQ(x.copy_to_host(), last);
  // A row of values for each row of positions.
  auto counts = dsl::zeros<std::int64_t>(n);
  dsl::scatter_add(counts, positions, dsl::to_device(std::vector<std::int64_t>(100, 1)));
  EXPECT_EQ(dsl::sum(counts).value(), count);
}

// The simulator reports positions out of range as they were given; other devices write nothing for
// them, nor to the last element.
TEST_P(sorting, positions_of_no_element) {
  const auto beyond =
      dsl::to_device(std::vector<std::uint64_t>{~std::uint64_t{0}, std::uint64_t{1} << 63});
  for (const std::int64_t n : {2, 40}) {  // few or many positions, relative to the target's size
    auto x = dsl::zeros<float>(n);
    const std::string elements = " is none of " + std::to_string(n) + " elements",
                      most = "9223372036854775807 or more";
    const std::string added = n == 2 ? " is none of 2 groups" : elements;
    const auto expect = [&](const std::string& said, const auto& write) {
      const std::string error = error_of(write);
      if (simulated()) EXPECT_TRUE(error.find(said) != std::string::npos) << error;
      else EXPECT_EQ(error, "no error");
    };
    const auto low = dsl::to_device(std::vector<std::int64_t>{-n - 1});
    const std::string lowest = std::to_string(-n - 1);
    expect("position " + lowest + elements, [&] { dsl::put(x, low, 1.f); });
    expect("position " + most + elements, [&] { dsl::put(x, beyond, 1.f); });
    expect(lowest + added, [&] { dsl::scatter_add(x, low, 1.f); });
    expect(most + added, [&] { dsl::scatter_add(x, beyond, 1.f); });
    EXPECT_EQ(x.copy_to_host(), std::vector<float>(static_cast<std::size_t>(n)));
  }
}

}  // namespace

// Reductions as programs use them: their operators, their targets, and inside other expressions.
#include "../on_device.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <tuple>

namespace {

struct reduction_use : on_device {};
ON_EVERY_DEVICE(reduction_use);

constexpr auto plus = [](auto a, auto b) { return a + b; };
constexpr auto larger = [](auto a, auto b) { return dsl::max(a, b); };
constexpr auto exclusive_or = [](auto a, auto b) { return a ^ b; };

}  // namespace

// A functor is part of a kernel's name, so it needs one of its own.
struct greatest_common_divisor {
  DSL_FN std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    while (b != 0) {
      const std::int64_t rest = a % b;
      a = b, b = rest;
    }
    return a;
  }
};

namespace {

std::vector<std::int64_t> counting(std::int64_t n, std::int64_t first = 1) {
  std::vector<std::int64_t> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), first);
  return v;
}
/// m(i, j) = i * columns + j + 1
dsl::array<std::int64_t, 2> counting(std::int64_t rows, std::int64_t columns, std::int64_t first) {
  return dsl::reshape(dsl::to_device(counting(rows * columns, first)), rows, columns);
}

// Whatever the number of threads, blocks and partial results: it is not an identity.
TEST_P(reduction_use, init_is_applied_once) {
  for (const std::int64_t n : {0, 1, 2, 31, 32, 33, 255, 256, 257, 1025, 20'000}) {
    const auto a = dsl::to_device(counting(n));
    const dsl::scalar<std::int64_t> s = dsl::reduce(plus, 10)(a);
    ASSERT_EQ(s.value(), n * (n + 1) / 2 + 10) << n;
  }
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{3, 4}, {2, 5000}, {5000, 2}, {0, 3}, {3, 0}, {100, 130}}) {
    const auto m = counting(rows, columns, 1);
    const dsl::array<std::int64_t> down = dsl::reduce(plus, 10)(m, dsl::axis(0));
    const dsl::array<std::int64_t, 2> across = dsl::reduce(plus, 10)(m, dsl::axis(1), dsl::keep_dims);
    const auto got_down = down.copy_to_host(), got_across = across.copy_to_host();
    ASSERT_EQ(got_down.size(), static_cast<std::size_t>(columns));
    ASSERT_EQ(got_across.size(), static_cast<std::size_t>(rows));
    for (std::int64_t j = 0; j < columns; ++j) ASSERT_EQ(got_down[static_cast<std::size_t>(j)], 10 + rows * (j + 1) + columns * (rows * (rows - 1) / 2));
    for (std::int64_t i = 0; i < rows; ++i) ASSERT_EQ(got_across[static_cast<std::size_t>(i)], 10 + columns * (columns + 1) / 2 + i * columns * columns);
  }
}

TEST_P(reduction_use, operators) {
  for (const std::int64_t n : {1, 2, 33, 1000, 20'000}) {
    std::vector<std::int64_t> host = counting(n);
    for (std::int64_t& x : host) x = (x * 7919) % 10'007;
    const auto a = dsl::to_device(host);
    std::int64_t bits = 0, most = 0, divisor = 0;
    for (const std::int64_t x : host) bits ^= x, most = std::max(most, x), divisor = std::gcd(divisor, 12 * x);
    EXPECT_EQ(dsl::reduce(exclusive_or, 0)(a).value(), bits) << n;
    EXPECT_EQ(dsl::reduce(larger)(a).value(), most) << n;
    EXPECT_EQ(dsl::reduce(larger, 100'000)(a).value(), 100'000) << n;
    EXPECT_EQ(dsl::reduce(greatest_common_divisor{}, 0)(12 * a).value(), divisor) << n;
  }
  // A weak init leaves the dtype alone.
  static_assert(std::is_same_v<decltype(dsl::eval(dsl::reduce(plus, 0.5)(std::declval<dsl::array<float>>())).value()), float>);
  EXPECT_EQ(dsl::reduce(plus, 0.5)(dsl::to_device(std::vector<float>{1, 2, 4})).value(), 7.5f);
}

TEST_P(reduction_use, nothing_to_reduce) {
  const dsl::array<float> none(0);
  EXPECT_THROW(dsl::scalar<float>{dsl::reduce(larger)(none)}, dsl::shape_error);
  EXPECT_THROW(dsl::scalar<float>{dsl::min(none)}, dsl::shape_error);
  EXPECT_THROW(dsl::scalar<std::int64_t>{dsl::argmax(none)}, dsl::shape_error);
  const dsl::array<float, 2> rows(3, 0);
  EXPECT_THROW(dsl::array<float>{dsl::max(rows, dsl::axis(1))}, dsl::shape_error);
  EXPECT_EQ(dsl::array<float>(dsl::max(rows, dsl::axis(0))).size(), 0);
  EXPECT_EQ(dsl::array<float>(dsl::sum(rows, dsl::axis(1))).copy_to_host(), (std::vector<float>{0, 0, 0}));
}

TEST_P(reduction_use, axes_that_are_not_there) {
  const auto m = counting(3, 4, 1);
  EXPECT_THROW((dsl::array<std::int64_t>(dsl::sum(m, dsl::axis(2)))), dsl::shape_error);
  EXPECT_THROW((dsl::array<std::int64_t>(dsl::sum(m, dsl::axis(-3)))), dsl::shape_error);
  EXPECT_THROW((dsl::scalar<std::int64_t>(dsl::sum(m, dsl::axis(0, -2)))), dsl::shape_error);  // twice the same
}

TEST_P(reduction_use, one_value) {
  const dsl::scalar<float> s = 2.5f;
  EXPECT_EQ(dsl::sum(s).value(), 2.5f);
  EXPECT_EQ(dsl::argmin(s).value(), 0);
  EXPECT_EQ(dsl::count_nonzero(s).value(), 1);
}

// int16 is where int8's sum wraps here.
TEST_P(reduction_use, accumulator) {
  const auto a = dsl::full<std::int8_t>(127, 1000);
  const dsl::scalar<std::int16_t> wrapped = dsl::sum<std::int16_t>(a);
  EXPECT_EQ(wrapped.value(), static_cast<std::int16_t>(127'000));
  const dsl::scalar<float> in_float = dsl::sum<float>(dsl::full<dsl::half>(dsl::half(60'000.0f), 4));  // beyond float16
  EXPECT_EQ(in_float.value(), 240'000.0f);
}

TEST_P(reduction_use, into_views) {
  const auto m = counting(4, 5, 1);
  auto table = dsl::zeros<std::int64_t>(4, 3);
  const auto column = table(dsl::slice(), 1);
  column = dsl::sum(m, dsl::axis(1));
  const auto back = table(dsl::slice(dsl::end, dsl::end, -1), 2);
  back = dsl::max(m, dsl::axis(-1));
  table(0, 0) = dsl::min(m);
  EXPECT_EQ(table.copy_to_host(), (std::vector<std::int64_t>{1, 15, 20, 0, 40, 15, 0, 65, 10, 0, 90, 5}));
}

// All of the right side is complete before the first element is written.
TEST_P(reduction_use, into_what_is_reduced) {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{4, 5}, {700, 3}, {3, 700}, {130, 140}}) {
    auto m = counting(rows, columns, 1);
    const auto first_column = m(dsl::slice(), 0);
    first_column = dsl::sum(m, dsl::axis(1));
    const auto last_row = m(rows - 1, dsl::slice());
    last_row = dsl::max(m, dsl::axis(0));
    m(0, 0) = dsl::sum(m);
    std::vector<std::int64_t> want = counting(rows * columns);
    const auto at = [&, columns = columns](std::int64_t i, std::int64_t j) -> std::int64_t& { return want[static_cast<std::size_t>(i * columns + j)]; };
    for (std::int64_t i = 0; i < rows; ++i) {
      std::int64_t sum = 0;
      for (std::int64_t j = 0; j < columns; ++j) sum += at(i, j);
      at(i, 0) = sum;
    }
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < rows; ++i) at(rows - 1, j) = std::max(at(rows - 1, j), at(i, j));
    at(0, 0) = std::accumulate(want.begin(), want.end(), std::int64_t{0});
    ASSERT_EQ(m.copy_to_host(), want) << rows << " x " << columns;
  }
}

// What one of several reductions over different index spaces is assigned to, another reduces.
TEST_P(reduction_use, into_what_another_reduces) {
  auto m = counting(3, 5, 1);
  auto v = dsl::to_device(counting(5));
  dsl::scalar<std::int64_t> s = std::int64_t{7};
  dsl::tie(v, s) = std::tuple{dsl::sum(m, dsl::axis(0)), dsl::sum(v)};
  EXPECT_EQ(s.value(), 15);
  EXPECT_EQ(v.copy_to_host(), (std::vector<std::int64_t>{18, 21, 24, 27, 30}));
}

TEST_P(reduction_use, shapes_must_fit) {
  const auto m = counting(3, 4, 1);
  auto three = dsl::zeros<std::int64_t>(3);
  EXPECT_THROW(three = dsl::sum(m, dsl::axis(0)), dsl::shape_error);
  EXPECT_EQ(three.copy_to_host(), (std::vector<std::int64_t>{0, 0, 0}));
  three = dsl::sum(m, dsl::axis(1));
  EXPECT_EQ(three.copy_to_host(), (std::vector<std::int64_t>{10, 26, 42}));
}

TEST_P(reduction_use, inside_expressions) {
  const auto host = random_floats(3000);
  const auto x = dsl::to_device(host);
  double squares = 0, largest = -9, exps = 0;
  for (const float v : host) squares += double(v) * v, largest = std::max(largest, double(v));
  for (const float v : host) exps += std::exp(v - largest);

  const auto unit = dsl::array<float>(x / dsl::norm(x)).copy_to_host();
  const auto softmax = dsl::array<float>(exp(x - dsl::max(x)) / dsl::sum(exp(x - dsl::max(x)))).copy_to_host();
  const dsl::scalar<float> rms = sqrt(dsl::sum(x * x) / static_cast<std::int64_t>(host.size()));
  for (std::size_t i = 0; i < host.size(); ++i) {
    ASSERT_NEAR(unit[i], host[i] / std::sqrt(squares), 1e-6);
    ASSERT_NEAR(softmax[i], std::exp(host[i] - largest) / exps, 1e-6 / exps);
  }
  EXPECT_NEAR(rms.value(), std::sqrt(squares / 3000), 1e-6);

  const auto m = dsl::reshape(x, 60, 50);
  const auto centred = dsl::array<float, 2>(m - dsl::mean(m, dsl::axis(1), dsl::keep_dims)).copy_to_host();
  for (std::size_t i = 0; i < 60; ++i) {
    double mean = 0;
    for (std::size_t j = 0; j < 50; ++j) mean += host[i * 50 + j] / 50.0;
    for (std::size_t j = 0; j < 50; ++j) ASSERT_NEAR(centred[i * 50 + j], host[i * 50 + j] - mean, 1e-6);
  }
  // One reduction of another.
  const dsl::scalar<float> smallest_row = dsl::min(dsl::sum(m * m, dsl::axis(1)));
  double least = 1e9;
  for (std::size_t i = 0; i < 60; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < 50; ++j) sum += double(host[i * 50 + j]) * host[i * 50 + j];
    least = std::min(least, sum);
  }
  EXPECT_NEAR(smallest_row.value(), least, 1e-4);
}

TEST_P(reduction_use, several_at_once) {
  const auto m = counting(40, 30, -600);
  dsl::scalar<std::int64_t> lowest, highest, at;
  dsl::scalar<double> mean;
  dsl::tie(lowest, highest, mean, at) = std::tuple{dsl::min(m), dsl::max(m), dsl::mean(m), dsl::argmax(m)};
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
  const auto f = dsl::vectorize([](auto x, auto y) { return std::tuple{x * y, dsl::sum(x * y), dsl::max(x), dsl::mean(y), dsl::any(x > 998)}; });
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

// To the last bit: the order of the terms depends on the shape alone.
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
  const auto once = [&] {
    const dsl::scalar<float> sum = dsl::sum(x), product = dsl::prod(1 + x / 1e6f), variance = dsl::var(x), norm = dsl::norm(x);
    const dsl::array<float> across = dsl::sum(m, dsl::axis(1)), down = dsl::mean(m, dsl::axis(0));
    const dsl::array<float> tall_across = dsl::var(tall, dsl::axis(1)), tall_down = dsl::std(tall, dsl::axis(0));
    return std::tuple{std::array{sum.value(), product.value(), variance.value(), norm.value()}, bits(across), bits(down), bits(tall_across), bits(tall_down)};
  };
  const auto first = once();
  for (int k = 0; k < 3; ++k) EXPECT_EQ(once(), first);
}

// A NaN anywhere, and only there.
TEST_P(reduction_use, nan_anywhere) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t n : {1, 16, 17, 1000, 5000})
    for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
      std::vector<float> host(static_cast<std::size_t>(n), 1);
      host[static_cast<std::size_t>(at)] = nan;
      const auto x = dsl::to_device(host);
      EXPECT_TRUE(std::isnan(dsl::max(x).value())) << n << ", " << at;
      EXPECT_TRUE(std::isnan(dsl::sum(x).value())) << n << ", " << at;
      EXPECT_EQ(dsl::argmin(x).value(), at) << n;
      EXPECT_EQ(dsl::nansum(x).value(), static_cast<float>(n - 1)) << at;
      EXPECT_EQ(dsl::nanargmax(x).value(), n == 1 ? -1 : at == 0 ? 1 : 0) << at;
      EXPECT_EQ(dsl::count_nonzero(dsl::isnan(x)).value(), 1);
    }
}

// Mostly one value, that which a fold begins with among them, and others at random places.
template <class T>
void expect_first(T usual, const std::vector<T>& others, std::int64_t n) {
  std::vector<T> v(static_cast<std::size_t>(n));
  for (unsigned draw = 0; draw < 12; ++draw) {
    const unsigned rarity = draw % 3 == 0 ? 2 : draw % 3 == 1 ? 64 : 4096;
    unsigned state = draw;
    for (T& each : v) {
      state = state * 1'664'525 + 1'013'904'223;
      const unsigned random = state >> 8;
      each = random % rarity != 0 ? usual : others[random / rarity % others.size()];
    }
    const auto x = dsl::to_device(v);
    ASSERT_EQ(dsl::argmax(x).value(), std::max_element(v.begin(), v.end()) - v.begin()) << n << ", draw " << draw;
    ASSERT_EQ(dsl::argmin(x).value(), std::min_element(v.begin(), v.end()) - v.begin()) << n << ", draw " << draw;
  }
}

TEST_P(reduction_use, positions_of_the_first) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const std::int64_t n : {1, 31, 32, 33, 100, 2047, 2048, 2049, 5000, 40'000}) {
    expect_first(-infinity, {infinity, 0.0f, -0.0f, 1.0f}, n);
    expect_first(infinity, {-infinity, -1.0f}, n);
    expect_first<std::int8_t>(-128, {127, 0}, n);
    expect_first<std::int8_t>(127, {-128, 1}, n);
  }
}

}  // namespace

// Reductions as programs use them: operators, targets, and reductions inside other expressions.
#include "use.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

// A functor is part of a kernel's name, so it needs a unique name.
struct greatest_common_divisor {
  DSL_FN std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    while (b != 0) {
      const std::int64_t rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }
};

namespace {

ON_EVERY_DEVICE(reduction_use);

constexpr auto exclusive_or = [](auto a, auto b) { return a ^ b; };

// For any number of threads, blocks and partial results: the init is not an identity.
TEST_P(reduction_use, init_is_applied_once) {
  for (const std::int64_t n : {0, 1, 2, 31, 32, 33, 255, 256, 257, 1025, 20'000}) {
    const auto a = dsl::to_device(counting(n));
    const dsl::scalar<std::int64_t> s = dsl::reduce(plus, 10)(a);
    ASSERT_EQ(s.value(), n * (n + 1) / 2 + 10) << n;
  }
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{3, 4},
                                      {2, 5000},
                                      {5000, 2},
                                      {0, 3},
                                      {3, 0},
                                      {100, 130}}) {
    const auto m = counting(rows, columns, 1);
    const dsl::array<std::int64_t> down = dsl::reduce(plus, 10)(m, dsl::axis(0));
    const dsl::array<std::int64_t, 2> across =
        dsl::reduce(plus, 10)(m, dsl::axis(1), dsl::keep_dims);
    const auto got_down = down.copy_to_host(), got_across = across.copy_to_host();
    ASSERT_EQ(got_down.size(), static_cast<std::size_t>(columns));
    ASSERT_EQ(got_across.size(), static_cast<std::size_t>(rows));
    for (std::int64_t j = 0; j < columns; ++j)
      ASSERT_EQ(got_down[static_cast<std::size_t>(j)],
                10 + rows * (j + 1) + columns * (rows * (rows - 1) / 2));
    for (std::int64_t i = 0; i < rows; ++i)
      ASSERT_EQ(got_across[static_cast<std::size_t>(i)],
                10 + columns * (columns + 1) / 2 + i * columns * columns);
  }
}

TEST_P(reduction_use, operators) {
  for (const std::int64_t n : {1, 2, 33, 1000, 20'000}) {
    std::vector<std::int64_t> host = counting(n);
    for (std::int64_t& x : host) x = (x * 7919) % 10'007;
    const auto a = dsl::to_device(host);
    std::int64_t bits = 0, most = 0, divisor = 0;
    for (const std::int64_t x : host) {
      bits ^= x;
      most = std::max(most, x);
      divisor = std::gcd(divisor, 12 * x);
    }
    EXPECT_EQ(dsl::reduce(exclusive_or, 0)(a).value(), bits) << n;
    EXPECT_EQ(dsl::reduce(larger, 100'000)(a).value(), 100'000) << n;
    EXPECT_EQ(dsl::reduce(greatest_common_divisor{}, 0)(12 * a).value(), divisor) << n;
  }
}

TEST_P(reduction_use, nothing_to_reduce) {
  const dsl::array<std::int64_t> none(0);
  EXPECT_THROW(dsl::scalar<std::int64_t>{dsl::max(none)}, dsl::shape_error);
  const dsl::array<std::int64_t, 2> rows(3, 0);
  EXPECT_THROW(dsl::array<std::int64_t>{dsl::max(rows, dsl::axis(1))}, dsl::shape_error);
  EXPECT_EQ(dsl::array<std::int64_t>(dsl::max(rows, dsl::axis(0))).size(), 0);
  EXPECT_EQ(dsl::array<std::int64_t>(dsl::sum(rows, dsl::axis(1))).copy_to_host(),
            (std::vector<std::int64_t>{0, 0, 0}));
}

TEST_P(reduction_use, axes_that_are_not_there) {
  const auto m = counting(3, 4, 1);
  EXPECT_THROW((dsl::array<std::int64_t>(dsl::sum(m, dsl::axis(2)))), dsl::shape_error);
  EXPECT_THROW((dsl::array<std::int64_t>(dsl::sum(m, dsl::axis(-3)))), dsl::shape_error);
  EXPECT_THROW((dsl::scalar<std::int64_t>(dsl::sum(m, dsl::axis(0, -2)))),
               dsl::shape_error);  // the same axis twice
}

TEST_P(reduction_use, one_value) {
  const dsl::scalar<float> s = 2.5f;
  dsl::scalar<float> sum;
  dsl::scalar<std::int64_t> count;
  dsl::tie(sum, count) = std::tuple{dsl::sum(s), dsl::count_nonzero(s)};
  EXPECT_EQ(sum.value(), 2.5f);
  EXPECT_EQ(count.value(), 1);
}

TEST_P(reduction_use, into_views) {
  const auto m = counting(4, 5, 1);
  auto table = dsl::zeros<std::int64_t>(4, 3);
  const auto column = table(dsl::slice(), 1);
  column = dsl::sum(m, dsl::axis(1));
  const auto back = table(dsl::slice(dsl::end, dsl::end, -1), 2);
  back = dsl::max(m, dsl::axis(-1));
  table(0, 0) = dsl::min(m);
  EXPECT_EQ(table.copy_to_host(),
            (std::vector<std::int64_t>{1, 15, 20, 0, 40, 15, 0, 65, 10, 0, 90, 5}));
}

// The right side is complete before the first element is written.
TEST_P(reduction_use, into_what_is_reduced) {
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{4, 5}, {700, 3}, {3, 700}, {130, 140}}) {
    auto m = counting(rows, columns, 1);
    const auto first_column = m(dsl::slice(), 0);
    first_column = dsl::sum(m, dsl::axis(1));
    const auto last_row = m(rows - 1, dsl::slice());
    last_row = dsl::max(m, dsl::axis(0));
    m(0, 0) = dsl::sum(m);
    std::vector<std::int64_t> want = counting(rows * columns);
    const auto at = [&, columns = columns](std::int64_t i, std::int64_t j) -> std::int64_t& {
      return want[static_cast<std::size_t>(i * columns + j)];
    };
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
  double squares = 0;
  for (const float v : host) squares += double(v) * v;

  const auto unit = dsl::array<float>(x / dsl::norm(x)).copy_to_host();
  for (std::size_t i = 0; i < host.size(); ++i)
    ASSERT_NEAR(unit[i], host[i] / std::sqrt(squares), 1e-6);

  const auto m = dsl::reshape(x, 60, 50);
  const auto centred =
      dsl::array<float, 2>(m - dsl::mean(m, dsl::axis(1), dsl::keep_dims)).copy_to_host();
  for (std::size_t i = 0; i < 60; ++i) {
    double mean = 0;
    for (std::size_t j = 0; j < 50; ++j) mean += host[i * 50 + j] / 50.0;
    for (std::size_t j = 0; j < 50; ++j)
      ASSERT_NEAR(centred[i * 50 + j], host[i * 50 + j] - mean, 1e-6);
  }
}

}  // namespace

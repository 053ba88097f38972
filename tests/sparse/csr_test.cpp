// Products of sparse matrices beside loops, in formulas and of views; matrices that are wrong.
#include "../error_of.hpp"
#include "host_csr.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace {

struct sparse_matrices : on_device {};
ON_EVERY_DEVICE(sparse_matrices);

TEST_P(sparse_matrices, times_a_vector) {
  for (const std::int64_t rows : {0, 1, 31, 32, 33, 255, 256, 257, 1009})
    for (const int most : {0, 1, 6, 40, 150})
      expect_product(host_csr<float>(53, lengths_at_random(rows, most, 3), 5));
  if (!simulated()) expect_product(host_csr<float>(30'011, lengths_at_random(60'013, 50, 3), 5));
}

TEST_P(sparse_matrices, times_a_matrix) {
  const auto lengths = lengths_at_random(101, 30, 4);
  for (const std::int64_t n : {1, 2, 3, 8, 31, 32, 33, 65})
    expect_product(host_csr<float>(53, lengths, 5), n);
  expect_product(host_csr<float>(53, {}, 5), 3);
}

// Rows that several blocks share, at and around the boundaries of their parts.
TEST_P(sparse_matrices, with_long_rows) {
  std::vector<int> lengths(400, 1);
  lengths[0] = 4095;
  lengths[7] = 4096;
  lengths[8] = 4097;
  lengths[200] = 20'000;
  lengths[399] = 3000;
  const host_csr<float> m(211, lengths, 6);
  const std::int64_t entries = m.offsets.back();
  ASSERT_EQ(m.copied().structure().long_rows, 5);
  ASSERT_LT(dsl::detail::longest_csr_row(m.rows, entries), 3000);
  expect_product(m);
  for (const std::int64_t n : {1, 2, 5, 33}) expect_product(m, n);
}

// The two lengths between which a row becomes long.
TEST_P(sparse_matrices, with_rows_of_the_longest_length) {
  for (const int more : {0, 1}) {
    std::vector<int> lengths(100, 1);
    lengths[50] = dsl::detail::longest_csr_row(100, 100) + more;
    const host_csr<double> m(7, lengths, 8);
    ASSERT_EQ(dsl::detail::longest_csr_row(100, m.offsets.back()), 64);
    ASSERT_EQ(m.copied().structure().long_rows, more);
    expect_product(m);
  }
}

// Rows whose entries a warp reads in several rounds, from places of every alignment.
TEST_P(sparse_matrices, with_many_entries_a_warp) {
  for (const int before : {0, 1, 7, 8, 9}) {
    std::vector<int> lengths(400, 1);
    lengths[0] = before;
    for (std::size_t i = 32; i < 64; ++i) lengths[i] = 65;
    lengths[48] = 127;
    const host_csr<double> m(97, lengths, 9);
    const std::int64_t entries = m.offsets.back();
    ASSERT_TRUE(dsl::detail::is_streamed_csr(m.rows, entries, 1));
    ASSERT_EQ(dsl::detail::log2_lanes_of_streamed_csr(m.rows, entries), 0);
    ASSERT_EQ(m.copied().structure().long_rows, 0);
    expect_product(m);
  }
}

TEST_P(sparse_matrices, in_formulas) {
  const std::int64_t n = 1009;
  const host_csr<double> m(n, lengths_at_random(n, 9, 1), 2);
  const auto a = m.copied();
  const std::vector<double> h = wholes<double>(n, 3);
  auto x = dsl::to_device(h);
  const auto at = [](const std::vector<double>& v, std::size_t i) { return v[i]; };
  const std::vector<double> once = m.times(h);

  dsl::array<double> y = x - 2 * dsl::matmul(a, x);
  const auto got = y.copy_to_host();
  for (std::size_t i = 0; i < h.size(); ++i) ASSERT_EQ(got[i], h[i] - 2 * at(once, i));

  std::vector<double> shifted = h;
  for (double& each : shifted) each = 2 * each + 1;
  y = dsl::matmul(a, 2 * x + 1);  // an expression, into memory that y has
  EXPECT_EQ(y.copy_to_host(), m.times(shifted));
  EXPECT_EQ(dsl::eval(dsl::matmul(a, dsl::matmul(a, x))).copy_to_host(), m.times(once));
  const double total = std::accumulate(once.begin(), once.end(), 0.0);
  EXPECT_EQ(dsl::sum(dsl::matmul(a, x)).value(), total);
  // A reduction before it.
  y = dsl::matmul(a, x * dsl::max(x));
  for (double& each : shifted) each = (each - 1) / 2 * 4;
  EXPECT_EQ(y.copy_to_host(), m.times(shifted));

  x = dsl::matmul(a, x);  // in place
  EXPECT_EQ(x.copy_to_host(), once);
}

TEST_P(sparse_matrices, of_views) {
  const host_csr<float> m(41, lengths_at_random(67, 9, 1), 2);
  const auto a = m.copied();
  const std::vector<float> wide = wholes<float>(41 * 6, 3);
  const dsl::array<float, 2> x = dsl::reshape(dsl::to_device(wide), 41, 6);
  const auto column = [&](std::int64_t j) {
    std::vector<float> of;
    for (std::size_t i = 0; i < 41; ++i) of.push_back(wide[i * 6 + static_cast<std::size_t>(j)]);
    return of;
  };
  const dsl::slice all(0, dsl::end);
  dsl::array<float> y = dsl::matmul(a, x(all, 3));
  EXPECT_EQ(y.copy_to_host(), m.times(column(3)));
  auto backwards = column(2);
  std::reverse(backwards.begin(), backwards.end());
  y = dsl::matmul(a, dsl::flip(x(all, 2)));
  EXPECT_EQ(y.copy_to_host(), m.times(backwards));

  const dsl::array<float, 2> turned = dsl::transpose(x);
  dsl::array<float, 2> product = dsl::matmul(a, dsl::transpose(turned));
  EXPECT_EQ(product.copy_to_host(), m.times(wide, 6));
  const dsl::array<float, 2> few = dsl::matmul(a, x(all, dsl::slice(1, dsl::end, 2)));
  for (std::int64_t j = 0; j < 3; ++j)
    EXPECT_EQ(dsl::eval(few(all, j)).copy_to_host(), m.times(column(2 * j + 1)));

  // Into views, misaligned and with a step, and of a wider dtype.
  dsl::array<float> target = dsl::zeros<float>(300);
  from_element(target, 1, 67) = dsl::matmul(a, x(all, 0));
  from_element(target, 70, 67, 3) = dsl::matmul(a, x(all, 0));
  const auto got = target.copy_to_host(), want = m.times(column(0));
  for (std::size_t i = 0; i < 67; ++i) {
    ASSERT_EQ(got[i + 1], want[i]);
    ASSERT_EQ(got[70 + 3 * i], want[i]);
  }
  dsl::array<double> wider = dsl::matmul(a, x(all, 0));
  EXPECT_EQ(wider.copy_to_host(), std::vector<double>(want.begin(), want.end()));
}

// Only the rows that have entries in a column see what is in it.
TEST_P(sparse_matrices, with_nan) {
  const host_csr<float> m(5, {2, 0, 3, 1}, 1);
  for (const float odd :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> x(5, 1.f);
    x[2] = odd;
    const auto y = dsl::eval(dsl::matmul(m.copied(), dsl::to_device(x))).copy_to_host();
    for (std::size_t i = 0; i < 4; ++i) {
      bool sees = false;
      for (auto k = m.offsets[i]; k < m.offsets[i + 1]; ++k)
        sees = sees || m.columns[static_cast<std::size_t>(k)] == 2;
      EXPECT_EQ(!std::isfinite(y[i]), sees) << i;
    }
  }
}

TEST_P(sparse_matrices, that_are_wrong) {
  using ints = std::vector<std::int32_t>;
  const auto made = [](std::int64_t rows, std::int64_t width, std::size_t n, const ints& columns,
                       const ints& offsets) {
    return error_of([&] {
      dsl::sparse::csr<float>(rows, width, dsl::to_device(std::vector<float>(n, 1.f)),
                              dsl::to_device(columns), dsl::to_device(offsets));
    });
  };
  EXPECT_EQ(made(2, 3, 2, {0, 2}, {0, 1, 2}), "no error");
  EXPECT_EQ(made(2, 3, 2, {0, 3}, {0, 1, 2}),
            "columns from 0 to 3 in a sparse matrix of 3 columns");
  EXPECT_EQ(made(2, 3, 2, {-1, 2}, {0, 1, 2}),
            "columns from -1 to 2 in a sparse matrix of 3 columns");
  const std::string offsets =
      "offsets of a sparse matrix of 2 rows and 2 entries, which do not rise from 0 to the number "
      "of entries";
  EXPECT_EQ(made(2, 3, 2, {0, 2}, {0, 1, 3}), offsets);
  EXPECT_EQ(made(2, 3, 2, {0, 2}, {1, 1, 2}), offsets);
  EXPECT_EQ(made(2, 3, 2, {0, 2}, {0, 3, 2}), offsets);
  EXPECT_EQ(made(2, 3, 2, {0, 2}, {0, 2}),
            "a sparse matrix of 2 rows made of 2 values, 2 columns and 2 offsets: it has a column "
            "for each value, and an offset for each row and one more");
  EXPECT_EQ(made(-1, 3, 0, {}, {0}), "a sparse matrix of -1 x 3: no extent is negative");

  const host_csr<float> m(3, {1, 2}, 1);
  const auto a = m.copied();
  const dsl::array<float> x = dsl::ones<float>(4);
  dsl::array<float> y = dsl::ones<float>(2), longer = dsl::ones<float>(3);
  EXPECT_EQ(error_of([&] { y = dsl::matmul(a, x); }),
            "a product of a sparse matrix of 3 columns with an operand of 4 rows");
  EXPECT_NE(error_of([&] { longer = dsl::matmul(a, x(dsl::slice(0, 3))); }), "no error");
  EXPECT_EQ(y.copy_to_host(), (std::vector<float>{1, 1}));
  EXPECT_EQ(longer.copy_to_host(), (std::vector<float>{1, 1, 1}));
}

TEST_P(sparse_matrices, on_another_device) {
  const host_csr<float> m(3, {1, 2}, 1);
  const auto a = m.copied();
  const dsl::device_guard there(dsl::device(simulated() ? "host" : "sim"));
  const dsl::array<float> x = dsl::ones<float>(3);
  dsl::array<float> y;
  EXPECT_NE(error_of([&] { y = dsl::matmul(a, x); }), "no error");
  EXPECT_FALSE(y.has_memory());
}

TEST_P(sparse_matrices, is_explained) {
  const host_csr<float> m(3, {1, 2}, 1);
  const auto a = m.copied();
  dsl::array<float> y = dsl::ones<float>(2), x = dsl::ones<float>(3);
  const std::string text(dsl::explain(y, 2 * dsl::matmul(a, x)).text().c_str());
  EXPECT_NE(text.find("matmul of a sparse matrix of 2 x 3 with 3 entries and of (3)"), text.npos)
      << text;
  EXPECT_EQ(y.copy_to_host(), (std::vector<float>{1, 1}));
}

}  // namespace

// Sparse matrices: how they are made, and their products beside loops in double.
#include "../error_of.hpp"
#include "../on_device.hpp"

#include <dsl/sparse.hpp>

#include <complex>
#include <map>
#include <numeric>
#include <random>

namespace {

struct sparse_matrices : on_device {};
ON_EVERY_DEVICE(sparse_matrices);

template <class T> constexpr bool is_complex = dsl::kind_of(dsl::dtype_v<T>) == dsl::kind::complex;
template <class T> using wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;

// Small whole numbers, so that every order of the additions gives the same bits.
template <class T>
T whole(std::mt19937& engine) {
  const auto number = [&engine] { return static_cast<double>(static_cast<int>(engine() % 9) - 4); };
  if constexpr (is_complex<T>) {
    const double re = number(), im = number();
    return T(static_cast<typename T::value_type>(re), static_cast<typename T::value_type>(im));
  } else {
    return static_cast<T>(number());
  }
}
template <class T>
std::vector<T> wholes(std::int64_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<T> all(static_cast<std::size_t>(n));
  for (T& each : all) each = whole<T>(engine);
  return all;
}

/// A matrix on the host, with rows of the given lengths.
template <class T>
struct host_csr {
  std::int64_t rows, width;
  std::vector<T> values;
  std::vector<std::int32_t> columns, offsets{0};

  host_csr(std::int64_t width_, const std::vector<int>& lengths, unsigned seed)
      : rows(static_cast<std::int64_t>(lengths.size())), width(width_) {
    std::mt19937 engine(seed);
    for (const int length : lengths) {
      for (int k = 0; k < length; ++k) {
        values.push_back(whole<T>(engine));
        columns.push_back(static_cast<std::int32_t>(engine() % static_cast<unsigned>(width)));
      }
      offsets.push_back(static_cast<std::int32_t>(values.size()));
    }
  }
  dsl::sparse::csr<T> copied() const {
    return {rows, width, dsl::to_device(values), dsl::to_device(columns), dsl::to_device(offsets)};
  }
  // The product with a matrix of n columns, row by row.
  std::vector<T> times(const std::vector<T>& x, std::int64_t n = 1) const {
    std::vector<T> y;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        wide<T> total = 0;
        for (auto k = static_cast<std::size_t>(offsets[i]);
             k < static_cast<std::size_t>(offsets[i + 1]); ++k)
          total += wide<T>(values[k]) * wide<T>(x[static_cast<std::size_t>(columns[k] * n + j)]);
        y.push_back(static_cast<T>(total));
      }
    return y;
  }
};

std::vector<int> lengths_at_random(std::int64_t rows, int most, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<int> lengths(static_cast<std::size_t>(rows));
  for (int& each : lengths) each = static_cast<int>(engine() % static_cast<unsigned>(most + 1));
  return lengths;
}

template <class T>
void expect_product(const host_csr<T>& m, std::int64_t n = 0) {
  SCOPED_TRACE(testing::Message() << m.rows << " x " << m.width << ", " << m.values.size()
                                  << " entries, times " << n);
  const dsl::sparse::csr<T> a = m.copied();
  const std::vector<T> x = wholes<T>(m.width * std::max<std::int64_t>(n, 1), 7);
  if (n == 0) {
    const auto on_it = dsl::to_device(x);
    const dsl::array<T> y = dsl::matmul(a, on_it);
    ASSERT_EQ(y.copy_to_host(), m.times(x));
  } else {
    const dsl::array<T, 2> on_it = dsl::reshape(dsl::to_device(x), m.width, n);
    const dsl::array<T, 2> y = dsl::matmul(a, on_it);
    ASSERT_EQ(y.extents(), (dsl::extents<2>{m.rows, n}));
    ASSERT_EQ(y.copy_to_host(), m.times(x, n));
  }
}

TEST_P(sparse_matrices, times_a_vector) {
  for (const std::int64_t rows : {0, 1, 31, 32, 33, 255, 256, 257, 1009})
    for (const int most : {0, 1, 6, 40, 150})
      expect_product(host_csr<float>(53, lengths_at_random(rows, most, 3), 5));
  if (!simulated()) expect_product(host_csr<float>(30'011, lengths_at_random(60'013, 50, 3), 5));
  const auto lengths = lengths_at_random(301, 20, 4);
  expect_product(host_csr<double>(53, lengths, 5));
  expect_product(host_csr<std::complex<float>>(53, lengths, 5));
  expect_product(host_csr<std::complex<double>>(53, lengths, 5));
}

TEST_P(sparse_matrices, times_a_matrix) {
  const auto lengths = lengths_at_random(101, 30, 4);
  for (const std::int64_t n : {1, 2, 3, 8, 31, 32, 33, 65})
    expect_product(host_csr<float>(53, lengths, 5), n);
  expect_product(host_csr<double>(53, lengths, 5), 5);
  expect_product(host_csr<std::complex<double>>(53, lengths, 5), 3);
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
  expect_product(host_csr<std::complex<double>>(211, lengths, 6));
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

TEST_P(sparse_matrices, of_entries_in_any_order) {
  for (const std::int64_t n : {0, 1, 32, 1000, 5003}) {
    std::mt19937 engine(9);
    std::vector<int> rows, columns;
    std::vector<double> values = wholes<double>(n, 4);
    std::map<std::pair<int, int>, double> sums;
    for (std::size_t k = 0; k < values.size(); ++k) {
      rows.push_back(static_cast<int>(engine() % 37));
      columns.push_back(static_cast<int>(engine() % 41));
      sums[{rows.back(), columns.back()}] += values[k];
    }
    const auto row_of = dsl::to_device(rows), column_of = dsl::to_device(columns);
    const auto a = dsl::sparse::from_coo(40, 41, row_of, column_of, dsl::to_device(values));
    ASSERT_EQ(a.extents(), (dsl::extents<2>{40, 41}));
    ASSERT_EQ(a.entries(), static_cast<std::int64_t>(sums.size()));
    const auto v = a.values().copy_to_host();
    const auto c = a.columns().copy_to_host(), o = a.offsets().copy_to_host();
    std::size_t k = 0;
    for (int row = 0; row < 40; ++row) {
      ASSERT_EQ(static_cast<std::size_t>(o[static_cast<std::size_t>(row)]), k);
      for (auto at = sums.lower_bound({row, 0}); at != sums.end() && at->first.first == row;
           ++at, ++k) {
        ASSERT_EQ(c[k], at->first.second);
        ASSERT_EQ(v[k], at->second);
      }
    }
    ASSERT_EQ(static_cast<std::size_t>(o[40]), k);
  }
}

TEST_P(sparse_matrices, of_a_dense_matrix) {
  std::vector<std::complex<float>> dense = wholes<std::complex<float>>(13 * 17, 2);
  for (std::size_t i = 0; i < dense.size(); i += 3) dense[i] = 0;
  for (std::size_t i = 17; i < 34; ++i) dense[i] = 0;  // an empty row
  const dsl::array<std::complex<float>, 2> m = dsl::reshape(dsl::to_device(dense), 13, 17);
  const auto a = dsl::sparse::from_dense(m);
  std::int64_t nonzero = 0;
  for (const auto& each : dense) nonzero += each != 0.f;
  EXPECT_EQ(a.entries(), nonzero);
  // Times the unit matrix it is itself again.
  const dsl::array<std::complex<float>, 2> unit = dsl::cast<std::complex<float>>(
      dsl::expand_dims(dsl::arange<int>(17), 1) == dsl::arange<int>(17));
  EXPECT_EQ(dsl::eval(dsl::matmul(a, unit)).copy_to_host(), dense);
  EXPECT_EQ(dsl::sparse::from_dense(dsl::transpose(m) * 1.f).extents(), (dsl::extents<2>{17, 13}));
  EXPECT_EQ(dsl::sparse::from_dense(dsl::zeros<float>(3, 0)).entries(), 0);
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

  const auto one = dsl::to_device(std::vector<int>{1}),
             two = dsl::to_device(std::vector<int>{0, 5});
  const auto value = dsl::to_device(std::vector<float>{1.f}),
             values = dsl::to_device(std::vector<float>{1.f, 2.f});
  EXPECT_EQ(error_of([&] { dsl::sparse::from_coo(4, 9, two, two, values); }),
            "rows from 0 to 5 in a sparse matrix of 4 rows");
  EXPECT_EQ(error_of([&] { dsl::sparse::from_coo(9, 4, two, two, values); }),
            "columns from 0 to 5 in a sparse matrix of 4 columns");
  EXPECT_EQ(error_of([&] { dsl::sparse::from_coo(9, 9, one, two, value); }),
            "a sparse matrix of 9 x 9 made of 1 rows, 2 columns and 1 values: each entry has one "
            "of each");

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

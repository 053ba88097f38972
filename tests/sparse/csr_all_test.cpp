// Sparse matrices made of entries in any order and of dense ones; products in every dtype.
#include "../error_of.hpp"
#include "host_csr.hpp"

#include <map>

namespace {

struct sparse_conversions : on_device {};
ON_EVERY_DEVICE(sparse_conversions);

template <class T>
void expect_products() {
  const auto lengths = lengths_at_random(301, 20, 4);
  expect_product(host_csr<T>(53, lengths, 5));
  expect_product(host_csr<T>(53, lengths, 5), 5);
  std::vector<int> some_long(400, 1);
  some_long[200] = 9000;
  expect_product(host_csr<T>(211, some_long, 6));
  expect_product(host_csr<T>(211, some_long, 6), 3);
}
TEST_P(sparse_conversions, products_in_every_dtype) {
  expect_products<float>();
  expect_products<double>();
  expect_products<std::complex<float>>();
  expect_products<std::complex<double>>();
}

TEST_P(sparse_conversions, of_entries_in_any_order) {
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

TEST_P(sparse_conversions, of_a_dense_matrix) {
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

TEST_P(sparse_conversions, of_entries_that_are_wrong) {
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
}

}  // namespace

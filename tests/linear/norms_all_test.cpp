// Norms of matrices and singular values, against NumPy's values and sums in higher precision.
#include <dsl/linear.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "../error_of.hpp"
#include "../on_device.hpp"
#include "matrices.hpp"

namespace {

using namespace matrices;
using namespace std::complex_literals;

struct matrix_norms : on_device {};
ON_EVERY_DEVICE(matrix_norms);

TEST_P(matrix_norms, numpys_values) {
  // np.linalg.matrix_norm(x, ord=...) of np.array([[1, -2, 3], [4, 5, -6]]).
  dsl::array<int, 2> x(2, 3);
  x.copy_from_host(std::vector<int>{1, -2, 3, 4, 5, -6});
  EXPECT_DOUBLE_EQ(dsl::matrix_norm(x).value(), 9.5393920141694561);
  EXPECT_EQ(dsl::matrix_norm<1>(x).value(), 9);
  EXPECT_EQ(dsl::matrix_norm<-1>(x).value(), 5);
  EXPECT_EQ(dsl::matrix_norm<dsl::inf>(x).value(), 15);
  EXPECT_EQ(dsl::matrix_norm<-dsl::inf>(x).value(), 6);
  // The squares are the eigenvalues of [[14, -24], [-24, 77]].
  const double root = std::sqrt(63.0 * 63.0 + 4 * 24.0 * 24.0),
               greatest = std::sqrt((91 + root) / 2), least = std::sqrt((91 - root) / 2);
  EXPECT_NEAR(dsl::matrix_norm<2>(x).value(), greatest, 1e-14);
  EXPECT_NEAR(dsl::matrix_norm<-2>(x).value(), least, 1e-14);
  EXPECT_NEAR(dsl::matrix_norm<dsl::nuclear>(x).value(), greatest + least, 1e-14);
  EXPECT_NEAR(dsl::matrix_norm<2>(dsl::transpose(x)).value(), greatest, 1e-14);
}

TEST_P(matrix_norms, batches_and_values) {
  const auto a = filled<c64, 3>({3, 4, 7}, 1);
  const auto [u, s, vh] = dsl::svd(a);
  const dsl::array<double, 2> values = dsl::svdvals(a);
  ASSERT_EQ(values.extents(), (dsl::extents<2>{3, 4}));
  EXPECT_LE(off(values - s), 1e-14);
  EXPECT_LE(off(dsl::svdvals(conj(dsl::permute(a, 0, 2, 1))) - s), 1e-14);
  EXPECT_LE(off(dsl::matrix_norm<dsl::nuclear>(a) - dsl::sum(s, dsl::axis(1))), 1e-14);
  EXPECT_LE(off(dsl::matrix_norm<2>(a) - s(dsl::slice(), 0)), 1e-14);
  EXPECT_LE(off(dsl::matrix_norm(a) - sqrt(dsl::sum(square(s), dsl::axis(1)))), 1e-14);
  // Sums in long double.
  const auto x = a.copy_to_host();
  const auto columns = dsl::eval(dsl::matrix_norm<1>(a)).copy_to_host(),
             rows = dsl::eval(dsl::matrix_norm<-dsl::inf>(a)).copy_to_host();
  for (std::size_t k = 0; k < 3; ++k) {
    long double of_column[7] = {}, of_row[4] = {};
    for (std::size_t i = 0; i < 28; ++i) {
      of_column[i % 7] += std::abs(widened(x[k * 28 + i]));
      of_row[i / 7] += std::abs(widened(x[k * 28 + i]));
    }
    EXPECT_NEAR(columns[k], static_cast<double>(*std::max_element(of_column, of_column + 7)),
                1e-14);
    EXPECT_NEAR(rows[k], static_cast<double>(*std::min_element(of_row, of_row + 4)), 1e-14);
  }
}

TEST_P(matrix_norms, edges) {
  const auto one = dsl::full<double>(-3.0, 1, 1), none = dsl::zeros<double>(0, 3);
  EXPECT_EQ(dsl::matrix_norm<2>(one).value(), 3);
  EXPECT_EQ(dsl::matrix_norm<-1>(one).value(), 3);
  EXPECT_EQ(dsl::matrix_norm<dsl::nuclear>(dsl::zeros<double>(4, 4)).value(), 0);
  EXPECT_EQ(dsl::matrix_norm(none).value(), 0);
  EXPECT_EQ(dsl::matrix_norm<1>(none).value(), 0);
  EXPECT_EQ(dsl::matrix_norm<dsl::nuclear>(none).value(), 0);
  EXPECT_NE(error_of([&] { dsl::matrix_norm<2>(none).value(); }), "no error");
  EXPECT_NE(error_of([&] { dsl::matrix_norm<dsl::inf>(none).value(); }), "no error");
  auto a = filled<double, 3>({3, 5, 5}, 2);
  auto unknown = a(1, 2, 3);
  unknown = std::nan("");
  EXPECT_TRUE(std::isnan(dsl::eval(dsl::matrix_norm<1>(a)).copy_to_host()[1]));
}

}  // namespace

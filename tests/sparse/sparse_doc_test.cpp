// The examples of docs/sparse.md do what is said of them.
#include "../on_device.hpp"

#include <dsl/sparse.hpp>

namespace {

struct sparse_doc : on_device {};
ON_EVERY_DEVICE(sparse_doc);

TEST_P(sparse_doc, examples) {
  const auto x = dsl::to_device(std::vector{5.f, 6.f, 7.f});
  {
#include <docs/sparse/sparse-matrices.inc>
    EXPECT_EQ(y.copy_to_host(), (std::vector<float>{2 * (6 + 2 * 8) - 5, -6, 2 * 3 * 7 - 7}));
  }
  // Two blocks, of which the second has the eigenvalues 3 and 1.
  const auto m = dsl::sparse::from_dense(
      dsl::reshape(dsl::to_device(std::vector{1., 0., 0., 0., 2., 1., 0., 1., 2.}), 3, 3));
  dsl::array<double> v = dsl::to_device(std::vector{1., 2., 1.});
  const dsl::array<double, 2> pair =
      dsl::reshape(dsl::to_device(std::vector{1., 2., 3., 4., 5., 6.}), 3, 2);
  {
#include <docs/sparse/products.inc>
    const auto w = v.copy_to_host();
    // (1, 40.5, 40.5 - 0.5 * 1) after three steps, before the norms.
    EXPECT_NEAR(w[1] / w[0], 41, 1e-12);
    EXPECT_NEAR(w[2] / w[0], 40, 1e-12);
    EXPECT_NEAR(w[0] * w[0] + w[1] * w[1] + w[2] * w[2], 1, 1e-14);
    EXPECT_EQ(both.copy_to_host(), (std::vector<double>{1, 2, 11, 14, 13, 16}));
  }
  const auto row_of = dsl::to_device(std::vector{1, 0, 1}), column_of = row_of;
  const auto values = dsl::to_device(std::vector{1.f, 2.f, 3.f});
  const int rows = 2, width = 2;
  const auto b = dsl::sparse::from_coo(rows, width, row_of, column_of, values);
  EXPECT_EQ(b.values().copy_to_host(), (std::vector<float>{2, 4}));
}

}  // namespace

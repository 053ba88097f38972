// The examples of docs/rows.md do what is said of them.
#include "../on_device.hpp"

#include <cmath>
#include <tuple>

namespace {

struct rows_page : on_device {};
ON_EVERY_DEVICE(rows_page);

TEST_P(rows_page, formulas_of_rows) {
  const dsl::array<float, 2> m = dsl::reshape(dsl::arange<float>(6), 2, 3);
  dsl::array<float, 2> soft, p, z;
  dsl::array<float> mean, deviation;
  dsl::array<std::int64_t> where;
#include <docs/rows/rows.inc>

#include <docs/rows/formulas-of-rows.inc>

#include <docs/rows/formulas-of-rows-2.inc>
  const std::vector<float> got = soft.copy_to_host(), along = p.copy_to_host(),
                           of_rows = z.copy_to_host();
  const double all = 1 + std::exp(1) + std::exp(2), root = std::sqrt(2.0 / 3 + 1e-5);
  for (std::size_t i = 0; i < 6; ++i) {
    const auto k = static_cast<double>(i % 3);
    EXPECT_NEAR(got[i], std::exp(k) / all, 1e-7);
    EXPECT_NEAR(along[i], std::exp(k) / all, 1e-7);
    EXPECT_NEAR(of_rows[i], (k - 1) / root, 1e-6);
  }
  EXPECT_EQ(mean.copy_to_host(), (std::vector<float>{1, 4}));
  EXPECT_NEAR(deviation(1).value(), root, 1e-7);
  EXPECT_EQ(where.copy_to_host(), (std::vector<std::int64_t>{2, 2}));
}

}  // namespace

// Variances of complex numbers, and where some are NaN.
#include "variance_reference.hpp"

#include <cmath>

namespace {

TEST_P(reduce, variances_of_complex_numbers_far_from_zero) {
  std::mt19937 engine(8);
  std::vector<std::complex<float>> z(4096);
  std::normal_distribution<float> normal(0, 0.29f);
  for (auto& v : z) v = {1000 + normal(engine), normal(engine) - 3000};
  check_variances(z, 4, 3e-6, "complex");
}

TEST_P(reduce, deviations_where_some_are_nan) {
  auto h = random_floats(5000, 4999, 5001);
  std::vector<float> numbers;
  for (std::size_t i = 0; i < h.size(); ++i) {
    if (i % 3 == 0 || i < 700) h[i] = std::nanf("");
    else numbers.push_back(h[i]);
  }
  const auto a = dsl::to_device(h);
  EXPECT_NEAR(dsl::nanstd(a).value(), std::sqrt(variance(numbers, 0, numbers.size(), 1)), 1e-6);
  EXPECT_TRUE(std::isnan(dsl::std(a).value()));
  EXPECT_TRUE(std::isnan(dsl::nanstd(a(dsl::slice(0, 700))).value()));
}

}  // namespace

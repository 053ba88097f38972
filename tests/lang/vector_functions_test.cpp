// The ends of the ranges of SLEEF's vector functions. GCC vectorises calls from -O2 on, so this
// file requests -O2 in every build.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#pragma GCC optimize("O2")
#endif
#include "../on_device.hpp"

#include <cmath>

namespace {

struct vector_functions : on_device {};
ON_EVERY_DEVICE(vector_functions);

// Floats whose e^x is infinite, though half of it is not.
TEST_P(vector_functions, hyperbolic_ones_of_floats_at_their_end) {
  const std::vector<float> x{88.5f, -88.75f, 89.0f, -89.4f};
  const dsl::array<float> v = dsl::to_device(x);
  const auto sines = dsl::eval(sinh(v)).copy_to_host(), cosines = dsl::eval(cosh(v)).copy_to_host();
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(sines[i] / std::sinh(static_cast<double>(x[i])), 1, 0x1p-21) << x[i];
    EXPECT_NEAR(cosines[i] / std::cosh(static_cast<double>(x[i])), 1, 0x1p-21) << x[i];
  }
}

}  // namespace

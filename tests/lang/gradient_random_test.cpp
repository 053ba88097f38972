// dsl::gradient of random losses. More in gradient_random_all_test.cpp and
// gradient_random_neighbours_all_test.cpp.
#include "gradient_random.hpp"

namespace {

using namespace random_losses;

struct gradients_of_random_losses : ::on_device {};
ON_EVERY_DEVICE(gradients_of_random_losses);

TEST_P(gradients_of_random_losses, elements) {
  RANDOM_LOSSES(10, double, (matrix, column, number),
                [](const drawn& d, const auto& m, const auto& c, const auto& k) {
                  return mean(square(sin(m * c) * exp(d.c[0] * k) + d.c[1] * c / (2.0 + m)));
                });
}

TEST_P(gradients_of_random_losses, reductions) {
  RANDOM_LOSSES(10, double, (matrix, line), [](const drawn& d, const auto& m, const auto& r) {
    return mean(square(m - d.c[0] * sum_kept(m * r, d.axis[0]))) * norm(r);
  });
}

TEST_P(gradients_of_random_losses, shifts) {
  RANDOM_LOSSES(10, double, (matrix, line), [](const drawn& d, const auto& m, const auto& r) {
    return sum((shift(m, d.distance[0], d.linear[0], d.axis[0]) - d.c[0] * m) * r *
               shift(m * r, d.distance[1], d.linear[1], d.axis[1]));
  });
}

}  // namespace

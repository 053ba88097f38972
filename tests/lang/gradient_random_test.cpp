// dsl::gradient of random losses. More in gradient_random_all_test.cpp.
#include "gradient_random.hpp"

namespace {

using namespace random_losses;

struct gradients_of_random_losses : ::on_device {};
ON_EVERY_DEVICE(gradients_of_random_losses);

TEST_P(gradients_of_random_losses, elements) {
  RANDOM_LOSSES(5, double, (matrix, line, column, number),
                [](const drawn& d, const auto& m, const auto& r, const auto& c, const auto& k) {
                  return mean(square(sin(m * r) * exp(d.c[0] * k) + d.c[1] * c - d.c[2] * r * k)) +
                         d.c[3] * sum(tanh(c * k) / (2.0 + m)) * k;
                });
}

TEST_P(gradients_of_random_losses, reductions) {
  RANDOM_LOSSES(5, double, (matrix, line),
                [](const drawn& d, const auto& m, const auto& r) {
                  return mean(square(m - d.c[0] * sum_kept(m * r, d.axis[0]))) * norm(r) +
                         d.c[1] * sum(d.c[2] * max_kept(m, d.axis[1]) * r) +
                         d.c[3] * var(m * r);
                });
}

TEST_P(gradients_of_random_losses, shifts) {
  RANDOM_LOSSES(5, double, (matrix, line),
                [](const drawn& d, const auto& m, const auto& r) {
                  return sum(square(shift(m, d.distance[0], d.linear[0], d.axis[0]) - d.c[0] * m) *
                             r) +
                         d.c[1] * sum(shift(m * r, d.distance[1], d.linear[1], d.axis[1]) * m);
                });
}

TEST_P(gradients_of_random_losses, views_and_positions) {
  RANDOM_LOSSES(5, double, (matrix, line),
                [](const drawn& d, const auto& m, const auto& r) {
                  return sum(square(sliced(m, 0, static_cast<int>(d.b), 2) * d.c[0]) -
                             flipped(r, 0)) +
                         d.c[1] * sum(exp(taken(m, d.any))) +
                         d.c[2] * sum(transposed(m) * transposed(sin(m * r)));
                });
}

TEST_P(gradients_of_random_losses, scans) {
  RANDOM_LOSSES(5, double, (matrix, line),
                [](const drawn& d, const auto& m, const auto& r) {
                  return mean(square(cumsum(m * r, d.axis[0]) - d.c[0] * r)) +
                         d.c[1] * sum(m * cumsum_of_all(exp(r)));
                });
}

TEST_P(gradients_of_random_losses, floats) {
  RANDOM_LOSSES(5, float, (matrix, line, number),
                [](const drawn& d, const auto& m, const auto& r, const auto& k) {
                  return mean(square(sum_along(m * r, 1) * k - d.c[0])) +
                         d.c[1] * max(m) * sum(sin(r));
                });
}

}  // namespace

// dsl::gradient of random losses: formulas of elements and reductions.
#include "gradient_random.hpp"

namespace {

using namespace random_losses;

struct gradients_of_more_random_losses : ::on_device {};
ON_EVERY_DEVICE(gradients_of_more_random_losses);

TEST_P(gradients_of_more_random_losses, of_three_dimensions) {
  RANDOM_LOSSES(15, double, (cube, slab, line),
                [](const drawn& d, const auto& u, const auto& s, const auto& r) {
                  return sum(square(sum_kept(u * s, d.axis[0]) - d.c[0] * r)) +
                         d.c[1] * mean(exp(u - s) * sum_kept(u * r, 2 * d.axis[1]));
                });
}

TEST_P(gradients_of_more_random_losses, softmax_and_logarithms) {
  RANDOM_LOSSES(15, double, (matrix, line), [](const drawn& d, const auto& m, const auto& r) {
    const auto moved = m * r - max_kept(m * r, d.axis[0]);
    return mean(m * (moved - d.c[0] * log(sum_kept(exp(moved), d.axis[0]))));
  });
}

TEST_P(gradients_of_more_random_losses, products_and_extremes) {
  RANDOM_LOSSES(15, double, (matrix, column), [](const drawn& d, const auto& m, const auto& c) {
    return d.c[0] * sum(prod_kept(m + 0.5, d.axis[0]) * c) +
           prod(c + 1.0) * max(min_along(m * c, d.axis[1]));
  });
}

TEST_P(gradients_of_more_random_losses, norms_and_variances) {
  RANDOM_LOSSES(15, double, (matrix, number), [](const drawn& d, const auto& m, const auto& k) {
    return sum(norm_kept(m + 2.0, d.axis[0]) * m) / (1.5 + k * k) +
           d.c[0] * sum(var_along(m * m - k, d.axis[1]));
  });
}

TEST_P(gradients_of_more_random_losses, layer_norms) {
  RANDOM_LOSSES(15, double, (matrix, line, line),
                [](const drawn& d, const auto& m, const auto& g, const auto& b) {
                  const auto off = m - mean_kept(m, 1);
                  return mean(square(off / sqrt(var_kept(m, 1) + 0.1) * g + b - d.c[0] * m));
                });
}

TEST_P(gradients_of_more_random_losses, reductions_in_reductions) {
  RANDOM_LOSSES(15, double, (matrix, line), [](const drawn& d, const auto& m, const auto& r) {
    const auto weights = sum_kept(square(m - mean(m * r)), d.axis[0]);
    return d.c[0] * max(m * weights) * norm(r);
  });
}

TEST_P(gradients_of_more_random_losses, kinks_and_choices) {
  RANDOM_LOSSES(15, double, (matrix, column, line),
                [](const drawn& d, const auto& m, const auto& c, const auto& r) {
                  return sum(max(m * c, d.c[0] * r) + abs(m - r)) +
                         d.c[1] * mean(where(m > c, exp(m) * r, d.c[2] * c));
                });
}

TEST_P(gradients_of_more_random_losses, sums_in_formulas) {
  RANDOM_LOSSES(15, double, (matrix, line, number),
                [](const drawn&, const auto& m, const auto& r, const auto& k) {
                  return sum(r * formula(
                                     [](auto u, auto v, auto a) {
                                       return u / (a * a + 1.0 + sum(u * u)) + v * mean(u * v);
                                     },
                                     m, r, k));
                });
}

TEST_P(gradients_of_more_random_losses, views_and_positions) {
  RANDOM_LOSSES(15, double, (matrix, line), [](const drawn& d, const auto& m, const auto& r) {
    return sum(square(sliced(m, 0, static_cast<int>(d.b), 2) - flipped(r, 0))) +
           d.c[0] * sum(taken(m, d.any));
  });
}

TEST_P(gradients_of_more_random_losses, scans) {
  RANDOM_LOSSES(15, double, (matrix, line), [](const drawn& d, const auto& m, const auto& r) {
    return mean(square(cumsum(m * r, d.axis[0]) - d.c[0] * r));
  });
}

}  // namespace

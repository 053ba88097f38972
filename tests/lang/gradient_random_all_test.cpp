// dsl::gradient of 270 random losses, 30 more than which are in gradient_random_test.cpp.
#include "gradient_random.hpp"

namespace {

using namespace random_losses;

struct gradients_of_random_losses : ::on_device {};
ON_EVERY_DEVICE(gradients_of_random_losses);

TEST_P(gradients_of_random_losses, of_three_dimensions) {
  RANDOM_LOSSES(15, double, (cube, slab, line),
                [](const drawn& d, const auto& u, const auto& s, const auto& r) {
                  return sum(square(sum_kept(u * s, d.axis[0]) - d.c[0] * r)) +
                         d.c[1] * mean(exp(u - s) * sum_kept(u * r, 2 * d.axis[1]));
                });
}

TEST_P(gradients_of_random_losses, softmax_and_logarithms) {
  RANDOM_LOSSES(15, double, (matrix, line),
                [](const drawn& d, const auto& m, const auto& r) {
                  const auto moved = m * r - max_kept(m * r, d.axis[0]);
                  return d.c[0] * mean(m * (moved - log(sum_kept(exp(moved), d.axis[0])))) +
                         d.c[1] * sum(exp(moved) / sum_kept(exp(moved), d.axis[0]) * r);
                });
}

TEST_P(gradients_of_random_losses, products_and_extremes) {
  RANDOM_LOSSES(15, double, (matrix, column, number),
                [](const drawn& d, const auto& m, const auto& c, const auto& k) {
                  return d.c[0] * sum(prod_kept(m + 0.5, d.axis[0]) * m) +
                         d.c[1] * sum(min_along(m * c, d.axis[1]) * k) +
                         d.c[2] * prod(c + k) * max(m * k) + k * 0.5;
                });
}

TEST_P(gradients_of_random_losses, norms_and_variances) {
  RANDOM_LOSSES(15, double, (matrix, line, number),
                [](const drawn& d, const auto& m, const auto& r, const auto& k) {
                  return sum(norm_kept(m * r + 2.0, d.axis[0]) * m) / (1.5 + sum(r * r)) +
                         d.c[0] * sum(var_along(m - k * r, d.axis[1]) * k);
                });
}

TEST_P(gradients_of_random_losses, layer_norms) {
  RANDOM_LOSSES(15, double, (matrix, line, line),
                [](const drawn& d, const auto& m, const auto& g, const auto& b) {
                  const auto off = m - mean_kept(m, 1);
                  return mean(square(off / sqrt(var_kept(m, 1) + 0.1) * g + b - d.c[0] * m));
                });
}

TEST_P(gradients_of_random_losses, reductions_in_reductions) {
  RANDOM_LOSSES(15, double, (matrix, line),
                [](const drawn& d, const auto& m, const auto& r) {
                  const auto weights = sum_kept(square(m - mean(m * r)), d.axis[0]);
                  return sum(m * weights) * mean(r / (2.0 + norm(r))) +
                         d.c[0] * max(sum_along(m * max(r), d.axis[1]));
                });
}

TEST_P(gradients_of_random_losses, kinks_and_choices) {
  RANDOM_LOSSES(15, double, (matrix, column, line),
                [](const drawn& d, const auto& m, const auto& c, const auto& r) {
                  return sum(max(m * c, d.c[0] * r) + abs(m - r)) +
                         d.c[1] * mean(where(m > c, exp(m) * r, d.c[2] * c));
                });
}

TEST_P(gradients_of_random_losses, shifts_of_shifts) {
  RANDOM_LOSSES(15, double, (matrix, column),
                [](const drawn& d, const auto& m, const auto& c) {
                  const auto s = shift(m * c, d.distance[0], d.linear[0], d.axis[0]);
                  return sum(shift(s, d.distance[1], d.linear[1], d.axis[1]) * m * d.c[0]) +
                         mean(square(shift(m, d.distance[2], d.linear[2], 1) - s));
                });
}

TEST_P(gradients_of_random_losses, shifts_of_broadcast_arrays) {
  RANDOM_LOSSES(15, double, (matrix, line, column),
                [](const drawn& d, const auto& m, const auto& r, const auto& c) {
                  return sum(shift(broadcast_as(r, m), d.distance[0], d.linear[0], d.axis[0]) * m) +
                         d.c[0] * sum(square(shift(r, d.distance[1], d.linear[1], 0) - m)) +
                         d.c[1] * sum(shift(c, d.distance[2], d.linear[2], d.axis[1]) * r * m);
                });
}

TEST_P(gradients_of_random_losses, shifts_in_formulas) {
  RANDOM_LOSSES(15, double, (matrix, line),
                [](const drawn& d, const auto& m, const auto& r) {
                  const auto wrapped = formula(
                      [](auto u, auto v, auto k) {
                        return square(shift(u, 1, dsl::boundary::wrap, 0) - k * u) * v +
                               shift(v, -1, dsl::boundary::wrap, -1) * u;
                      },
                      m, r, values_or_number(m, d.c[0]));
                  return sum(wrapped) + d.c[1] * mean(exp(wrapped * 0.25) * m);
                });
}

TEST_P(gradients_of_random_losses, shifts_in_formulas_with_boundaries) {
  RANDOM_LOSSES(15, double, (matrix, line),
                [](const drawn& d, const auto& m, const auto& r) {
                  return sum(m * formula(
                                     [](auto u, auto v) {
                                       return shift(u, 1, dsl::boundary::clamp, 0) * v -
                                              shift(u * v, -2, dsl::boundary::reflect, -1);
                                     },
                                     m, r)) +
                         d.c[0] * sum(r);
                });
}

TEST_P(gradients_of_random_losses, sums_in_formulas) {
  RANDOM_LOSSES(15, double, (matrix, line, number),
                [](const drawn& d, const auto& m, const auto& r, const auto& k) {
                  return sum(r * formula([](auto u, auto v, auto a) {
                                   return u / (a * a + 1.0 + sum(u * u)) + v * mean(u * v);
                                 },
                                         m, r, k)) *
                             d.c[0] +
                         k * sum(r) * mean(m);
                });
}

TEST_P(gradients_of_random_losses, slices) {
  RANDOM_LOSSES(15, double, (cube, line),
                [](const drawn& d, const auto& u, const auto& r) {
                  const int all = static_cast<int>(d.a);
                  return sum(square(sliced(u, 1, all, 1) - d.c[0] * sliced(u * r, 0, all - 1, 1))) +
                         d.c[1] * sum(sliced(u, all / 2, all, 1) * r) + d.c[2] * sum(exp(r * u));
                });
}

TEST_P(gradients_of_random_losses, rearranged) {
  RANDOM_LOSSES(15, double, (square_matrix, line),
                [](const drawn& d, const auto& m, const auto& r) {
                  return sum(square(m + d.c[0] * transposed(m)) * r) +
                         d.c[1] * sum(flipped(m, d.axis[0]) * m) +
                         d.c[2] * sum(in_line(m) * exp(in_line(transposed(transposed(m))))) +
                         sum(flipped(r, 0) * square(r));
                });
}

TEST_P(gradients_of_random_losses, taken) {
  RANDOM_LOSSES(15, double, (matrix, line),
                [](const drawn& d, const auto& m, const auto& r) {
                  return sum(exp(taken(r, d.any)) * taken(m, d.any)) +
                         d.c[0] * sum(square(taken(m, d.down, d.axis[0]))) * mean(m * r);
                });
}

TEST_P(gradients_of_random_losses, sums_of_all_elements) {
  RANDOM_LOSSES(15, double, (cube, slab),
                [](const drawn& d, const auto& u, const auto& s) {
                  return mean(square(cumsum_of_all(u * s) - d.c[0] * cumsum_of_all(u))) +
                         d.c[1] * sum(sums_before(u * s, 2 * d.axis[0]) * u) +
                         d.c[2] * sum(square(cumsum(s, d.axis[1])));
                });
}

TEST_P(gradients_of_random_losses, scans_and_reductions) {
  RANDOM_LOSSES(15, double, (matrix, line),
                [](const drawn& d, const auto& m, const auto& r) {
                  const auto path = cumsum(m * mean(r), d.axis[0]);
                  return sum(max_along(path, d.axis[1])) +
                         d.c[0] * mean(cumsum(path * r, d.axis[1]) * m) +
                         d.c[1] * sum(shift(path, d.distance[0], d.linear[0], d.axis[2]) * r);
                });
}

TEST_P(gradients_of_random_losses, products_and_extremes_so_far) {
  RANDOM_LOSSES(15, double, (matrix, line),
                [](const drawn& d, const auto& m, const auto& r) {
                  return sum(cumprod(m * 2.0 + d.c[0] * r, d.axis[0]) * r) +
                         d.c[1] * sum(cummax(m * r, d.axis[1]) * m);
                });
}

TEST_P(gradients_of_random_losses, floats) {
  RANDOM_LOSSES(15, float, (matrix, line, number),
                [](const drawn& d, const auto& m, const auto& r, const auto& k) {
                  return mean(square(cumsum(m * r, d.axis[0]) * k - d.c[0])) +
                         d.c[1] * sum(norm_kept(m + 2.0, d.axis[1]) * r) +
                         d.c[2] * sum(shift(m * k, 1, d.linear[0], d.axis[2]) * r);
                });
}

}  // namespace

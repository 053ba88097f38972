// dsl::gradient of random losses: shifts, views, elements at positions, scans.
#include "gradient_random.hpp"

namespace {

using namespace random_losses;

struct gradients_of_random_losses_beside : ::on_device {};
ON_EVERY_DEVICE(gradients_of_random_losses_beside);

TEST_P(gradients_of_random_losses_beside, shifts_of_shifts) {
  RANDOM_LOSSES(15, double, (matrix, column), [](const drawn& d, const auto& m, const auto& c) {
    const auto s = shift(m * c, d.distance[0], d.linear[0], d.axis[0]);
    return sum(shift(s, d.distance[1], d.linear[1], d.axis[1]) * m * d.c[0]) +
           mean(square(shift(m, d.distance[2], d.linear[2], 1) - s));
  });
}

TEST_P(gradients_of_random_losses_beside, shifts_of_broadcast_arrays) {
  RANDOM_LOSSES(15, double, (matrix, line, column),
                [](const drawn& d, const auto& m, const auto& r, const auto& c) {
                  return sum(shift(broadcast_as(r, m), d.distance[0], d.linear[0], d.axis[0]) * m) +
                         d.c[0] * sum(square(shift(r, d.distance[1], d.linear[1], 0) - m)) +
                         d.c[1] * sum(shift(c, d.distance[2], d.linear[2], d.axis[1]) * r * m);
                });
}

TEST_P(gradients_of_random_losses_beside, shifts_beside_broadcasts) {
  RANDOM_LOSSES(15, double, (matrix, column), [](const drawn& d, const auto& m, const auto& c) {
    return sum(exp(sum_along(shift(m, d.distance[0], d.linear[0], d.axis[0]), d.axis[1]))) +
           d.c[0] * mean(shift(m + c, d.distance[1], d.linear[1], d.axis[2]) * c);
  });
}

TEST_P(gradients_of_random_losses_beside, shifts_in_formulas) {
  RANDOM_LOSSES(15, double, (matrix, line), [](const drawn& d, const auto& m, const auto& r) {
    return sum(formula(
        [](auto u, auto v, auto k) {
          return square(shift(u, 1, dsl::boundary::wrap, 0) - k * u) * v +
                 shift(v, -1, dsl::boundary::zero, -1) * u;
        },
        m, r, values_or_number(m, d.c[0])));
  });
}

TEST_P(gradients_of_random_losses_beside, shifts_in_formulas_with_boundaries) {
  RANDOM_LOSSES(15, double, (matrix, line), [](const drawn& d, const auto& m, const auto& r) {
    return sum(m * formula(
                       [](auto u, auto v) {
                         return shift(u, 2, dsl::boundary::clamp, 0) * v -
                                shift(u * v, -1, dsl::boundary::reflect, -1) +
                                shift(v - u, 1, dsl::boundary::zero, -1);
                       },
                       m, r)) +
           d.c[0] * sum(r);
  });
}

TEST_P(gradients_of_random_losses_beside, slices) {
  RANDOM_LOSSES(15, double, (cube, line), [](const drawn& d, const auto& u, const auto& r) {
    const int all = static_cast<int>(d.a);
    return sum(square(sliced(u, 1, all, 1) - d.c[0] * sliced(u * r, 0, all - 1, 1))) +
           d.c[1] * sum(sliced(u, all / 2, all, 1) * r) + d.c[2] * sum(exp(r * u));
  });
}

TEST_P(gradients_of_random_losses_beside, rearranged) {
  RANDOM_LOSSES(15, double, (square_matrix, line),
                [](const drawn& d, const auto& m, const auto& r) {
                  return sum(square(m + d.c[0] * transposed(m)) * r) +
                         d.c[1] * sum(flipped(m, d.axis[0]) * m) +
                         d.c[2] * sum(in_line(m) * exp(in_line(transposed(transposed(m))))) +
                         sum(flipped(r, 0) * square(r));
                });
}

TEST_P(gradients_of_random_losses_beside, taken) {
  RANDOM_LOSSES(15, double, (matrix, line), [](const drawn& d, const auto& m, const auto& r) {
    return sum(exp(taken(r, d.any)) * taken(m, d.any)) +
           d.c[0] * sum(square(taken(m, d.down, d.axis[0]))) * mean(m * r);
  });
}

TEST_P(gradients_of_random_losses_beside, sums_of_all_elements) {
  RANDOM_LOSSES(15, double, (cube, slab), [](const drawn& d, const auto& u, const auto& s) {
    return mean(square(cumsum_of_all(u * s) - d.c[0] * cumsum_of_all(u))) +
           d.c[1] * sum(sums_before(u * s, 2 * d.axis[0]) * u) +
           d.c[2] * sum(square(cumsum(s, d.axis[1])));
  });
}

TEST_P(gradients_of_random_losses_beside, scans_and_reductions) {
  RANDOM_LOSSES(15, double, (matrix, line), [](const drawn& d, const auto& m, const auto& r) {
    const auto path = cumsum(m * mean(r), d.axis[0]);
    return sum(max_along(path, d.axis[1])) +
           d.c[1] * sum(shift(path, d.distance[0], d.linear[0], d.axis[2]) * r);
  });
}

TEST_P(gradients_of_random_losses_beside, products_and_extremes_so_far) {
  RANDOM_LOSSES(15, double, (matrix, line), [](const drawn& d, const auto& m, const auto& r) {
    return sum(cumprod(m * 2.0 + d.c[0] * r, d.axis[0]) * r) +
           d.c[1] * sum(cummax(m * r, d.axis[1]) * m);
  });
}

TEST_P(gradients_of_random_losses_beside, floats) {
  RANDOM_LOSSES(15, float, (matrix, line, number),
                [](const drawn& d, const auto& m, const auto& r, const auto& k) {
                  return mean(square(cumsum(m * r, d.axis[0]) * k - d.c[0])) +
                         d.c[1] * sum(norm_kept(m + 2.0, d.axis[1]) * r) +
                         d.c[2] * sum(shift(m * k, 1, d.linear[0], d.axis[2]) * r);
                });
}

}  // namespace

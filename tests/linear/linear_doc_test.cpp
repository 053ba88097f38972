// The examples of docs/linear.md do what is said of them.
#include <dsl/linear.hpp>

#include <complex>

#include "../on_device.hpp"

namespace {

using namespace std::complex_literals;

struct linear_doc : on_device {};
ON_EVERY_DEVICE(linear_doc);

TEST_P(linear_doc, products_and_systems) {
  const dsl::array<double, 2> a = sin(
                                  dsl::cast<double>(dsl::index(0, 5, 4) + 3 * dsl::index(1, 5, 4))),
                              b = cos(dsl::cast<double>(dsl::index(0, 6, 4) - dsl::index(1, 6, 4)));
  const dsl::array<std::complex<double>, 2> H = a(dsl::slice(0, 4), dsl::slice()) + 0i;
  dsl::array<std::complex<double>, 2> R = b(dsl::slice(0, 4), dsl::slice()) * 1i;
  const dsl::array<std::complex<double>, 2> before = R;
  const double h = 0.25;
  const dsl::array<double, 3> A = where(dsl::index(1, 1000, 3, 3) == dsl::index(2, 1000, 3, 3), 4.0,
                                        1.0 / (1 + dsl::index(0, 1000, 3, 3)));
  const dsl::array<double, 2> r =
      dsl::cast<double>(dsl::index(0, 1000, 3) + dsl::index(1, 1000, 3));
#include <docs/linear/linear-algebra.inc>
  EXPECT_LE(
      dsl::max(abs(c - dsl::sum(dsl::expand_dims(a, 1) * dsl::expand_dims(b, 0), dsl::axis(2))))
          .value(),
      1e-14);
  const auto times = [](const auto& x, const auto& y) {
    return dsl::eval(dsl::sum(dsl::expand_dims(x, 2) * dsl::expand_dims(y, 0), dsl::axis(1)));
  };
  const auto forth = times(H, before), back = times(before, H);
  EXPECT_LE(dsl::max(abs(R - (before - 1i * h * (forth - back)))).value(), 1e-14);
  EXPECT_LE(dsl::max(abs(dsl::sum(A * dsl::expand_dims(z, 1), dsl::axis(2)) - r)).value(), 1e-12);
}

TEST_P(linear_doc, decompositions) {
  const dsl::array<double, 3> A = where(dsl::index(1, 5, 3, 3) == dsl::index(2, 5, 3, 3), 4.0,
                                        1.0 + dsl::index(0, 5, 3, 3) / 9.0);
  const dsl::array<double, 3> covariances = dsl::matmul(A, dsl::permute(A, 0, 2, 1));
#include <docs/linear/linear-algebra-2.inc>
  const auto off = [](const auto& expression) { return dsl::max(abs(expression)).value(); };
  EXPECT_LE(off(dsl::matmul(A, inverses) - (dsl::index(1, 5, 3, 3) == dsl::index(2, 5, 3, 3))),
            1e-12);
  EXPECT_LE(off(dsl::matmul(lower, dsl::permute(lower, 0, 2, 1)) - covariances), 1e-12);
  EXPECT_LE(off(square(s) - dsl::flip(values, 1)), 1e-12);
  EXPECT_LE(off(values_of_A - s), 1e-14);
  EXPECT_LE(off(of_each - dsl::sum(s, dsl::axis(1))), 1e-13);
}

TEST_P(linear_doc, one_call) {
  const dsl::array<double, 2> a = dsl::cast<double>(dsl::index(0, 4, 3) + dsl::index(1, 4, 3)),
                              b = dsl::cast<double>(dsl::index(0, 3, 6) - dsl::index(1, 3, 6)),
                              x = dsl::full<double>(2.0, 2, 5), y = dsl::full<double>(3.0, 5, 3);
  const dsl::array<std::complex<double>, 2> W = a * (1.0 + 2i);
  dsl::array<std::complex<double>, 2> Z = dsl::full<std::complex<double>>(1i, 3, 3);
  dsl::array<double, 2> C(4, 6);
#include <docs/linear/one-call.inc>
  // 2 a b + a b - a b, whole numbers.
  const auto got = C.copy_to_host();
  const auto of_w = Z.copy_to_host();
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 6; ++j) {
      int product = 0;
      for (int k = 0; k < 3; ++k) product += (i + k) * (k - j);
      const bool is_in_block = i >= 1 && i < 3 && j >= 2 && j < 5;
      EXPECT_EQ(got[static_cast<std::size_t>(i * 6 + j)], 2 * product - (is_in_block ? 90 : 0));
    }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      int product = 0;
      for (int k = 0; k < 4; ++k) product += (k + i) * (k + j);
      EXPECT_EQ(of_w[static_cast<std::size_t>(i * 3 + j)], 1i * (1.0 + 5.0 * product));
    }
}

TEST_P(linear_doc, loops) {
  const dsl::array<std::complex<double>, 2> H =
      dsl::cast<double>(dsl::index(0, 3, 3) + dsl::index(1, 3, 3)) + 0i;
  dsl::array<std::complex<double>, 2> R =
      where(dsl::index(0, 3, 3) == 0 && dsl::index(1, 3, 3) == 0, 1.0, 0.0) + 0i;
#include <docs/linear/loops.inc>
  // The trace stays, and the matrix Hermitian; a step of the method is off by dt^2.
  const auto on_diagonal = dsl::index(0, 3, 3) == dsl::index(1, 3, 3);
  EXPECT_LE(std::abs(dsl::sum(where(on_diagonal, R, 0i)).value() - 1.0), 1e-13);
  EXPECT_LE(dsl::max(abs(R - conj(dsl::transpose(R)))).value(), 1e-13);
  EXPECT_GE(dsl::max(abs(where(on_diagonal, 0i, R))).value(), 0.1);
}

// Of one track, in numbers that are easily checked: a position is measured, and nothing else is
// known.
TEST_P(linear_doc, kalman) {
  const std::int64_t n = 100;
  dsl::array<double, 2> x = dsl::zeros<double>(n, 4);
  dsl::array<double, 3> P = 3 * dsl::cast<double>(dsl::index(1, n, 4, 4) == dsl::index(2, n, 4, 4));
  const dsl::array<double, 2> H = dsl::cast<double>(dsl::index(0, 2, 4) == dsl::index(1, 2, 4)),
                              R = dsl::cast<double>(dsl::index(0, 2, 2) == dsl::index(1, 2, 2)),
                              measured =
                                  dsl::cast<double>(dsl::index(0, n, 2) + dsl::index(1, n, 2));
#include <docs/linear/small-systems.inc>
  // The gain is 3 / (3 + 1).
  const auto got = x.copy_to_host();
  const auto covariance = P.copy_to_host();
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], i % 4 < 2 ? 0.75 * static_cast<double>(i / 4 + i % 4) : 0, 1e-13);
  for (std::size_t i = 0; i < covariance.size(); ++i) {
    const std::size_t row = i / 4 % 4, column = i % 4;
    EXPECT_NEAR(covariance[i], row != column ? 0 : row < 2 ? 0.75 : 3, 1e-13);
  }
}

}  // namespace

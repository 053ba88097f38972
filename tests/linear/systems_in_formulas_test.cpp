// Systems of equations inside formulas, against elimination in long double.
#include <dsl/linear.hpp>

#include <cmath>
#include <complex>
#include <vector>

#include "../on_device.hpp"

namespace {

using systems = on_device;
ON_EVERY_DEVICE(systems);

using rows = std::vector<std::vector<long double>>;

/// The solution of a system whose matrix's last column is its right side.
std::vector<long double> solution(rows m) {
  const std::size_t n = m.size();
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(m[i][k]) > std::abs(m[k][k])) std::swap(m[i], m[k]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const long double factor = m[i][k] / m[k][k];
      for (std::size_t j = k; j <= n; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  std::vector<long double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = m[i][n] / m[i][i];
  return x;
}

// One in four has a zero where its first pivot would be without exchanges.
TEST_P(systems, of_three_unknowns) {
  const std::int64_t count = 1003;
  std::vector<double> a(static_cast<std::size_t>(9 * count)),
      b(static_cast<std::size_t>(3 * count));
  std::mt19937 engine(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (double& each : a) each = uniform(engine);
  for (double& each : b) each = uniform(engine);
  for (std::size_t i = 0; i < a.size(); i += 36) a[i] = 0;
  dsl::array<double, 3> matrices(count, 3, 3);
  dsl::array<double, 2> sides(count, 3);
  matrices.copy_from_host(a);
  sides.copy_from_host(b);
  const auto m = [&](int i, int j) { return matrices(dsl::slice(), i, j); };
  const auto r = [&](int i) { return sides(dsl::slice(), i); };
  dsl::array<double> x(count), y(count), z(count);
  dsl::tie(x, y, z) = dsl::vectorize([](auto a00, auto a01, auto a02, auto a10, auto a11, auto a12,
                                        auto a20, auto a21, auto a22, auto u, auto v, auto w) {
    const auto s = dsl::solve(
        std::array{std::array{a00, a01, a02}, std::array{a10, a11, a12}, std::array{a20, a21, a22}},
        std::array{u, v, w});
    return std::tuple(s[0], 2 * s[1], s[2] - u);
  })(m(0, 0), m(0, 1), m(0, 2), m(1, 0), m(1, 1), m(1, 2), m(2, 0), m(2, 1), m(2, 2), r(0), r(1),
     r(2));
  const auto got = std::array{x.copy_to_host(), y.copy_to_host(), z.copy_to_host()};
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    rows system(3, std::vector<long double>(4));
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) system[i][j] = a[9 * k + 3 * i + j];
      system[i][3] = b[3 * k + i];
    }
    const auto want = solution(system);
    long double largest = 1;
    for (const long double each : want) largest = std::max(largest, std::abs(each));
    // The residual of a backward stable solution is as small; the error is that times the
    // condition.
    for (std::size_t i = 0; i < 3; ++i) {
      const long double own[] = {got[0][k], got[1][k] / 2.0L,
                                 got[2][k] + static_cast<long double>(b[3 * k])};
      long double residual = -static_cast<long double>(b[3 * k + i]);
      for (std::size_t j = 0; j < 3; ++j)
        residual += static_cast<long double>(a[9 * k + 3 * i + j]) * own[j];
      ASSERT_LT(std::abs(residual), 1e-14L * largest) << k;
    }
  }
}

TEST_P(systems, inverses_of_complex_matrices) {
  using complex = std::complex<float>;
  const std::vector<complex> a{{0, 0}, {1, 2}, {3, 0}}, b{{1, 1}, {2, 0}, {0, -1}},
      c{{2, -1}, {0, 1}, {1, 1}}, d{{0, 0}, {1, 0}, {-2, 1}};
  dsl::array<complex> p, q, r, s;
  dsl::tie(p, q, r, s) = dsl::vectorize([](auto w, auto x, auto y, auto z) {
    const auto of = dsl::inv(std::array{std::array{w, x}, std::array{y, z}});
    return std::tuple(of[0][0], of[0][1], of[1][0], of[1][1]);
  })(dsl::to_device(a), dsl::to_device(b), dsl::to_device(c), dsl::to_device(d));
  const auto hp = p.copy_to_host(), hq = q.copy_to_host(), hr = r.copy_to_host(),
             hs = s.copy_to_host();
  for (std::size_t k = 0; k < a.size(); ++k) {
    EXPECT_LT(std::abs(a[k] * hp[k] + b[k] * hr[k] - 1.0f), 1e-6f) << k;
    EXPECT_LT(std::abs(a[k] * hq[k] + b[k] * hs[k]), 1e-6f) << k;
    EXPECT_LT(std::abs(c[k] * hp[k] + d[k] * hr[k]), 1e-6f) << k;
    EXPECT_LT(std::abs(c[k] * hq[k] + d[k] * hs[k] - 1.0f), 1e-6f) << k;
  }
}

TEST_P(systems, example) {
#include <docs/linear/systems-inside-a-formula.inc>
  const auto x = dsl::to_device(std::vector<double>{2, 4});
  const dsl::array<double> lengths = squared(x, x / x, x + 1, x * 3, x - x);
  const auto got = lengths.copy_to_host();
  for (std::size_t k = 0; k < got.size(); ++k) {
    const long double each = k == 0 ? 2 : 4;
    const auto s = solution({{each, 1, 3 * each}, {1, each + 1, 0}});
    EXPECT_NEAR(got[k], static_cast<double>(s[0] * s[0] + s[1] * s[1]), 1e-14) << k;
  }
}

TEST_P(systems, of_integers) {
  const auto x = dsl::to_device(std::vector<int>{1, 2, 3});
  const dsl::array<double> half = dsl::vectorize([](auto v) {
    return dsl::solve(std::array{std::array{v, v}, std::array{v, -v}}, std::array{v, v - v})[1];
  })(x);
  EXPECT_EQ(half.copy_to_host(), (std::vector<double>{0.5, 0.5, 0.5}));
}

// The last of these matrices is singular, which concerns its own element alone.
TEST_P(systems, are_parts_of_a_reduction_and_of_its_gradient) {
  const std::vector<double> a{4, 2, 5, 1}, b{1, -1, 0.5, 2}, c{3, 0, 2, 4};
  const auto squares = dsl::vectorize([](auto x, auto y, auto z) {
    const auto [p, q] =
        dsl::solve(std::array{std::array{x, y}, std::array{y, z}}, std::array{x + 1, y - z});
    return p * p + q * q;
  });
  const auto loss_of = [&](const std::vector<double>& x) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto s = solution({{x[k], b[k], x[k] + 1}, {b[k], c[k], b[k] - c[k]}});
      sum += static_cast<double>(s[0] * s[0] + s[1] * s[1]);
    }
    return sum;
  };
  const auto x = dsl::to_device(a), y = dsl::to_device(b), z = dsl::to_device(c);
  const auto head = [](const dsl::array<double>& v) { return v(dsl::slice(0, 3)); };
  const auto loss = sum(squares(head(x), head(y), head(z)));
  EXPECT_NEAR(dsl::scalar<double>(loss).value(), loss_of(a), 1e-13);
  const auto gradient = dsl::eval(dsl::gradient(loss, x)).copy_to_host();
  for (std::size_t k = 0; k < 3; ++k) {
    auto more = a, less = a;
    more[k] += 1e-5;
    less[k] -= 1e-5;
    EXPECT_NEAR(gradient[k], (loss_of(more) - loss_of(less)) / 2e-5, 1e-7) << k;
  }
  const dsl::array<double> all = squares(x, y, z);
  const auto each = all.copy_to_host();
  EXPECT_TRUE(std::isfinite(each[2]));
  EXPECT_FALSE(std::isfinite(each[3]));
}

}  // namespace

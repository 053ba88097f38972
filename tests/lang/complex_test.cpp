// Complex numbers in functors: the same on every device, and equal to std::complex on the host.
#include "../on_device.hpp"

#include <cmath>
#include <complex>
#include <tuple>

using namespace std::complex_literals;

namespace complex_test {  // functors have names of their own in a program

// Expression number `which`, written once for dsl::complex and for std::complex.
#define EXPRESSIONS                                        \
  switch (which) {                                         \
    case 0: return z * w;                                  \
    case 1: return z / w;                                  \
    case 2: return z + w - 1i;                             \
    case 3: return 2.0 * z - w * 0.5;                      \
    case 4: return 1.0 / z + z / 3.0;                      \
    case 5: return -z + +w;                                \
    case 6: return conj(z) * 1i;                           \
    case 7: return exp(z);                                 \
    case 8: return log(z);                                 \
    case 9: return sqrt(z);                                \
    case 10: return pow(z, w);                             \
    case 11: return pow(z, 3.0) + pow(z, -2);              \
    case 12: return pow(2.0, z);                           \
    case 13: return sin(z);                                \
    case 14: return cos(z);                                \
    case 15: return tan(z);                                \
    case 16: return sinh(z) + cosh(w) + tanh(z);           \
    case 17: return number(abs(z), arg(z));                \
    case 18: return number(norm(z), real(z) - imag(w));    \
    case 19: return polar(t, 0.75);                        \
    case 20: return z == w ? number(1) : number(z.real()); \
    case 21:                                               \
      z += w;                                              \
      z *= z;                                              \
      z -= 2;                                              \
      z *= 0.5;                                            \
      return z /= w;                                       \
    case 22:                                               \
      z.real(t);                                           \
      z.imag(w.imag());                                    \
      return z + 1.0;                                      \
    default:                                               \
      for (int k = 0; k < 12; ++k) z = z * z / 4.0 + w;    \
      return z;                                            \
  }
constexpr int expressions = 24;

struct expression {
  DSL_FN dsl::complex<double> operator()(dsl::complex<double> z, dsl::complex<double> w, double t,
                                         int which) const {
    using number = dsl::complex<double>;
    using dsl::polar;
    EXPRESSIONS
  }
};
struct square_plus {  // one parameter of any type, and float
  DSL_FN auto operator()(auto z, dsl::complex<float> c) const {
    return std::tuple{z * z + c * 2 - 1i, abs2(z)};
  }
};
#include <docs/functors/lambdas-and-functors.inc>
struct product {
  DSL_FN dsl::complex<double> operator()(dsl::complex<double> a, dsl::complex<double> b) const {
    return a * b;
  }
};
#include <docs/functors/complex-numbers.inc>

}  // namespace complex_test

namespace {

using namespace complex_test;

std::complex<double> expected(std::complex<double> z, std::complex<double> w, double t, int which) {
  using number = std::complex<double>;
  using std::polar;
  EXPRESSIONS
}

struct complex_numbers : on_device {};
ON_EVERY_DEVICE(complex_numbers);

std::vector<std::complex<double>> random_numbers(std::size_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> part(-1.2, 1.2);
  std::vector<std::complex<double>> z;
  for (std::size_t i = 0; i < n; ++i) {
    const double re = part(engine);
    z.emplace_back(re, part(engine));
  }
  return z;
}

TEST_P(complex_numbers, compute_as_std_complex_does) {
  const std::size_t n = 257;
  const auto z = random_numbers(n, 3), w = random_numbers(n, 4);
  const auto on_z = dsl::to_device(z), on_w = dsl::to_device(w);
  for (int which = 0; which < expressions; ++which) {
    dsl::array<std::complex<double>> result = dsl::vectorize(expression{})(on_z, on_w, 1.5, which);
    const auto got = result.copy_to_host();
    for (std::size_t i = 0; i < n; ++i) {
      const std::complex<double> want = expected(z[i], w[i], 1.5, which);
      ASSERT_LE(std::abs(got[i] - want), 1e-12 * (1 + std::abs(want)))
          << "expression " << which << " of " << z[i] << ", " << w[i] << ": " << got[i] << ", not "
          << want;
    }
  }
}

TEST_P(complex_numbers, in_functors_of_other_kinds) {
  const auto z = random_numbers(100, 5);
  const dsl::array<std::complex<float>> narrow = dsl::cast<std::complex<float>>(dsl::to_device(z));
  dsl::array<std::complex<float>> result;
  dsl::array<float> size;
  dsl::tie(result, size) = dsl::vectorize(square_plus{})(narrow, std::complex<float>(1i));
  dsl::array<int> steps = dsl::vectorize(escape_time{})(narrow);
  const auto h = narrow.copy_to_host(), got = result.copy_to_host();
  std::complex<double> all = 1;
  for (std::size_t i = 0; i < z.size(); ++i) {
    ASSERT_LE(std::abs(got[i] - (h[i] * h[i] + std::complex<float>(1i))), 1e-6f);
    ASSERT_NEAR(size(i).value(), std::norm(h[i]), 1e-6f);
    ASSERT_EQ(steps(i).value() == 50, escape_time{}(h[i]) == 50);
    all *= z[i] * 2.0;
  }
  const std::complex<double> joined = dsl::reduce(product{})(dsl::to_device(z) * 2).value();
  EXPECT_LE(std::abs(joined - all), 1e-12 * std::abs(all));
}

TEST_P(complex_numbers, are_elements_of_arrays) {
  const std::vector<dsl::complex<double>> h{{1, 2}, {3, -4}};
  const auto z = dsl::to_device(h);
  dsl::array<std::complex<double>> twice = z * 2;
  EXPECT_EQ(twice.copy_to_host()[1], (std::complex<double>(6, -8)));
  dsl::array<dsl::complex<double>> turned = twice * dsl::complex<double>(0, 1);
  EXPECT_EQ(turned.copy_to_host()[0], (dsl::complex<double>(-4, 2)));
}

TEST(functors_page, holds_what_stands_here) {
  const dsl::device_guard on_host(dsl::device("host"));
  dsl::array<int> steps = dsl::vectorize(collatz{})(dsl::to_device(std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(steps.copy_to_host(), (std::vector<int>{0, 1, 7, 2}));
  const dsl::array<double> x = dsl::full<double>(3, 2);
  dsl::array<double> y;
#include <docs/functors/constants.inc>
  EXPECT_NEAR(y(1).value(), 3 / std::sqrt(2.0) + std::sqrt(3.0), 1e-15);
}

static_assert(std::is_convertible_v<std::complex<double>, dsl::complex<float>> &&
              std::is_convertible_v<int, dsl::complex<float>>);
static_assert(std::is_convertible_v<dsl::complex<float>, dsl::complex<double>> &&
              !std::is_convertible_v<dsl::complex<double>, dsl::complex<float>>);
static_assert(!std::is_convertible_v<dsl::complex<double>, std::complex<double>> &&
              std::is_constructible_v<std::complex<double>, dsl::complex<double>>);
static_assert(sizeof(dsl::complex<float>) == 8 &&
              std::is_trivially_copyable_v<dsl::complex<double>>);
static_assert(std::is_same_v<decltype(dsl::complex<float>() * 2.0), dsl::complex<float>>);
static_assert(
    std::is_same_v<decltype(dsl::complex<float>() * dsl::complex<double>()), dsl::complex<double>>);

}  // namespace

// Lambdas and functors as kernels.
#include "../on_device.hpp"

#include <cmath>
#include <complex>
#include <tuple>

struct a_named_kernel;

struct collatz {  // a loop on data
  DSL_FN int operator()(int n) const {
    int steps = 0;
    for (; n > 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    return steps;
  }
};
struct quotient_and_rest {  // several results, of different dtypes
  DSL_FN std::tuple<int, double> operator()(int a, int b, double scale) const {
    return {a / b, scale * (a % b)};
  }
};
struct halvings_from {  // called, not traced: one parameter does not accept a symbol
  DSL_FN auto operator()(auto n, double from) const {
    for (; n > 1; n = n / 2) from += 1;
    return from;
  }
};

namespace {

struct vectorize : on_device {};
ON_EVERY_DEVICE(vectorize);

template <class T>
dsl::array<T> doubled(const dsl::array<T>& x) {  // a lambda that is local to a template
  return dsl::array<T>(dsl::vectorize([](auto v) { return v + v; })(x));
}
class with_private_lambda {
  static auto squared(const dsl::array<float>& x) {
    return dsl::vectorize([](auto v) { return v * v; })(x);
  }

 public:
  static dsl::array<float> run(const dsl::array<float>& x) { return dsl::array<float>(squared(x)); }
};

TEST_P(vectorize, lambdas_wherever_they_stand) {
  const auto x = dsl::to_device(std::vector<float>{1, 2, 3});
  EXPECT_EQ(doubled(x).copy_to_host(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(with_private_lambda::run(x).copy_to_host(), (std::vector<float>{1, 4, 9}));
}

TEST_P(vectorize, loops_helpers_and_other_vectorized_functions_compose) {
  static constexpr auto horner = [](auto x, auto a, auto b) { return a * x + b; };
  const auto cube = dsl::vectorize([](auto v) { return v * v * v; });
  const auto f = dsl::vectorize<a_named_kernel>([](auto x, auto t) {
    auto sum = x;
    for (int k = 1; k <= 4; ++k) sum = horner(sum, x, k);
    return sum + t;
  });
  const std::vector<double> h{0.5, -1, 2};
  const auto x = dsl::to_device(h);
  dsl::array<double> out = cube(f(x, 10)) + x;
  const auto got = out.copy_to_host();
  for (std::size_t i = 0; i < 3; ++i) {
    double sum = h[i];
    for (int k = 1; k <= 4; ++k) sum = h[i] * sum + k;
    EXPECT_NEAR(got[i], std::pow(sum + 10, 3) + h[i], 1e-9);
  }
}

TEST_P(vectorize, several_outputs_of_several_dtypes) {
  const auto parts =
      dsl::vectorize([](auto z, auto s) { return std::tuple{real(z) * s, z * 2, imag(z) > 0}; });
  const auto z = dsl::to_device(std::vector<std::complex<double>>{{1, 2}, {3, -4}, {5, 6}});
  dsl::array<double> re;  // takes the shape of the assigned value
  dsl::array<std::complex<double>> twice(3);
  dsl::array<bool> positive;
  dsl::tie(re, twice, positive) = parts(z, 0.5);
  EXPECT_EQ(re.copy_to_host(), (std::vector<double>{0.5, 1.5, 2.5}));
  EXPECT_EQ(twice.copy_to_host()[1], (std::complex<double>{6, -8}));
  EXPECT_EQ(positive.copy_to_host(), (std::vector<bool>{true, false, true}));
}

TEST_P(vectorize, functors_are_called_once_an_element) {
  std::vector<int> h(700);
  for (int i = 0; i < 700; ++i) h[static_cast<std::size_t>(i)] = i + 1;
  dsl::array<int> steps = dsl::vectorize(collatz{})(dsl::to_device(h)) + 1;
  const auto got = steps.copy_to_host();
  for (std::size_t i = 0; i < h.size(); ++i) ASSERT_EQ(got[i], collatz{}(h[i]) + 1);
  dsl::array<int> quotient;
  dsl::array<double> rest;
  dsl::tie(quotient, rest) = dsl::vectorize(quotient_and_rest{})(dsl::to_device(h), 7, 0.5);
  EXPECT_EQ(quotient.copy_to_host()[99], 14);
  EXPECT_EQ(rest.copy_to_host()[99], 1.0);
  dsl::array<double> halvings = dsl::vectorize(halvings_from{})(dsl::to_device(h), 0.5);
  EXPECT_EQ(halvings.copy_to_host()[99], 6.5);
}

TEST_P(vectorize, constants_are_weak_and_the_same_for_all_compilers) {
  const auto f = dsl::vectorize([](auto v) {
    const auto root = sqrt(dsl::constant(2.0));
    return std::tuple{v * root + exp(-dsl::constant(1)), root * 2,
                      v * exp(dsl::constant(std::complex<double>(0, 1)) / 2)};
  });
  const auto x = dsl::to_device(std::vector<float>{1, 2, 3});
  dsl::array<float> y;
  dsl::array<double> same(3);
  dsl::array<std::complex<float>> turned;  // complex64: constants are weak next to floats
  dsl::tie(y, same, turned) = f(x);
  EXPECT_NEAR(y.copy_to_host()[1], 2 * std::sqrt(2.0) + std::exp(-1.0), 1e-6);
  EXPECT_NEAR(same.copy_to_host()[2], std::sqrt(8.0), 1e-15);
  EXPECT_NEAR(turned.copy_to_host()[0].imag(), std::sin(0.5), 1e-6);
  y = x * sqrt(dsl::constant(2.0));
  EXPECT_NEAR(y.copy_to_host()[2], 3 * std::sqrt(2.0), 1e-6);
}

TEST_P(vectorize, symbols_take_compound_assignment) {
  const auto x = dsl::to_device(std::vector<float>{1, 2, 3});
  const auto horner = dsl::vectorize([](auto v, auto last) {
    auto sum = 0 * v;
    for (int k = 0; k < 3; ++k) {
      sum += k * v;
      sum *= 2;
    }
    sum -= last;
    sum /= 4;
    return sum;
  });
  dsl::array<float> y = horner(x, x(2));  // an element as an argument, next to arrays
  EXPECT_EQ(y.copy_to_host(), (std::vector<float>{1.25f, 3.25f, 5.25f}));
  const auto bits = dsl::vectorize([](auto v) {
    v += 9;
    v %= 7;
    v <<= 3;
    v |= 5;
    v &= 0x2d;
    v ^= 3;
    v >>= 1;
    return v;
  });
  const std::vector<int> host{0, 1, 2, 3, 4, 5, 6};
  dsl::array<int> z = bits(dsl::to_device(host));
  const auto got = z.copy_to_host();
  for (std::size_t i = 0; i < host.size(); ++i) {
    int v = host[i];
    v += 9;
    v %= 7;
    v <<= 3;
    v |= 5;
    v &= 0x2d;
    v ^= 3;
    v >>= 1;
    EXPECT_EQ(got[i], v) << i;
  }
}

TEST_P(vectorize, tuples_of_expressions_are_one_assignment) {
  auto a = dsl::to_device(std::vector<float>{1, 2, 3}),
       b = dsl::to_device(std::vector<float>{10, 20, 30});
  dsl::tie(a, b) = std::tuple{b + 0, a + 0};  // a swap
  EXPECT_EQ(a.copy_to_host(), (std::vector<float>{10, 20, 30}));
  EXPECT_EQ(b.copy_to_host(), (std::vector<float>{1, 2, 3}));
}

}  // namespace

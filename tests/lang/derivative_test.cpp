// Derivatives of formulas where they could be wrong without a word: infinities that `where` does
// not choose, arguments that are one value, dtypes, complex numbers, reductions, neighbours.
#include "../evaluated.hpp"
#include "boundary_reference.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <tuple>

namespace {

using namespace std::complex_literals;
using precise = long double;
using number = std::complex<double>;

struct derivatives : on_device {};
ON_EVERY_DEVICE(derivatives);

void expect_near(double got, double want, double within, const std::string& what) {
  if (std::isnan(want) || std::isinf(want)) {
    EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want) << what << ": " << got;
  } else {
    EXPECT_NEAR(got, want, within * (1 + std::abs(want))) << what;
  }
}
void expect_near(number got, number want, double within, const std::string& what) {
  expect_near(got.real(), want.real(), within, what + ", real part");
  expect_near(got.imag(), want.imag(), within, what + ", imaginary part");
}
// Compares each output with its own function of the arguments.
template <class Got, class Want, class... X>
void expect_values(const std::vector<Got>& got, const Want& want, const std::string& what,
                   const std::vector<X>&... x) {
  ASSERT_FALSE(got.empty());
  for (std::size_t i = 0; i < got.size(); ++i)
    expect_near(got[i], want(x[i]...), 1e-14, what + ", element " + std::to_string(i));
}

// ---- Formulas of elements

TEST_P(derivatives, no_infinity_of_what_where_does_not_choose) {
  const std::vector<double> x{-4, -1, -0.0, 0, 0.25, 1.5, 4};
  const auto formula = [](auto x) {
    const auto one = [](auto x) { return where(x > 0, sqrt(x), 0.0); };
    const auto nested = [](auto x) { return where(x > 0, 2 * where(x > 1, log(x), sqrt(x)), x); };
    const auto both = [](auto x) {
      auto root = sqrt(x);
      return where(x > 0, root, 3.0) + where(x > 0, 2.0 * root, x);
    };
    const auto outside = [](auto x) {
      auto root = sqrt(x);
      return exp(where(x > 0, root * log(x), x)) * where(x > 1, 1 / root, 1.0);
    };
    const auto least = [](auto x) { return min(max(sqrt(x), 0.25) + 0.0, 1.0); };
    const auto clipped = [](auto x) { return clip(1 / x, -1.0, 2.0); };
    const auto safe = [](auto x) {
      auto is_zero = x == 0;
      return where(is_zero, 1.0, sin(x) / where(is_zero, 1.0, x));
    };
    const auto unsafe = [](auto x) { return where(x == 0, 1.0, sin(x) / x); };
    return std::tuple{dsl::grad<0>(one)(x),
                      dsl::grad<0>(nested)(x),
                      dsl::grad<0>(both)(x),
                      dsl::grad<0>(outside)(x),
                      dsl::grad<0>(least)(x),
                      dsl::grad<0>(clipped)(x),
                      dsl::grad<0>(safe)(x) - dsl::grad<0>(unsafe)(x),
                      get<1>(dsl::jvp(both)(x, 1.0)),
                      get<1>(dsl::jvp(outside)(x, 1.0)),
                      dsl::grad<0>(dsl::grad<0>(both))(x),
                      dsl::hessian(nested)(x),
                      dsl::grad<0>(dsl::grad<0>(unsafe))(x)};
  };
  const auto outside = [](double x) {
    if (x <= 0) return std::exp(x);
    const double root = std::sqrt(x), inner = root * std::log(x),
                 slope = std::log(x) / (2 * root) + 1 / root;
    return x <= 1 ? std::exp(inner) * slope : std::exp(inner) * (slope / root - 0.5 / (x * root));
  };
  const auto both = [](double x) { return x > 0 ? 1.5 / std::sqrt(x) : 1; };
  const auto curvature = [](double x) {
    return x == 0 ? 0
                  : -std::sin(x) / x - 2 * std::cos(x) / (x * x) + 2 * std::sin(x) / (x * x * x);
  };
  evaluated(formula, x)
      .check([&](const auto& a, const auto& b, const auto& c, const auto& d, const auto& e,
                 const auto& f, const auto& g, const auto& h, const auto& i, const auto& j,
                 const auto& k, const auto& l) {
        expect_values(a, [](double x) { return x > 0 ? 0.5 / std::sqrt(x) : 0; }, "one", x);
        expect_values(
            b, [](double x) { return x > 1   ? 2 / x
                                     : x > 0 ? 1 / std::sqrt(x)
                                             : 1; }, "nested", x);
        expect_values(c, both, "both", x);
        expect_values(d, outside, "outside", x);
        expect_values(
            e,
            [](double x) {  // of equal ones the first: sqrt(1/16) is not among them
              return std::sqrt(x) > 0.25 && std::sqrt(x) <= 1 ? 0.5 / std::sqrt(x) : 0;
            },
            "least", x);
        expect_values(
            f, [](double x) { return 1 / x >= -1 && 1 / x <= 2 ? -1 / (x * x) : 0; }, "clipped", x);
        expect_values(g, [](double) { return 0; }, "safe", x);
        expect_values(h, both, "both, forwards", x);
        expect_values(i, outside, "outside, forwards", x);
        expect_values(
            j, [](double x) { return x > 0 ? -0.75 / (x * std::sqrt(x)) : 0; }, "both, twice", x);
        expect_values(
            k,
            [](double x) { return x > 1   ? -2 / (x * x)
                                  : x > 0 ? -0.5 / (x * std::sqrt(x))
                                          : 0; },
            "nested, twice", x);
        expect_values(l, curvature, "unsafe, twice", x);
      });
}

TEST_P(derivatives, at_kinks_and_ends) {
  const std::vector<double> x{-2, -0.0, 0, 1, 3}, y{3, 0, 0, 1, -2};
  const auto formula = [](auto x, auto y) {
    const auto greater = [](auto a, auto b) { return max(a, b); };
    const auto lesser = [](auto a, auto b) { return fmin(a, b); };
    return std::tuple{dsl::grad<0>([](auto a) { return abs(a); })(x),
                      dsl::grad<0>(greater)(x, y),
                      dsl::grad<1>(greater)(x, y),
                      dsl::grad<1>(lesser)(x, y),
                      dsl::grad<0>([](auto a, auto b) { return hypot(a, b); })(x, y),
                      dsl::grad<0>([](auto a) { return sqrt(a); })(x),
                      dsl::grad<0>([](auto a, auto b) { return pow(a, b); })(x, y),
                      dsl::grad<0>([](auto a) { return pow(a, 0.0) + pow(a, 3.0); })(x),
                      dsl::grad<1>([](auto a, auto b) { return pow(a, b); })(x, y),
                      dsl::grad<0>([](auto a) { return floor(a) + a * ceil(a); })(x),
                      dsl::grad<0>([](auto a) { return dsl::cast<float>(a) * a; })(x),
                      dsl::grad<0>([](auto) { return dsl::constant(3.0); })(x)};
  };
  evaluated(formula, x, y)
      .check([&](const auto& a, const auto& b, const auto& c, const auto& d, const auto& e,
                 const auto& f, const auto& g, const auto& h, const auto& i, const auto& j,
                 const auto& k, const auto& l) {
        expect_values(a, [](double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }, "abs", x);
        expect_values(b, [](double x, double y) { return x >= y; }, "max, first", x, y);
        expect_values(c, [](double x, double y) { return x < y; }, "max, second", x, y);
        expect_values(d, [](double x, double y) { return x > y; }, "fmin, second", x, y);
        expect_values(
            e, [](double x, double y) { return x == 0 ? 0 : x / std::hypot(x, y); }, "hypot", x, y);
        expect_values(
            f, [](double x) { return x > 0    ? 0.5 / std::sqrt(x)
                                     : x == 0 ? 0.5 / x
                                              : NAN; }, "sqrt",
            x);
        expect_values(
            g, [](double x, double y) { return y == 0 ? 0 : y * std::pow(x, y - 1); }, "pow", x, y);
        expect_values(h, [](double x) { return 3 * x * x; }, "pow of constants", x);
        expect_values(
            i, [](double x, double y) { return x == 0 ? 0 : std::pow(x, y) * std::log(x); },
            "exponent", x, y);
        expect_values(j, [](double x) { return std::ceil(x); }, "rounded", x);
        expect_values(k, [](double x) { return 2 * x; }, "cast", x);
        expect_values(l, [](double) { return 0; }, "constant", x);
      });
}

// One value as several arguments, arguments that are computed from others, numbers.
TEST_P(derivatives, arguments_can_be_told_apart) {
  const std::vector<double> x{0.5, -2, 3, 1}, y{1, 2, -3, 4};
  const auto formula = [](auto x, auto y, auto h) {
    const auto f = [](auto a, auto b) { return a * a * b + b; };
    const auto of_square = [](auto w) {
      return dsl::grad<0>([](auto a, auto b) { return a * a * b + b; })(w * w, w);
    };
    const auto in_a_sum = [](auto a, auto b) {
      return b * dsl::grad<0>([](auto c, auto d) { return c * c * d; })(a, b);
    };
    return std::tuple{dsl::grad<0>(f)(x, x),
                      dsl::grad<1>(f)(x, x),
                      dsl::grad<0>(f)(x * x, x),
                      dsl::grad<1>(f)(x * x, x),
                      dsl::grad<0>(f)(x, 0.5) + dsl::grad<1>(f)(x, 0.5),
                      dsl::grad<1>(f)(x, h) + dsl::grad<1>(f)(2, y),
                      dsl::grad<1>(f)(x * x + y, x * x + y),
                      dsl::grad<0>(of_square)(x),
                      get<1>(dsl::vjp(f)(x + y, x + y, 2.0)),
                      get<2>(dsl::value_and_grad<1, 0>(f)(y * x, x)),
                      dsl::grad<1>(in_a_sum)(x, x),
                      get<1>(dsl::jvp(f)(x, y, y, 0.0))};
  };
  const double h = 3;
  evaluated(formula, x, y, h)
      .check([&](const auto& a, const auto& b, const auto& c, const auto& d, const auto& e,
                 const auto& f, const auto& g, const auto& i, const auto& j, const auto& k,
                 const auto& l, const auto& m) {
        expect_values(a, [](double x) { return 2 * x * x; }, "twice, first", x);
        expect_values(b, [](double x) { return x * x + 1; }, "twice, second", x);
        expect_values(c, [](double x) { return 2 * x * x * x; }, "computed, first", x);
        expect_values(d, [](double x) { return x * x * x * x + 1; }, "computed, second", x);
        expect_values(e, [](double x) { return x + x * x + 1; }, "a number", x);
        expect_values(f, [](double x) { return x * x + 1 + 5; }, "a scalar", x);
        expect_values(
            g, [](double x, double y) { return (x * x + y) * (x * x + y) + 1; }, "computed twice",
            x, y);
        expect_values(i, [](double x) { return 6 * x * x; }, "of what it was computed from", x);
        expect_values(
            j, [](double x, double y) { return 2 * ((x + y) * (x + y) + 1); }, "vjp", x, y);
        expect_values(
            k, [](double x, double y) { return 2 * y * x * x; }, "value_and_grad<1, 0>", x, y);
        expect_values(l, [](double x) { return 4 * x * x; }, "nested", x);
        expect_values(m, [](double x, double y) { return 2 * x * y * y; }, "jvp", x, y);
      });
}

TEST_P(derivatives, have_the_dtypes_of_their_arguments) {
  const std::vector<float> f{0.5F, -2, 3};
  const std::vector<double> d{1, 2, -3};
  const std::vector<dsl::half> h{dsl::half(0.5F), dsl::half(-2.0F), dsl::half(3.0F)};
  const std::vector<std::complex<float>> z{{1, 2}, {0, -1}, {3, 0.5F}};
  const std::vector<int> i{2, 3, -1};
  const double number = 0.25;
  const auto formula = [](auto f, auto d, auto h, auto z, auto i, auto number) {
    const auto product = [](auto a, auto b) { return a * a * b; };
    const auto size = [](auto a, auto b) { return abs2(a) * b; };
    auto of_float = dsl::grad<0>(product)(f, d);
    auto of_double = dsl::grad<1>(product)(f, d);
    auto of_half = dsl::grad<0>(product)(h, number);
    auto of_number = dsl::grad<1>(product)(f, number);
    auto of_number_beside_half = dsl::grad<1>(product)(h, number);
    auto of_complex = dsl::grad<0>(size)(z, f);
    auto beside_complex = dsl::grad<1>(size)(z, f);
    auto beside_integers = dsl::grad<0>(product)(d, i);
    static_assert(decltype(of_float)::type.type == dsl::dtype::float32);
    static_assert(decltype(of_double)::type.type == dsl::dtype::float64);
    static_assert(decltype(of_half)::type.type == dsl::dtype::float16);
    static_assert(decltype(of_number)::type.type == dsl::dtype::float32);
    static_assert(decltype(of_number_beside_half)::type.type == dsl::dtype::float16);
    static_assert(decltype(of_complex)::type.type == dsl::dtype::complex64);
    static_assert(decltype(beside_complex)::type.type == dsl::dtype::float32);
    return std::tuple{of_float,
                      of_double,
                      of_half,
                      of_number,
                      of_number_beside_half,
                      of_complex,
                      beside_complex,
                      beside_integers,
                      dsl::grad<0>([](auto a, auto p) { return a * p + p; })(d, i > 0)};
  };
  evaluated(formula, f, d, h, z, i, number)
      .check([&](const auto& a, const auto& b, const auto& c, const auto& e, const auto& g,
                 const auto& k, const auto& l, const auto& m, const auto& o) {
        for (std::size_t n = 0; n < 3; ++n) {
          EXPECT_EQ(a[n], static_cast<float>(2 * f[n] * d[n]));
          EXPECT_EQ(b[n], f[n] * f[n]);
          EXPECT_EQ(static_cast<float>(c[n]), static_cast<float>(h[n]) / 2);
          EXPECT_EQ(e[n], f[n] * f[n]);
          EXPECT_EQ(static_cast<float>(g[n]), static_cast<float>(h[n]) * static_cast<float>(h[n]));
          EXPECT_EQ(k[n], 2.0F * std::conj(z[n]) * f[n]);
          EXPECT_EQ(l[n], std::norm(z[n]));
          EXPECT_EQ(m[n], 2 * d[n] * i[n]);
          EXPECT_EQ(o[n], i[n] > 0 ? 1 : 0);
        }
      });
}

// The convention of JAX: of a holomorphic function f'(z), of a real one df/dx - i df/dy; with
// respect to a real number the real part.
TEST_P(derivatives, of_complex_numbers) {
  const std::vector<number> z{{1, 2}, {0.5, -1}, {-3, 0.25}, {0, 0}};
  const std::vector<double> t{0.5, -1, 2, 0};
  const auto formula = [](auto z, auto t) {
    const auto wave = [](auto t) { return exp(2i * t); };
    return std::tuple{
        dsl::grad<0>([](auto z) { return z * z * z + exp(z); })(z),
        dsl::grad<0>([](auto z) { return abs(z); })(z),
        dsl::grad<0>([](auto z) { return real(exp(1i * conj(z))); })(z),
        dsl::grad<0>([](auto z, auto t) { return real(polar(t, imag(z))); })(z, t),
        dsl::grad<0>([](auto t) { return real(exp(2i * t)); })(t),
        dsl::grad<0>(wave)(t),
        get<1>(dsl::jvp(wave)(t, 1.0)),
        get<1>(dsl::jvp([](auto z) { return abs2(z); })(z, 1.0 + 1i)),
        get<0>(dsl::jacobian([](auto z) { return std::tuple{real(z * z), imag(z)}; })(z)),
        get<1>(dsl::jacobian([](auto z) { return std::tuple{real(z * z), imag(z)}; })(z)),
        dsl::hessian([](auto z) { return z * z * z; })(z),
        dsl::grad<1>([](auto z, auto t) { return abs2(z * t); })(z, t)};
  };
  evaluated(formula, z, t)
      .check([&](const auto& a, const auto& b, const auto& c, const auto& d, const auto& e,
                 const auto& f, const auto& g, const auto& h, const auto& i, const auto& j,
                 const auto& k, const auto& l) {
        const auto expect_wave = [&](const auto& got) {
          expect_values(got, [](double t) { return -2 * std::sin(2 * t); }, "a wave", t);
        };
        expect_values(a, [](number z) { return 3.0 * z * z + std::exp(z); }, "holomorphic", z);
        expect_values(
            b, [](number z) { return z == 0.0 ? 0 : std::conj(z) / std::abs(z); }, "abs", z);
        expect_values(
            c,
            [](number z) {
              return std::exp(z.imag()) * number(-std::sin(z.real()), -std::cos(z.real()));
            },
            "of the conjugate", z);
        expect_values(
            d, [](number z, double t) { return number(0, t * std::sin(z.imag())); }, "polar", z, t);
        expect_wave(e);
        expect_wave(f);
        expect_values(g, [](double t) { return 2i * std::exp(2i * t); }, "a wave, forwards", t);
        expect_values(h, [](number z) { return 2 * (z.real() + z.imag()); }, "abs2, forwards", z);
        expect_values(i, [](number z) { return 2.0 * z; }, "jacobian, real part", z);
        expect_values(j, [](number) { return number(0, -1); }, "jacobian, imaginary part", z);
        expect_values(k, [](number z) { return 6.0 * z; }, "hessian", z);
        expect_values(
            l, [](number z, double t) { return 2 * t * std::norm(z); }, "a real factor", z, t);
      });
}

TEST_P(derivatives, jacobians_and_hessians) {
  const std::vector<double> x{0.5, -2, 3}, y{1, 2, -0.5};
  const auto formula = [](auto x, auto y) {
    const auto tall = [](auto a, auto b) { return std::tuple{a * b, a / b, sin(a)}; };
    const auto wide = [](auto a, auto b) { return a * b + b * b * b; };
    const auto [a, b, c, d, e, f] = dsl::jacobian(tall)(x, y);
    const auto [g, h] = dsl::jacobian(wide)(x, y);
    const auto [i, j, k, l] = dsl::hessian([](auto a, auto b) { return a * a * b + cos(b); })(x, y);
    const auto [m, n] = dsl::vjp(tall)(x, y, y, x, 1.0);
    return std::tuple{a, b, c, d, e, f, g, h, i, j - k, k, l, m + n};
  };
  evaluated(formula, x, y).check([&](const auto&... got) {
    const std::function<double(double, double)> wanted[] = {
        [](double, double y) { return y; },
        [](double x, double) { return x; },
        [](double, double y) { return 1 / y; },
        [](double x, double y) { return -x / (y * y); },
        [](double x, double) { return std::cos(x); },
        [](double, double) { return 0; },
        [](double, double y) { return y; },
        [](double x, double y) { return x + 3 * y * y; },
        [](double, double y) { return 2 * y; },
        [](double, double) { return 0; },
        [](double x, double) { return 2 * x; },
        [](double, double y) { return -std::cos(y); },
        [](double x, double y) { return y * y + x / y + std::cos(x) + x * y - x * x / (y * y); }};
    std::size_t k = 0;
    const auto expect_next = [&](const auto& values) {
      expect_values(values, wanted[k], "output " + std::to_string(k), x, y);
      ++k;
    };
    (expect_next(got), ...);
  });
}

// ---- Formulas that reduce

std::vector<double> random_numbers(std::int64_t n, double low, double high, unsigned seed) {
  const auto drawn = random_floats(n, static_cast<float>(low), static_cast<float>(high), seed);
  return {drawn.begin(), drawn.end()};
}

// mean(x^2) max|x - k| + var(x) of all elements, and min(x) beside them.
TEST_P(derivatives, of_reductions) {
  const auto f = [](auto x, auto k) {
    return dsl::mean(x * x) * dsl::norm<dsl::inf>(x - k) + dsl::var(x) + 2 * dsl::min(x);
  };
  for (const std::int64_t n : {1, 2, 31, 1003}) {
    auto host = random_numbers(n, -2, 2, 3);
    if (n > 2) host[7] = host[20] = -2.5;  // Ties: the first position counts.
    const auto x = dsl::to_device(host);
    const double k = 0.25;
    dsl::scalar<double> value, by_k;
    dsl::array<double> by_x;
    dsl::tie(value, by_x, by_k) = dsl::value_and_grad<0, 1>(f)(x, k);
    // The same elements, but not one after another, and not aligned.
    dsl::array<double> apart = dsl::zeros<double>(2 * n + 1), of_apart;
    dsl::scalar<double> again, by_k_again;
    auto strided = apart(dsl::slice(1, dsl::end, 2));
    strided = x;
    dsl::tie(again, of_apart, by_k_again) = dsl::value_and_grad<0, 1>(f)(strided, k);
    EXPECT_NEAR(again.value(), value.value(), 1e-13);
    EXPECT_NEAR(by_k_again.value(), by_k.value(), 1e-13);
    EXPECT_LT(dsl::max(abs(of_apart - by_x)).value(), 1e-13);
    precise squares = 0, sum = 0, greatest = 0;
    std::size_t last = 0, least = 0;
    for (std::size_t i = 0; i < host.size(); ++i) {
      squares += precise(host[i]) * host[i];
      sum += host[i];
      if (std::abs(host[i] - k) > greatest) {
        greatest = std::abs(precise(host[i]) - k);
        last = i;
      }
      if (host[i] < host[least]) least = i;
    }
    const precise mean = sum / n, sign = host[last] > k ? 1 : -1;
    precise variance = 0;
    for (const double each : host) variance += (each - mean) * (each - mean) / n;
    EXPECT_NEAR(value.value(),
                static_cast<double>(squares / n * greatest + variance + 2 * host[least]), 1e-12);
    EXPECT_NEAR(by_k.value(), static_cast<double>(-sign * squares / n), 1e-12);
    const auto got = by_x.copy_to_host();
    ASSERT_EQ(got.size(), host.size());
    for (std::size_t i = 0; i < host.size(); ++i) {
      const precise want = 2 * host[i] / n * greatest + (i == last ? sign * squares / n : 0) +
                           2 * (host[i] - mean) / n + (i == least ? 2 : 0);
      ASSERT_NEAR(got[i], static_cast<double>(want), 1e-12) << n << ", element " << i;
    }
  }
}

TEST_P(derivatives, of_products_with_zeros) {
  const auto f = dsl::grad<0>([](auto x) { return dsl::prod(x) + dsl::norm(x - 1); });
  for (std::size_t zeros = 0; zeros < 3; ++zeros) {
    std::vector<double> host{2, -1.5, 3, 0.5, 1.25, -2, 4};
    for (std::size_t k = 0; k < zeros; ++k) host[2 + 3 * k] = 0;
    const auto got = dsl::eval(f(dsl::to_device(host))).copy_to_host();
    double length = 0;
    for (const double x : host) length += (x - 1) * (x - 1);
    for (std::size_t i = 0; i < host.size(); ++i) {
      double others = 1;
      for (std::size_t k = 0; k < host.size(); ++k) others *= k == i ? 1 : host[k];
      EXPECT_NEAR(got[i], others + (host[i] - 1) / std::sqrt(length), 1e-13) << zeros << ' ' << i;
    }
  }
}

// The weights of several outputs for each element, each of which depends on all elements. The
// second derivative of one value of all of them.
TEST_P(derivatives, of_elements_that_depend_on_all) {
  const auto shares = [](auto x) {
    auto e = exp(x - dsl::max(x));
    return e / dsl::sum(e);
  };
  for (const std::int64_t n : {1, 5, 700}) {
    const auto host = random_numbers(n, -2, 2, 5), weights = random_numbers(n, -1, 1, 6);
    const auto x = dsl::to_device(host), w = dsl::to_device(weights);
    dsl::array<double> back, value, change, curved;
    back = dsl::vjp(shares)(x, w);
    dsl::tie(value, change) = dsl::jvp(shares)(x, w);
    curved = dsl::grad<0>([](auto x, auto w) {
      return dsl::sum(w * dsl::grad<0>([](auto x) { return log(dsl::sum(exp(x))); })(x));
    })(x, w);
    precise all = 0, weighted = 0;
    for (std::size_t i = 0; i < host.size(); ++i) all += std::exp(precise(host[i]));
    for (std::size_t i = 0; i < host.size(); ++i)
      weighted += weights[i] * std::exp(precise(host[i])) / all;
    const auto b = back.copy_to_host(), c = change.copy_to_host(), d = curved.copy_to_host();
    for (std::size_t i = 0; i < host.size(); ++i) {
      // The softmax's matrix of derivatives is symmetric, and the hessian of log(sum(exp(x))).
      const auto want =
          static_cast<double>(std::exp(precise(host[i])) / all * (weights[i] - weighted));
      ASSERT_NEAR(b[i], want, 1e-13) << n << ' ' << i;
      ASSERT_NEAR(c[i], want, 1e-13) << n << ' ' << i;
      ASSERT_NEAR(d[i], want, 1e-13) << n << ' ' << i;
    }
  }
}

// The gradient of a row's cross-entropy, for each row.
TEST_P(derivatives, of_rows) {
  const auto loss = [](auto x) { return log(dsl::sum(exp(x - dsl::max(x)))) + dsl::max(x); };
  const std::int64_t rows = 3, columns = 37;
  const auto host = random_numbers(rows * columns, -3, 3, 7);
  const auto m = dsl::reshape(dsl::to_device(host), rows, columns);
  const dsl::array<double, 2> made = dsl::apply_along_axis(dsl::grad<0>(loss), dsl::axis(1), m);
  const auto got = made.copy_to_host();
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto first = static_cast<std::size_t>(r * columns),
               end = static_cast<std::size_t>((r + 1) * columns);
    precise all = 0;
    for (std::size_t i = first; i < end; ++i) all += std::exp(precise(host[i]));
    for (std::size_t i = first; i < end; ++i)
      ASSERT_NEAR(got[i], static_cast<double>(std::exp(precise(host[i])) / all), 1e-14) << i;
  }
}

// ---- Neighbours

struct grid {
  std::int64_t rows, columns;
  std::size_t at(std::int64_t r, std::int64_t c) const {
    return static_cast<std::size_t>(r * columns + c);
  }
};

// w_i sin(x_read(i)) at distances 1, 2, 3, -2: the derivative is a sum over those who read x_j.
template <dsl::boundary Beyond, int Axis>
struct shifted_sines {
  template <std::int64_t Distance>
  static constexpr auto formula() {
    return [](auto x, auto w) { return w * sin(dsl::shift(x, Distance, Beyond, Axis)); };
  }
  static constexpr auto gradients = [](auto x, auto w) {
    return std::tuple{dsl::grad<0>(formula<1>())(x, w), dsl::grad<0>(formula<2>())(x, w),
                      dsl::grad<0>(formula<3>())(x, w), dsl::grad<0>(formula<-2>())(x, w)};
  };
  static constexpr std::int64_t distances[] = {1, 2, 3, -2};

  // `stride`: 0 for one weight that all elements share.
  static void check(const grid& shape, const std::vector<double>& x, const std::vector<double>& w,
                    std::size_t stride, const std::vector<dsl::array<double, 2>>& got) {
    const std::int64_t extent = Axis == 0 ? shape.rows : shape.columns;
    for (std::size_t k = 0; k < 4; ++k) {
      std::vector<double> want(x.size(), 0);
      for (std::int64_t r = 0; r < shape.rows; ++r)
        for (std::int64_t c = 0; c < shape.columns; ++c) {
          const std::int64_t from =
              inside_by_steps(Beyond, (Axis == 0 ? r : c) - distances[k], extent);
          if (from < 0) continue;
          const std::size_t read = Axis == 0 ? shape.at(from, c) : shape.at(r, from);
          want[read] += w[stride * shape.at(r, c)] * std::cos(x[read]);
        }
      const bool is_short =
          Beyond == dsl::boundary::reflect && extent > 1 && extent <= std::abs(distances[k]);
      const auto values = got[k].copy_to_host();
      ASSERT_EQ(values.size(), want.size());
      for (std::size_t i = 0; i < want.size(); ++i)
        expect_near(values[i], is_short ? NAN : want[i], 1e-13,
                    std::to_string(static_cast<int>(Beyond)) + ", distance " +
                        std::to_string(distances[k]) + ", " + std::to_string(shape.rows) + " x " +
                        std::to_string(shape.columns) + ", element " + std::to_string(i));
    }
  }
  static void run() {
    for (const grid shape : {grid{1, 1}, grid{1, 9}, grid{9, 1}, grid{2, 3}, grid{3, 2}, grid{4, 5},
                             grid{5, 4}, grid{7, 40}}) {
      const auto x = random_numbers(shape.rows * shape.columns, -2, 2, 11),
                 w = random_numbers(shape.rows * shape.columns, -1, 1, 12);
      const auto a = dsl::reshape(dsl::to_device(x), shape.rows, shape.columns),
                 b = dsl::reshape(dsl::to_device(w), shape.rows, shape.columns);
      std::vector<dsl::array<double, 2>> got(4);
      dsl::tie(got[0], got[1], got[2], got[3]) = dsl::vectorize(gradients)(a, b);
      check(shape, x, w, 1, got);
      // The same elements at other strides.
      const dsl::array<double, 2> turned = dsl::transpose(a);
      dsl::tie(got[0], got[1], got[2], got[3]) =
          dsl::vectorize(gradients)(dsl::transpose(turned), b);
      check(shape, x, w, 1, got);
      // A weight that all elements share, as an array of one element.
      const auto one = dsl::broadcast_to(b(dsl::slice(0, 1), dsl::slice(0, 1)), 1, 1);
      dsl::tie(got[0], got[1], got[2], got[3]) = dsl::vectorize(gradients)(a, one);
      check(shape, x, w, 0, got);
    }
  }
};
TEST_P(derivatives, of_neighbours) {
  using dsl::boundary;
  shifted_sines<boundary::zero, 0>::run();
  shifted_sines<boundary::wrap, 1>::run();
  shifted_sines<boundary::clamp, 0>::run();
  shifted_sines<boundary::reflect, 1>::run();
}

// Of one axis: weights that are constants, forwards and backwards; paths of two steps; sums.
TEST_P(derivatives, of_paths_and_sums_of_neighbours) {
  using dsl::boundary;
  const auto formula = [](auto x, auto v) {
    const auto itself = [](auto x) { return dsl::shift(x, 2, boundary::clamp); };
    const auto path = [](auto x) {
      return dsl::shift(dsl::shift(x, 2, boundary::clamp), -1, boundary::zero);
    };
    const auto energy = [](auto x) {
      auto step = dsl::shift(x, 1, boundary::reflect) - x;
      return 0.5 * dsl::sum(step * step * dsl::shift(x, -1));
    };
    return std::tuple{dsl::grad<0>(itself)(x), get<1>(dsl::jvp(itself)(x, 1.0)),
                      dsl::grad<0>(path)(x),   get<1>(dsl::jvp(path)(x, v)),
                      dsl::grad<0>(energy)(x), v * get<1>(dsl::jvp(energy)(x, v))};
  };
  for (const std::int64_t n : {4, 5, 300}) {
    const auto host = random_numbers(n, -2, 2, 13), along = random_numbers(n, -2, 2, 14);
    const auto x = dsl::to_device(host), v = dsl::to_device(along);
    std::vector<dsl::array<double>> got(6);
    dsl::tie(got[0], got[1], got[2], got[3], got[4], got[5]) = dsl::vectorize(formula)(x, v);
    const auto size = static_cast<std::size_t>(n);
    const auto read = [n](boundary beyond, std::int64_t i) {
      return inside_by_steps(beyond, i, n);
    };
    std::vector<double> itself(size), path(size), path_change(size), energy(size);
    const auto element = [&](const std::vector<double>& of, std::int64_t i) {
      return i < 0 ? 0 : of[static_cast<std::size_t>(i)];
    };
    const auto add = [](std::vector<double>& to, std::int64_t i, double by) {
      if (i >= 0) to[static_cast<std::size_t>(i)] += by;
    };
    for (std::int64_t i = 0; i < n; ++i) {
      add(itself, read(boundary::clamp, i - 2), 1);
      const std::int64_t middle = read(boundary::zero, i + 1),
                         end = middle < 0 ? -1 : read(boundary::clamp, middle - 2);
      add(path, end, 1);
      path_change[static_cast<std::size_t>(i)] = element(along, end);
      const std::int64_t before = read(boundary::reflect, i - 1),
                         next = read(boundary::zero, i + 1);
      const double step = element(host, before) - element(host, i);
      add(energy, before, step * element(host, next));
      add(energy, i, -step * element(host, next));
      add(energy, next, step * step / 2);
    }
    double change = 0;
    for (std::size_t i = 0; i < size; ++i) change += energy[i] * along[i];
    for (std::size_t i = 0; i < size; ++i) {
      const std::string where = std::to_string(n) + ", element " + std::to_string(i);
      expect_near(got[0].copy_to_host()[i], itself[i], 1e-14, "clamp " + where);
      expect_near(got[1].copy_to_host()[i], 1, 1e-14, "clamp, forwards " + where);
      expect_near(got[2].copy_to_host()[i], path[i], 1e-14, "two steps " + where);
      expect_near(got[3].copy_to_host()[i], path_change[i], 1e-14, "two steps, forwards " + where);
      expect_near(got[4].copy_to_host()[i], energy[i], 1e-12, "a sum " + where);
      expect_near(got[5].copy_to_host()[i], change * along[i], 1e-11, "a sum, forwards " + where);
    }
  }
}

// The first of equal extrema, whose weight goes to neighbours.
TEST_P(derivatives, of_an_extremum_of_neighbours) {
  using dsl::boundary;
  const auto slope = dsl::grad<0>([](auto x) {
    return dsl::max(x * dsl::shift(x, 1, boundary::wrap, 1) +
                    dsl::shift(x, -1, boundary::clamp, 0));
  });
  for (const grid shape : {grid{1, 1}, grid{3, 4}, grid{5, 37}}) {
    std::vector<double> host;
    for (std::int64_t i = 0; i < shape.rows * shape.columns; ++i)
      host.push_back(static_cast<double>(i * 7 % 3));  // Many are equal.
    const dsl::array<double, 2> made =
        slope(dsl::reshape(dsl::to_device(host), shape.rows, shape.columns));
    std::vector<double> want(host.size(), 0);
    double greatest = -1;
    std::size_t at[3]{};
    for (std::int64_t r = 0; r < shape.rows; ++r)
      for (std::int64_t c = 0; c < shape.columns; ++c) {
        const std::size_t here = shape.at(r, c),
                          left = shape.at(r, (c + shape.columns - 1) % shape.columns),
                          below = shape.at(std::min(r + 1, shape.rows - 1), c);
        const double value = host[here] * host[left] + host[below];
        if (value <= greatest) continue;
        greatest = value;
        at[0] = here;
        at[1] = left;
        at[2] = below;
      }
    want[at[0]] += host[at[1]];
    want[at[1]] += host[at[0]];
    want[at[2]] += 1;
    EXPECT_EQ(made.copy_to_host(), want) << shape.rows << " x " << shape.columns;
  }
}

}  // namespace

// Derivatives of formulas where they could be wrong without a word: infinities that `where` does
// not choose, arguments that are one value, dtypes, complex numbers, reductions, neighbours.
#include "derivative_check.hpp"

namespace {

using namespace derivative_check;

struct derivatives : on_device {};
ON_EVERY_DEVICE(derivatives);

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

TEST_P(derivatives, of_values_that_count_as_constants) {
  const std::vector<double> host{-1.5, 0, 2};
  const auto x = dsl::to_device(host);
  const auto slope = dsl::grad<0>([](auto a) { return a * dsl::stop_gradient(a * a); });
  const auto got = dsl::eval(slope(x)).copy_to_host(),
             of_loss =
                 dsl::eval(dsl::gradient(dsl::sum(x * dsl::stop_gradient(x)), x)).copy_to_host();
  for (std::size_t i = 0; i < host.size(); ++i) {
    EXPECT_EQ(got[i], host[i] * host[i]);
    EXPECT_EQ(of_loss[i], host[i]);
  }
  // An argument that is computed from others keeps its derivative inside fast_math.
  const auto inside = dsl::vectorize([](auto w) {
    return dsl::grad<0>([](auto a) { return dsl::fast_math(a * a + exp(0 * a)); })(2 * w);
  });
  EXPECT_EQ(dsl::eval(inside(x)).copy_to_host(), dsl::eval(4 * x).copy_to_host());
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

// The range of a C++ integer is found by tracing the formula once more.
TEST_P(derivatives, of_a_reduction_beside_an_integer) {
  const auto x = dsl::to_device(std::vector<double>{1, 3, -2});
  const dsl::array<double> by_x =
      dsl::grad<0>([](auto x, auto n) { return n * dsl::max(x) + x; })(x, 2);
  EXPECT_EQ(by_x.copy_to_host(), (std::vector<double>{1, 7, 1}));
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

}  // namespace

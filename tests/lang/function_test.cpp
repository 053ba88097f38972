// Every function of the table at a few values, special ones included: NumPy's results, or the C
// library's. Other tests compare all dtypes with NumPy, and measure errors in units in the last
// place.
#include "../evaluated.hpp"
#include "../on_device.hpp"

#include "exec/plan/text.hpp"

#include <cmath>
#include <complex>
#include <limits>
#include <sstream>
#include <utility>

namespace {

using c128 = std::complex<double>;
constexpr double inf = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();

struct function : on_device {};
ON_EVERY_DEVICE(function);

bool close(double got, double want) {
  if (std::isnan(want)) return std::isnan(got);
  if (want == 0 || std::isinf(want)) return got == want && std::signbit(got) == std::signbit(want);
  return std::abs(got - want) <= 16 * std::numeric_limits<double>::epsilon() * std::abs(want);
}
bool close(c128 got, c128 want) {
  return close(got.real(), want.real()) && close(got.imag(), want.imag());
}

template <class T> struct expected {
  const char* name;
  std::vector<T> values;
};

template <class T, class E>
void compare(const expected<T>& want, const std::vector<E>& got) {
  ASSERT_EQ(got.size(), want.values.size()) << want.name;
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_PRED2([](T a, T b) { return close(a, b); }, static_cast<T>(got[i]), want.values[i])
        << want.name << ", value " << i;
}

// Compares the outputs of a formula, which returns a std::tuple of N symbols, with the expected
// values.
template <class T = double, std::size_t N, class F, class... X>
void check(F f, const expected<T> (&want)[N], const std::vector<X>&... x) {
  evaluated(f, x...).check([&](const auto&... got) {
    static_assert(sizeof...(got) == N);
    const expected<T>* next = want;
    (compare(*next++, got), ...);
  });
}
// f of every value.
template <class F, class X>
std::vector<double> of(F f, const std::vector<X>& x) {
  std::vector<double> y;
  for (const X v : x) y.push_back(static_cast<double>(f(v)));
  return y;
}
#define STD(name, x) {#name, of([](double v) { return std::name(v); }, x)}

TEST_P(function, exponentials_and_logarithms) {
  const std::vector<double> x{0.25, 1, -1.5, 700, 0, -0.0, inf, -inf, nan};
  check([](auto v) { return std::tuple{exp(v), exp2(v), exp10(v / 100), expm1(v)}; },
        {STD(exp, x),
         STD(exp2, x),
         {"exp10", of([](double v) { return std::pow(10.0, v / 100); }, x)},
         STD(expm1, x)},
        x);
  check([](auto v) { return std::tuple{log(v), log2(v), log10(v), log1p(v)}; },
        {STD(log, x), STD(log2, x), STD(log10, x), STD(log1p, x)}, x);
  check([](auto v) { return std::tuple{sqrt(v), rsqrt(v), cbrt(v), square(v), reciprocal(v)}; },
        {STD(sqrt, x),
         {"rsqrt", {2, 1, nan, 1 / std::sqrt(700.0), inf, -inf, 0, nan, nan}},
         STD(cbrt, x),
         {"square", {0.0625, 1, 2.25, 490000, 0, 0, inf, inf, nan}},
         {"reciprocal", {4, 1, -1 / 1.5, 1 / 700.0, inf, -inf, 0, -0.0, nan}}},
        x);
  check(
      [](auto a, auto b) {
        return std::tuple{logaddexp(a, b), logaddexp2(a, b), pow(a, b), hypot(a, b)};
      },
      {{"logaddexp",
        {std::log(std::exp(1.0) + std::exp(2.0)), 1000 + std::log(2.0), inf, -inf, inf, nan}},
       {"logaddexp2", {std::log2(6.0), 1001, inf, -inf, inf, nan}},
       {"pow", {1, inf, inf, 0, 0, nan}},
       {"hypot", {std::sqrt(5.0), std::sqrt(2e6), inf, inf, inf, nan}}},
      std::vector<double>{1, 1000, inf, -inf, inf, nan},
      std::vector<double>{2, 1000, inf, -inf, -inf, 0.5});
}

// Simplification while tracing preserves a zero's sign; rules that would not are not applied.
TEST_P(function, signed_zeros) {
  const std::vector<double> x{-0.0, 0.0};
  check(
      [](auto v) { return std::tuple{v + 0, v - 0, 0 - v, v * 1, v / 1, -(-v), v * 0, v + -0.0}; },
      {{"x + 0", {0, 0}},
       {"x - 0", {-0.0, 0}},
       {"0 - x", {0, 0}},
       {"x * 1", {-0.0, 0}},
       {"x / 1", {-0.0, 0}},
       {"-(-x)", {-0.0, 0}},
       {"x * 0", {-0.0, 0}},
       {"x + -0.0", {-0.0, 0}}},
      x);
}

// Constants that a constant expression cannot compute with: the formula compiles, and computes them
// at run time.
TEST_P(function, constants_that_do_not_fold) {
  check(
      [](auto v) {
        return std::tuple{v + (-0.25 / imag(v)), v + imag(v) / imag(v), v + (imag(v) + 1e308) * 10,
                          where(imag(v) / imag(v), v, 1)};
      },
      {{"-0.25 / 0", {-inf}}, {"0 / 0", {nan}}, {"overflow", {inf}}, {"NaN is true", {2}}},
      std::vector<double>{2});
}

// A known condition selects one side, converted to complex if the other side is complex.
TEST_P(function, where_of_a_known_condition) {
  check<c128>(
      [](auto x, auto z) {
        return std::tuple{where(true, x, z), where(false, x, z), sqrt(where(true, x, z))};
      },
      {{"yes", {{-4, 0}, {9, 0}}}, {"no", {{1, 2}, {3, 4}}}, {"sqrt", {{0, 2}, {3, 0}}}},
      std::vector<double>{-4, 9}, std::vector<c128>{{1, 2}, {3, 4}});
}

// Two scalars and an array of integers give the array's dtype, whichever is clipped.
TEST_P(function, clip_of_a_scalar) {
  const auto clipped = [](auto x) {
    return std::tuple{clip(dsl::constant(5), dsl::constant(3ll), x)};
  };
  using clipped_symbol =
      std::tuple_element_t<0, decltype(clipped(dsl::symbol<dsl::dtype::uint64>{}))>;
  static_assert(clipped_symbol::type.type == dsl::dtype::uint64);
  check(clipped, {{"clip", {5, 4, 3}}}, std::vector<std::uint64_t>{9, 4, 3});
}

TEST_P(function, beyond_the_vector_functions) {
  const std::vector<double> x{709.5, 710.2, -710.2, 1e160, -1e300, 1.7e308, inf, -inf, -0.0, nan};
  check([](auto v) { return std::tuple{sinh(v), cosh(v), asinh(v), acosh(v), log1p(v)}; },
        {STD(sinh, x), STD(cosh, x), STD(asinh, x), STD(acosh, x), STD(log1p, x)}, x);
}

TEST_P(function, trigonometric_and_hyperbolic) {
  const std::vector<double> x{0.5, -0.25, 2.5, 1, 0, -0.0, inf, nan};
  check(
      [](auto v) {
        return std::tuple{sin(v),  cos(v),  tan(v),  asin(v),  acos(v),  atan(v),
                          sinh(v), cosh(v), tanh(v), asinh(v), acosh(v), atanh(v)};
      },
      {STD(sin, x), STD(cos, x), STD(tan, x), STD(asin, x), STD(acos, x), STD(atan, x),
       STD(sinh, x), STD(cosh, x), STD(tanh, x), STD(asinh, x), STD(acosh, x), STD(atanh, x)},
      x);
  check([](auto v) { return std::tuple{sinpi(v), cospi(v), sinc(v), degrees(v), radians(v)}; },
        {{"sinpi", {1, -std::sqrt(0.5), 1, 0, 0, -0.0, nan, nan}},
         {"cospi", {0, std::sqrt(0.5), 0, -1, 1, 1, nan, nan}},
         {"sinc", {2 / M_PI, std::sqrt(0.5) / (M_PI / 4), 1 / (2.5 * M_PI), 0, 1, 1, nan, nan}},
         {"degrees", {90 / M_PI, -45 / M_PI, 450 / M_PI, 180 / M_PI, 0, -0.0, inf, nan}},
         {"radians", {M_PI / 360, -M_PI / 720, M_PI / 72, M_PI / 180, 0, -0.0, inf, nan}}},
        x);
  check([](auto y, auto v) { return std::tuple{atan2(y, v)}; },
        {{"atan2", {M_PI / 4, M_PI, -M_PI, 3 * M_PI / 4, -0.0, nan}}},
        std::vector<double>{1, 0, -0.0, inf, -0.0, nan},
        std::vector<double>{1, -2, -0.0, -inf, inf, 1});
}

TEST_P(function, special_functions) {
  const std::vector<double> x{0.5, -0.25, 2.5, 5, 0, inf, nan};
  check([](auto v) { return std::tuple{erf(v), erfc(v), tgamma(v), lgamma(v), i0(v)}; },
        {STD(erf, x),
         STD(erfc, x),
         {"tgamma", {std::sqrt(M_PI), std::tgamma(-0.25), std::tgamma(2.5), 24, inf, inf, nan}},
         STD(lgamma, x),
         {"i0",
          {1.0634833707413236, 1.0156861412236078, 3.2898391440501231, 27.239871823604442, 1, inf,
           nan}}},
        x);
  check([](auto v) { return std::tuple{digamma(v), i1(v)}; },
        {{"digamma",
          {-1.9635100260214235, 2.9141391202135278, 0.70315664064524319, 1.5061176684318005, -inf,
           inf, nan}},
         {"i1",
          {0.25789430539089632, -0.12597910894546793, 2.5167162452886984, 24.335642142450527, 0,
           inf, nan}}},
        x);
  // Poles, next to a pole, the root, large arguments.
  check([](auto v, auto w) { return std::tuple{digamma(v), i1(w)}; },
        {{"digamma",
          {inf, nan, nan, 2147483648.9227843, -9.2412655217294275e-17, 690.77552789821371}},
         {"i1",
          {-0.0, -inf, 2.9030785901035566e+20, -5657865129.8787014, 1.0683693903381625e+42, inf}}},
        std::vector<double>{-0.0, -3, -inf, -2 - 0x1p-31, 0x1.762d86356be3fp+0, 1e300},
        std::vector<double>{-0.0, -inf, 50, -25, 100, 800});
  check([](auto v, auto w) { return std::tuple{erfinv(v), i0(w)}; },
        {{"erfinv",
          {0.47693627620446987, -0.22531205501217808, 1.8213863677184495, 5.686128441310391, 0, inf,
           nan}},
         {"i0",
          {2.9325537838493363e+20, 5774560606.4663103, 3.9700623517729643e+41,
           1.0737517071310738e+42, 1, inf, inf}}},
        std::vector<double>{0.5, -0.25, 0.99, 1 - 0x1p-50, 0, 1, 9},
        std::vector<double>{50, -25, 99, 100, 0, inf, 800});
}

TEST_P(function, division) {
  const std::vector<double> a{7, -7, 7, -7, 4, -0.0, 1, 0, inf, -1, 0.7},
      b{2, 2, -2, -2, -2, 1, 0, 0, 2, inf, 0.1};
  check([](auto x, auto y) { return std::tuple{floor_divide(x, y), remainder(x, y), fmod(x, y)}; },
        {{"floor_divide", {3, -4, -4, 3, -2, -0.0, inf, nan, nan, -1, 6}},
         {"remainder", {1, 1, -1, -1, -0.0, 0, nan, nan, nan, inf, 0.09999999999999992}},
         {"fmod", {1, -1, 1, -1, 0, -0.0, nan, nan, nan, -1, 0.09999999999999992}}},
        a, b);
  const std::vector<std::int8_t> i{7, -7, 7, -7, -128, 5}, j{2, 2, -2, -2, -1, 0};
  check(
      [](auto x, auto y) {
        return std::tuple{x / y,           x % y,      floor_divide(x, y),
                          remainder(x, y), fmod(x, y), reciprocal(y)};
      },
      {{"/", {3, -3, -3, 3, -128, 0}},
       {"%", {1, -1, 1, -1, 0, 0}},
       {"floor_divide", {3, -4, -4, 3, -128, 0}},
       {"remainder", {1, 1, -1, -1, 0, 0}},
       {"fmod", {1, -1, 1, -1, 0, 0}},
       {"reciprocal", {0, 0, 0, 0, -1, 0}}},
      i, j);
}

TEST_P(function, rounding_and_parts) {
  const std::vector<double> x{2.5,  -2.5, 0.5, 0.49999999999999994, -0.3, 0x1p52 + 1,
                              -0.0, -inf, nan};
  check([](auto v) { return std::tuple{floor(v), ceil(v), trunc(v), rint(v), round(v)}; },
        {STD(floor, x), STD(ceil, x), STD(trunc, x), STD(rint, x), STD(round, x)}, x);
  check(
      [](auto v) {
        const auto [fraction, whole] = modf(v);
        const auto [mantissa, exponent] = frexp(v);
        return std::tuple{fraction, whole, mantissa, exponent};
      },
      {{"fraction", {0.75, -0.5, 0, -0.0, 0x1p-1074, nan}},
       {"whole", {3, -2, inf, -0.0, 0, nan}},
       {"mantissa", {0.9375, -0.625, inf, -0.0, 0.5, nan}},
       {"exponent", {2, 2, 0, 0, -1073, 0}}},
      std::vector<double>{3.75, -2.5, inf, -0.0, 0x1p-1074, nan});
  // 1.5 * 2^-1074 lies halfway between two numbers and goes to the even one. As int8, exponents
  // wrap.
  check([](auto v, auto n) { return std::tuple{ldexp(v, n), ldexp(v, dsl::cast<std::int8_t>(n))}; },
        {{"ldexp", {12, inf, 0, 0x1p-1073, -0.0, inf}},
         {"ldexp int8", {12, 1.5 * 0x1p-48, 0x1p974, 1.5 * 0x1p-50, -0.0, inf}}},
        std::vector<double>{1.5, 1.5, 0x1p1023, 1.5, -0.0, inf},
        std::vector<std::int64_t>{3, 2000, -2097 - 8192, -1074, 3, -5});
  dsl::array<double> sine, cosine;
  const auto a = dsl::to_device(std::vector<double>{1, 2});
  dsl::tie(sine, cosine) = sincos(a);
  EXPECT_TRUE(close(sine.copy_to_host()[1], std::sin(2.0)) &&
              close(cosine.copy_to_host()[1], std::cos(2.0)));
  {
    const auto x = dsl::to_device(std::vector<float>{6, 0x1p-149f});
#include <docs/functions/several-values.inc>
    EXPECT_EQ(mantissa.copy_to_host(), (std::vector<float>{0.75f, 0.5f}));
    EXPECT_EQ(exponent.copy_to_host(), (std::vector<std::int32_t>{3, -148}));
  }
}

TEST_P(function, signs_order_and_special_values) {
  const std::vector<double> x{-3, 0, 2, nan, inf, -0.0}, y{2, 0.5, nan, 1, -inf, 0.5};
  check(
      [](auto a, auto b) {
        return std::tuple{min(a, b),      max(a, b),       fmin(a, b),     fmax(a, b),
                          copysign(a, b), heaviside(a, b), nextafter(a, b)};
      },
      {{"min", {-3, 0, nan, nan, -inf, -0.0}},
       {"max", {2, 0.5, nan, nan, inf, 0.5}},
       {"fmin", {-3, 0, 2, 1, -inf, -0.0}},
       {"fmax", {2, 0.5, 2, 1, inf, 0.5}},
       {"copysign", {3, 0, 2, nan, -inf, 0}},
       {"heaviside", {0, 0.5, 1, nan, 1, 0.5}},
       {"nextafter",
        {std::nextafter(-3.0, 2.0), 0x1p-1074, nan, nan, 0x1.fffffffffffffp1023, 0x1p-1074}}},
      x, y);
  check(
      [](auto a) {
        return std::tuple{abs(a),   fabs(a),     sign(a),       signbit(a),     isnan(a),
                          isinf(a), isfinite(a), nan_to_num(a), clip(a, -1, 1), abs2(a)};
      },
      {{"abs", {3, 0, 2, nan, inf, 0}},
       {"fabs", {3, 0, 2, nan, inf, 0}},
       {"sign", {-1, 0, 1, nan, 1, 0}},
       {"signbit", {1, 0, 0, std::signbit(nan) ? 1.0 : 0.0, 0, 1}},
       {"isnan", {0, 0, 0, 1, 0, 0}},
       {"isinf", {0, 0, 0, 0, 1, 0}},
       {"isfinite", {1, 1, 1, 0, 0, 1}},
       {"nan_to_num", {-3, 0, 2, 0, 0x1.fffffffffffffp1023, -0.0}},
       {"clip", {-1, 0, 1, nan, 1, -0.0}},
       {"abs2", {9, 0, 4, nan, inf, 0}}},
      x);
  check([](auto a,
           auto b) { return std::tuple{fma(a, a, b), where(a < b, a, b), logical_xor(a, b)}; },
        {{"fma", {11, 0.5, nan, nan, nan, 0.5}},
         {"where", {-3, 0, nan, 1, -inf, -0.0}},
         {"logical_xor", {0, 1, 0, 0, 0, 1}}},
        x, y);
}

TEST_P(function, the_16_bit_dtypes_have_their_own_neighbours_and_limits) {
  check(
      [](auto h) { return std::tuple{nextafter(h, 2), nan_to_num(h)}; },
      {{"nextafter", {1 + 0x1p-10, 0x1p-24, 65504, -65504}}, {"nan_to_num", {1, 0, 65504, -65504}}},
      std::vector<dsl::half>{1.0f, 0.0f, INFINITY, -INFINITY});
  check([](auto b) { return std::tuple{nextafter(b, 0)}; }, {{"nextafter", {1 - 0x1p-8}}},
        std::vector<dsl::bfloat16>{1.0f});
}

TEST_P(function, integers) {
  const std::vector<std::int8_t> a{64, -64, -64, 1, -128, 12}, n{1, 8, -1, 7, 3, 0};
  check(
      [](auto x, auto k) {
        return std::tuple{x << k, x >> k, x & k, x | k, x ^ k, ~x, gcd(x, k), lcm(x, k)};
      },
      {{"<<", {-128, 0, 0, -128, 0, 12}},
       {">>", {32, -1, -1, 0, -16, 12}},
       {"&", {0, 0, -64, 1, 0, 0}},
       {"|", {65, -56, -1, 7, -125, 12}},
       {"^", {65, -56, 63, 6, -125, 12}},
       {"~", {-65, 63, 63, -2, 127, -13}},
       {"gcd", {1, 8, 1, 1, 1, 12}},
       {"lcm", {64, 64, 64, 7, -128, 0}}},
      a, n);
  check([](auto x,
           auto k) { return std::tuple{pow(x, k), square(x), sign(x), abs(x), floor(x), x >> 7}; },
        {{"pow", {64, 0, 0, 1, 0, 1}},
         {"square", {0, 0, 0, 1, 0, -112}},
         {"sign", {1, -1, -1, 1, -1, 1}},
         {"abs", {64, 64, 64, 1, -128, 12}},
         {"floor", {64, -64, -64, 1, -128, 12}},
         {">> 7", {0, -1, -1, 0, -1, 0}}},
        a, n);
  check(
      [](auto x, auto y) {
        const auto p = x != 0, q = y != 0;
        return std::tuple{p & q, p | q, p ^ q, ~p, p << q, pow(p, q)};
      },
      {{"&", {0, 0, 0, 1}},
       {"|", {0, 1, 1, 1}},
       {"^", {0, 1, 1, 0}},
       {"~", {1, 1, 0, 0}},
       {"<<", {0, 0, 1, 2}},
       {"pow", {1, 0, 1, 1}}},
      std::vector<int>{0, 0, 1, 1}, std::vector<int>{0, 1, 0, 1});
  // float64, the common dtype of int64 and uint64, could not distinguish these.
  check([](auto i,
           auto u) { return std::tuple{i == u, i != u, i<u, i <= u, i> u, i >= u, u < i, u >= i}; },
        {{"==", {0, 1, 0}},
         {"!=", {1, 0, 1}},
         {"<", {1, 0, 1}},
         {"<=", {1, 1, 1}},
         {">", {0, 0, 0}},
         {">=", {0, 1, 0}},
         {"< from the right", {0, 0, 0}},
         {">= from the right", {1, 1, 1}}},
        std::vector<std::int64_t>{INT64_MAX, INT64_MAX, -1},
        std::vector<std::uint64_t>{std::uint64_t{1} << 63, INT64_MAX, UINT64_MAX});
  auto u = dsl::to_device(std::vector<std::uint32_t>{0xf0, 3});
#if defined(COMPILED_FORMULAS)
  u <<= 24;
  u |= 5;
  u ^= 1;
  u >>= 2;
  u &= 0xff000001;
  EXPECT_EQ(u.copy_to_host(), (std::vector<std::uint32_t>{0x3c000001, 1}));
#else
  u <<= 24;
  EXPECT_EQ(u.copy_to_host(), (std::vector<std::uint32_t>{0xf0000000, 0x3000000}));
  static_assert(requires {
    u |= 5;
    u ^= 1;
    u >>= 2;
    u &= 1;
  });
#endif
}

TEST_P(function, complex_numbers) {
  const std::vector<c128> z{{3, 4}, {-1, 0.5}, {0.25, -2}, {1e200, -1e200}, {0, 0}};
  const auto each = [&z](auto f) {
    std::vector<c128> w;
    for (const c128 v : z) w.push_back(f(v));
    return w;
  };
#define STD_COMPLEX(name) {#name, each([](c128 v) { return std::name(v); })}
  check<c128>([](auto v) { return std::tuple{sqrt(v), log(v), conj(v), sign(v)}; },
              {STD_COMPLEX(sqrt),
               {"log", {std::log(z[0]), std::log(z[1]), std::log(z[2]), std::log(z[3]), {-inf, 0}}},
               STD_COMPLEX(conj),
               {"sign",
                {{0.6, 0.8},
                 z[1] / std::abs(z[1]),
                 z[2] / std::abs(z[2]),
                 {std::sqrt(0.5), -std::sqrt(0.5)},
                 {0, 0}}}},
              z);
  const std::vector<c128> s{{0.5, 1}, {-1, 0.5}, {0.25, -2}, {-3, 4}, {0.125, 0.125}};
#define OF(name)                                                                                   \
  {                                                                                                \
    #name, { std::name(s[0]), std::name(s[1]), std::name(s[2]), std::name(s[3]), std::name(s[4]) } \
  }
  check<c128>(
      [](auto v) { return std::tuple{exp(v), sin(v), cos(v), tan(v), sinh(v), cosh(v), tanh(v)}; },
      {OF(exp), OF(sin), OF(cos), OF(tan), OF(sinh), OF(cosh), OF(tanh)}, s);
  check<c128>(
      [](auto v) {
        return std::tuple{square(v),   reciprocal(v), pow(v, 3),  pow(v, -2),
                          pow(v, 0.5), pow(v, v),     pow(2.0, v)};
      },
      {{"square", {s[0] * s[0], s[1] * s[1], s[2] * s[2], s[3] * s[3], s[4] * s[4]}},
       {"reciprocal", {1.0 / s[0], 1.0 / s[1], 1.0 / s[2], 1.0 / s[3], 1.0 / s[4]}},
       {"cube",
        {s[0] * s[0] * s[0], s[1] * s[1] * s[1], s[2] * s[2] * s[2], s[3] * s[3] * s[3],
         s[4] * s[4] * s[4]}},
       {"pow -2",
        {1.0 / (s[0] * s[0]), 1.0 / (s[1] * s[1]), 1.0 / (s[2] * s[2]), 1.0 / (s[3] * s[3]),
         1.0 / (s[4] * s[4])}},
       OF(sqrt),
       {"pow z",
        {std::pow(s[0], s[0]), std::pow(s[1], s[1]), std::pow(s[2], s[2]), std::pow(s[3], s[3]),
         std::pow(s[4], s[4])}},
       {"pow of 2",
        {std::pow(2.0, s[0]), std::pow(2.0, s[1]), std::pow(2.0, s[2]), std::pow(2.0, s[3]),
         std::pow(2.0, s[4])}}},
      s);
  check<double>(
      [](auto v) {
        return std::tuple{abs(v),  abs2(v),  arg(v),   real(v),
                          imag(v), isnan(v), isinf(v), isfinite(v)};
      },
      {{"abs", {5, inf, inf, 2}},
       {"abs2", {25, nan, inf, 4}},
       {"arg", {std::atan2(4, 3), nan, M_PI / 2, M_PI}},
       {"real", {3, inf, 1, -2}},
       {"imag", {4, nan, inf, 0}},
       {"isnan", {0, 1, 0, 0}},
       {"isinf", {0, 1, 1, 0}},
       {"isfinite", {1, 0, 0, 1}}},
      std::vector<c128>{{3, 4}, {inf, nan}, {1, inf}, {-2, 0}});
  check<c128>([](auto r, auto t) { return std::tuple{polar(r, t)}; },
              {{"polar", {{std::cos(1.0) * 2, std::sin(1.0) * 2}, {3, 0}}}},
              std::vector<double>{2, 3}, std::vector<double>{1, 0});
}

// NumPy's values where an intermediate step of the plain formula overflows, or an operand is
// infinite.
TEST_P(function, complex_numbers_at_the_ends) {
  const std::vector<c128> z{{inf, 0}, {-inf, 0}, {1, inf}, {nan, 0}, {710, 1}, {1, 800}};
  check<c128>(
      [](auto v) {
        return std::tuple{exp(v), sqrt(v), log(v), tanh(v), sinh(v), cosh(v), sin(v), tan(v)};
      },
      {{"exp",
        {{inf, 0},
         {0, 0},
         {nan, nan},
         {nan, 0},
         {1.2070325234545281e+308, inf},
         {-1.21813687601165, 2.4300614498878885}}},
       {"sqrt",
        {{inf, 0},
         {0, inf},
         {inf, inf},
         {nan, nan},
         {26.64583179622099, 0.018764660973012368},
         {20.01250390380669, 19.987503908689497}}},
       {"log",
        {{inf, 0},
         {inf, M_PI},
         {inf, M_PI / 2},
         {nan, nan},
         {6.56526596190107, 0.0014084497728962322},
         {6.684612508917317, 1.5695463274459376}}},
       {"tanh",
        {{1, 0}, {-1, 0}, {nan, nan}, {nan, 0}, {1, 0}, {1.146350421670498, -0.25324503106270563}}},
       {"sinh",
        {{inf, 0},
         {-inf, 0},
         {nan, nan},
         {nan, 0},
         {6.035162617272641e+307, 9.399208879688905e+307},
         {-0.5266399884378253, 1.3794672522454199}}},
       {"cosh",
        {{inf, 0},
         {inf, -0.0},
         {nan, nan},
         {nan, 0},
         {6.035162617272641e+307, 9.399208879688905e+307},
         {-0.6914968875738245, 1.0505941976424686}}},
       {"sin",
        {{nan, 0},
         {nan, 0},
         {inf, inf},
         {nan, 0},
         {9.303033579384142e-05, 1.175201191508033},
         {inf, inf}}},
       {"tan",
        {{nan, 0},
         {nan, 0},
         {0, 1},
         {nan, 0},
         {2.5319709892194866e-05, 0.7615941571183327},
         {0, 1}}}},
      z);
  // Close to |z| = 1 the logarithm's real part has far fewer digits than |z|.
  check<double>([](auto v) { return std::tuple{real(log(v)), abs(log(v / 1e300))}; },
                {{"log", {1e-20 / 2, 0x1p-52}}, {"far", {std::log(1e300), std::log(1e300)}}},
                std::vector<c128>{{1, 1e-10}, {1 + 2.220446049250313e-16, 0}});
  check<c128>([](auto v, auto w) { return std::tuple{pow(v, w)}; },
              {{"pow", {{1, 0}, {0, 0}, {nan, nan}, {1, 0}, {nan, nan}}}},
              std::vector<c128>{{0, 0}, {0, 0}, {0, 0}, {inf, nan}, {0, 0}},
              std::vector<c128>{{0, 0}, {0.5, 0}, {-0.5, 0}, {0, 0}, {0, 1}});
  check<c128>(
      [](auto v) { return std::tuple{sign(v), nan_to_num(v)}; },
      {{"sign", {{1, 0}, {nan, nan}, {nan, nan}}},
       {"nan_to_num",
        {{0x1.fffffffffffffp1023, 1}, {0, 0}, {-0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023}}}},
      std::vector<c128>{{inf, 1}, {nan, 0}, {-inf, inf}});
}

struct fast_kernel;

template <class F> struct traced_float {
  static constexpr dsl::detail::graph run() {
    dsl::detail::graph g;
    const dsl::symbol<dsl::dtype::float32> x{&g, g.add(dsl::op::load, dsl::dtype::float32, {0})};
    g.outputs.push_back(F{}(x).id);
    return g;
  }
};
template <class F> constexpr int count(F, dsl::op code) {
  constexpr auto p = dsl::detail::program_of<traced_float<F>>::view();
  int n = 0;
  for (int i = 0; i < p.nodes; ++i) n += dsl::detail::head{p.heads[i]}.code() == code ? 1 : 0;
  return n;
}
constexpr auto part_fast = [](auto x) { return exp(x) + dsl::fast_math(exp(x) / 3 + sinh(x)); };
static_assert(count(part_fast, dsl::op::exp) == 1 &&
              count(part_fast, dsl::op::fast_exp) == 1);  // subexpressions outside stay
static_assert(count(part_fast, dsl::op::fast_divide) == 1 &&
              count(part_fast, dsl::op::divide) == 0 && count(part_fast, dsl::op::sinh) == 1);
constexpr auto in_double = [](auto x) { return dsl::fast_math(exp(dsl::cast<double>(x))); };
static_assert(count(in_double, dsl::op::exp) == 1 && count(in_double, dsl::op::fast_exp) == 0);

TEST_P(function, fast_math_is_close) {
  const auto host = random_floats(1000, 0.1f, 3);
  const auto x = dsl::to_device(host);
  const auto f = dsl::vectorize<fast_kernel>([](auto v) {
    return std::tuple{
        exp(v) / v, log(v) + log2(v) + log10(v), sin(v) + cos(v),    tan(v / 3),
        pow(v, v),  sqrt(v) + reciprocal(v),     exp2(v) + exp10(v), dsl::sum(exp(v))};
  });
  dsl::array<float> fast[7];
  dsl::scalar<float> fast_total;
  const auto targets =
      dsl::tie(fast[0], fast[1], fast[2], fast[3], fast[4], fast[5], fast[6], fast_total);
  targets = dsl::fast_math(f(x));
  double total = 0;
  std::vector<std::vector<float>> got;
  for (const auto& each : fast) got.push_back(each.copy_to_host());
  for (std::size_t i = 0; i < host.size(); ++i) {
    const double v = host[i];
    const double want[] = {std::exp(v) / v,
                           std::log(v) + std::log2(v) + std::log10(v),
                           std::sin(v) + std::cos(v),
                           std::tan(v / 3),
                           std::pow(v, v),
                           std::sqrt(v) + 1 / v,
                           std::exp2(v) + std::pow(10, v)};
    for (std::size_t k = 0; k < 7; ++k)
      ASSERT_NEAR(got[k][i], want[k], 2e-5 * (1 + std::abs(want[k]))) << k << ' ' << v;
    total += std::exp(v);
  }
  EXPECT_NEAR(fast_total.value(), total, 1e-4 * total);
  dsl::array<float> alone = dsl::fast_math(2 * exp(x));
  EXPECT_NEAR(alone.copy_to_host()[7], 2 * std::exp(host[7]), 1e-4);
}

TEST(functions, are_spelled_with_the_precedence_of_operators) {
  using namespace dsl::detail;
  const auto spelled = [](auto formula) {
    graph g;
    sequence<int> roots, reductions;
    roots.push_back(
        formula(dsl::symbol<dsl::dtype::int32>{&g, g.add(dsl::op::load, dsl::dtype::int32, {0})},
                dsl::symbol<dsl::dtype::int32>{&g, g.add(dsl::op::load, dsl::dtype::int32, {1})})
            .id);
    frozen_programs f;
    freeze(g, roots, reductions, f);
    const std::uint64_t target = target_word::make(false, 0).word;
    pass_view p;
    p.elements = {&f.heads[0], &f.payloads[0], f.heads.size(), &f.outputs[0], 1};
    p.targets = &target;
    p.target_count = 1;
    return spell_pass(p);
  };
  EXPECT_EQ(spelled([](auto a, auto b) { return (a & 3) + (b << 2) * ~a; }),
            "(a & 3) + (b << 2) * ~a");
  EXPECT_EQ(spelled([](auto a, auto b) { return (a ^ (b & 1)) | (a >> (b + 1)); }),
            "a ^ b & 1 | a >> b + 1");
  EXPECT_EQ(spelled([](auto a, auto b) { return ((a | b) == 1) & (a < b); }),
            "(a | b) == 1 & a < b");
  EXPECT_EQ(spelled([](auto a, auto b) { return floor_divide(a, b << 1) % 7; }),
            "floor_divide(a, b << 1) % 7");
  EXPECT_EQ(spelled([](auto a, auto b) { return a - (b - a) + b - a * (b * 2); }),
            "a - (b - a) + b - a * (b * 2)");
}
// A shift gives no output, but its plan prints.
TEST_P(function, a_plan_of_a_shift_prints) {
  std::ostringstream text;
  dsl::array<int> out(2);
  const dsl::array<int> a(2);
  text << dsl::plan_of(out, a << 2);
  EXPECT_NE(text.str().find("2 elements"), std::string::npos) << text.str();
}

// The least integer's magnitude overflows its type: abs returns the number itself, which is
// negative.
template <class T>
void least() {
  const double smallest = static_cast<double>(std::numeric_limits<T>::min());
  check([](auto x) { return std::tuple{abs(x), abs(x) < 0}; },
        {{"abs", {smallest, 3, 0, 5}}, {"abs < 0", {1, 0, 0, 0}}},
        std::vector<T>{std::numeric_limits<T>::min(), -3, 0, 5});
}
TEST_P(function, magnitude_of_the_least_integer) {
  least<std::int8_t>();
  least<std::int16_t>();
  least<std::int32_t>();
  least<std::int64_t>();
}

}  // namespace

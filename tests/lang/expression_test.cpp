// Elementwise expressions: every element against a reference in higher precision.
#include "../evaluated.hpp"
#include "../on_device.hpp"

#include <cmath>
#include <complex>

namespace {

using namespace std::complex_literals;
using c32 = std::complex<float>;

struct expression : on_device {};
ON_EVERY_DEVICE(expression);

TEST_P(expression, every_size_and_alignment) {
  for (const std::int64_t n : sizes())
    for (const int shift : {0, 1, 3}) {
      const auto ha = random_floats(n + 4), hb = random_floats(n + 4, -2, 2, 2);
      const auto a = dsl::to_device(ha), b = dsl::to_device(hb);
      dsl::array<float> out = dsl::full<float>(-7.0f, n + 4);
      // Output and one operand misaligned, the other aligned; memory around the output is
      // unchanged.
      from_element(out, shift, n) = exp(from_element(a, shift, n)) + 2 * from_element(b, 0, n);
      const auto got = out.copy_to_host();
      for (std::int64_t i = 0; i < n + 4; ++i) {
        const auto at = static_cast<std::size_t>(i), from = static_cast<std::size_t>(i - shift);
        if (i < shift || i >= n + shift) ASSERT_EQ(got[at], -7.0f) << n << ' ' << shift << ' ' << i;
        else
          ASSERT_NEAR(got[at], std::exp(double(ha[at])) + 2 * double(hb[from]),
                      2e-6 * (10 + std::abs(got[at])))
              << n << ' ' << i;
      }
    }
}

TEST_P(expression, strided_operands) {
  const std::int64_t n = 1000;
  const auto host = random_floats(3 * n);
  const auto a = dsl::to_device(host);
  dsl::array<float> out = from_element(a, 1, n, 3) - from_element(a, 0, n);
  dsl::array<float> spread = dsl::full<float>(5.0f, 2 * n);
  from_element(spread, 1, n, 2) = from_element(a, n - 1, n, -1);
  const auto got = out.copy_to_host(), gaps = spread.copy_to_host();
  for (std::size_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(got[i], host[1 + 3 * i] - host[i]);
    ASSERT_EQ(gaps[2 * i], 5.0f);
    ASSERT_EQ(gaps[2 * i + 1], host[999 - i]);
  }
}

TEST_P(expression, broadcasts) {
  const std::int64_t rows = 37, columns = 53;
  const auto hm = random_floats(rows * columns), hr = random_floats(columns, -2, 2, 2),
             hc = random_floats(rows, -2, 2, 3);
  const auto m = dsl::to_device(hm), r = dsl::to_device(hr), c = dsl::to_device(hc);
  dsl::scalar<float> s = 0.25f;
  dsl::array<float, 2> out = dsl::reshape(m, rows, columns) * r + dsl::reshape(c, rows, 1) - s;
  const auto got = out.copy_to_host();
  for (std::size_t i = 0; i < 37; ++i)
    for (std::size_t j = 0; j < 53; ++j)
      ASSERT_NEAR(got[i * 53 + j], double(hm[i * 53 + j]) * hr[j] + hc[i] - 0.25, 1e-6);
  dsl::array<float, 2> rows_of(4, columns);
  rows_of = r;  // broadcast to the target
  EXPECT_EQ(rows_of.copy_to_host()[3 * 53 + 7], hr[7]);
}

// `allowed`: error in units of the dtype's epsilon, relative to the largest intermediate value.
template <class T>
void arithmetic(double epsilon, double allowed) {
  std::vector<T> ha, hb;
  for (int i = 0; i < 1003; ++i) {
    ha.push_back(static_cast<T>(i % 11 + 1));
    hb.push_back(static_cast<T>(i % 5 + 1));
  }
  evaluated([](auto a, auto b) { return std::tuple{(a + b) * a - b / b + a / b}; }, ha, hb)
      .check([&](const auto& got) {
        for (std::size_t i = 0; i < ha.size(); ++i) {
          const double x = static_cast<double>(ha[i]), y = static_cast<double>(hb[i]), q = x / y,
                       product = (x + y) * x;
          const double quotient =
              dsl::kind_of(dsl::dtype_v<T>) == dsl::kind::integer ? std::trunc(q) : q;
          ASSERT_NEAR(static_cast<double>(got[i]), product - 1 + quotient,
                      allowed * epsilon * (product + quotient))
              << i;
        }
      });
}

TEST_P(expression, comparisons_and_logic) {
  const auto ha = random_floats(1003), hb = random_floats(1003, -2, 2, 2);
  const auto a = dsl::to_device(ha), b = dsl::to_device(hb);
  dsl::array<bool> less = a < b, both = (a > b && !(a >= b + b)) || b <= -1;
  const auto lt = less.copy_to_host(), bt = both.copy_to_host();
  for (std::size_t i = 0; i < ha.size(); ++i) {
    ASSERT_EQ(lt[i], ha[i] < hb[i]);
    ASSERT_EQ(bt[i], (ha[i] > hb[i] && !(ha[i] >= hb[i] + hb[i])) || hb[i] <= -1) << i;
  }
}

TEST_P(expression, integer_dtypes) {
  arithmetic<std::int16_t>(0, 0);
  arithmetic<std::int32_t>(0, 0);
  arithmetic<std::int64_t>(0, 0);
  arithmetic<std::uint64_t>(0, 0);
}
TEST_P(expression, real_dtypes) {
  // The 16-bit dtypes are rounded once, at the end: by half an epsilon at most.
  arithmetic<float>(0x1p-23, 1);
  arithmetic<double>(0x1p-52, 1);
  arithmetic<dsl::half>(0x1p-10, 0.5);
  arithmetic<dsl::bfloat16>(0x1p-7, 0.5);
}
TEST_P(expression, integers_wrap_and_divide_by_zero_quietly) {
  const std::vector<std::int8_t> a{127, -128, -128, 5}, b{1, -1, 1, 0};
  evaluated([](auto x, auto y) { return std::tuple{x + y, x / y, x % y}; }, a, b)
      .check([](const auto& sum, const auto& quotient, const auto& rest) {
        EXPECT_EQ(sum, (std::vector<std::int8_t>{-128, 127, -127, 5}));
        EXPECT_EQ(quotient, (std::vector<std::int8_t>{127, -128, -128, 0}));
        EXPECT_EQ(rest, (std::vector<std::int8_t>{0, 0, 0, 0}));
      });
}

// Division by a C++ number, by a dsl::scalar and by a formula of one: all elements share the
// divisor.
template <class T>
void divide_by_what_all_share() {
  __extension__ using wide = __int128;
  std::vector<T> values;
  for (int bit = 0; bit < static_cast<int>(8 * sizeof(T)); ++bit)
    for (const std::uint64_t next : {~std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{1}})
      for (const std::uint64_t sign : {std::uint64_t{1}, ~std::uint64_t{0}})
        values.push_back(static_cast<T>(sign * ((std::uint64_t{1} << bit) + next)));
  const auto x = dsl::to_device(values);
  const auto of = dsl::vectorize([](auto a, auto d) {
    return std::tuple{a / d, a % d, floor_divide(a, d), remainder(a, d), fmod(a, d * 1)};
  });
  dsl::array<T> quotient, rest, down, remainder, fmod;
  const auto expect = [&](T d) {
    const std::vector<T> got[] = {quotient.copy_to_host(), rest.copy_to_host(), down.copy_to_host(),
                                  remainder.copy_to_host(), fmod.copy_to_host()};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const wide a = values[i], b = d, q = b == 0 ? 0 : a / b, r = b == 0 ? 0 : a % b,
                 less = r != 0 && (r < 0) != (b < 0) ? 1 : 0;
      const wide want[] = {q, r, q - less, r + less * b, r};
      for (int k = 0; k < 5; ++k)
        ASSERT_EQ(got[k][i], static_cast<T>(want[k])) << k << ": " << +values[i] << " by " << +d;
    }
  };
  for (const T d : values) {
    dsl::tie(quotient, rest, down, remainder, fmod) = of(x, d);
    expect(d);
  }
  for (const T d : {T(0), T(7), static_cast<T>(-1)}) {
    dsl::tie(quotient, rest, down, remainder, fmod) = of(x, dsl::scalar<T>(d));
    expect(d);
  }
}
TEST_P(expression, integers_by_what_all_share) {
  divide_by_what_all_share<std::int8_t>();
  divide_by_what_all_share<std::uint32_t>();
  divide_by_what_all_share<std::int64_t>();
}

TEST_P(expression, mixed_dtypes_promote) {
  const std::vector<int> hi{1, 2, 3};
  const std::vector<float> hf{0.5f, 1.5f, 2.5f};
  const std::vector<std::uint8_t> bytes{200, 100, 50};
  const auto i = dsl::to_device(hi);
  const auto f = dsl::to_device(hf);
  static_assert(dsl::dtype_of_expression<decltype(i * 2.5)> == dsl::dtype::float64);
  static_assert(dsl::dtype_of_expression<decltype(f * 2.5)> == dsl::dtype::float32);
  static_assert(dsl::dtype_of_expression<decltype(f * 1i)> == dsl::dtype::complex64);
  static_assert(dsl::dtype_of_expression<decltype(i + f)> == dsl::dtype::float64);
  dsl::array<double> sum = i + f;
  EXPECT_EQ(sum.copy_to_host(), (std::vector<double>{1.5, 3.5, 5.5}));
  evaluated([](auto a, auto b,
               auto byte) { return std::tuple{a + b, byte + 100, dsl::cast<float>(a) / 2}; },
            hi, hf, bytes)
      .check([](const std::vector<double>& x, const std::vector<std::uint8_t>& y,
                const std::vector<float>& z) {
        EXPECT_EQ(x, (std::vector<double>{1.5, 3.5, 5.5}));
        EXPECT_EQ(y, (std::vector<std::uint8_t>{44, 200, 150}));
        EXPECT_EQ(z, (std::vector<float>{0.5f, 1, 1.5f}));
      });
}

TEST_P(expression, complex_numbers) {
  const std::int64_t n = 1001;
  const auto re = random_floats(2 * n), im = random_floats(2 * n, -2, 2, 7);
  std::vector<c32> hz, hw;
  for (std::size_t k = 0; k < 1001; ++k) {
    hz.emplace_back(re[k], im[k]);
    hw.emplace_back(re[k + 1001], im[k + 1001]);
  }
  const auto z = dsl::to_device(hz), w = dsl::to_device(hw);
  dsl::array<c32> out = z * conj(w) + 2 * z / w - 1i * real(z);
  dsl::array<float> modulus = abs(z) + imag(w);
  const auto got = out.copy_to_host();
  const auto length = modulus.copy_to_host();
  for (std::size_t k = 0; k < hz.size(); ++k) {
    const std::complex<double> a = hz[k], b = hw[k],
                               want = a * std::conj(b) + 2.0 * a / b - 1i * a.real();
    ASSERT_LT(std::abs(std::complex<double>(got[k]) - want), 3e-6 * (1 + std::abs(want)));
    ASSERT_NEAR(length[k], std::abs(a) + b.imag(), 1e-6);
  }
}

TEST_P(expression, functions_and_special_values) {
  const float inf = INFINITY, nan = NAN;
  const std::vector<float> hx{0, -0.0f, 1, -1, inf, -inf, nan, 1e-40f, 3e38f, 0.5f},
      hy{1, 0, -0.0f, 2, nan, 3, 1, -1, 1e-3f, 2};
  const auto check = [&](auto formula, auto... reference) {
    const std::tuple references{reference...};
    const auto check_one = [&](const auto& got, auto want_of) {
      for (std::size_t i = 0; i < hx.size(); ++i) {
        const double want = want_of(double(hx[i]), double(hy[i]));
        if (std::isnan(want)) EXPECT_TRUE(std::isnan(got[i])) << i;
        else if (static_cast<float>(want) == 0 || std::isinf(static_cast<float>(want)))
          EXPECT_EQ(got[i], static_cast<float>(want)) << i;
        else EXPECT_NEAR(got[i] / want, 1, 1e-6) << i << ' ' << got[i] << ' ' << want;
      }
    };
    evaluated(formula, hx, hy).check([&](const auto&... got) {
      std::apply([&](auto... want_of) { (check_one(got, want_of), ...); }, references);
    });
  };
  check([](auto x, auto y) { return std::tuple{exp(x), log(x), sqrt(x), sin(y), cos(y), tan(y)}; },
        [](double a, double) { return std::exp(a); }, [](double a, double) { return std::log(a); },
        [](double a, double) { return std::sqrt(a); }, [](double, double b) { return std::sin(b); },
        [](double, double b) { return std::cos(b); }, [](double, double b) { return std::tan(b); });
  check(
      [](auto x, auto y) {
        return std::tuple{pow(x, y), atan2(x, y), abs(x),
                          min(x, y), max(x, y),   where(x > 0, x, -y)};
      },
      [](double a, double b) { return std::pow(a, b); },
      [](double a, double b) { return std::atan2(a, b); },
      [](double a, double) { return std::fabs(a); },
      [](double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b); },
      [](double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b); },
      [](double a, double b) { return a > 0 ? a : -b; });
}

TEST_P(expression, right_side_is_complete_before_the_first_write) {
  const std::int64_t n = 5000;
  const auto host = random_floats(n);
  auto a = dsl::to_device(host);
  from_element(a, 1, n - 1) = from_element(a, 0, n - 1) + 1;
  auto got = a.copy_to_host();
  for (std::size_t i = 1; i < 5000; ++i) ASSERT_EQ(got[i], host[i - 1] + 1) << i;
  a = dsl::to_device(host);
  from_element(a, 0, n) = from_element(a, n - 1, n, -1);
  got = a.copy_to_host();
  for (std::size_t i = 0; i < 5000; ++i) ASSERT_EQ(got[i], host[4999 - i]) << i;
  a = dsl::to_device(host);
  a += a;
  got = a.copy_to_host();
  for (std::size_t i = 0; i < 5000; ++i) ASSERT_EQ(got[i], 2 * host[i]);
}

TEST_P(expression, generators_take_no_memory) {
  dsl::array<double> x = dsl::arange<double>(5) / 2, line = dsl::linspace<double>(-1, 1, 5),
                     one = dsl::linspace<double>(3, 4, 1);
  dsl::array<float> down = dsl::arange<float>(5, 0, -2);
  dsl::array<int, 2> table = dsl::reshape(dsl::arange<int>(6), 2, 3) * dsl::arange<int>(3);
  EXPECT_EQ(x.copy_to_host(), (std::vector<double>{0, 0.5, 1, 1.5, 2}));
  EXPECT_EQ(line.copy_to_host(), (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
  EXPECT_EQ(one.copy_to_host(), (std::vector<double>{3}));
  EXPECT_EQ(down.copy_to_host(), (std::vector<float>{5, 3, 1}));
  EXPECT_EQ(table.copy_to_host(), (std::vector<int>{0, 1, 4, 0, 4, 10}));
}

}  // namespace

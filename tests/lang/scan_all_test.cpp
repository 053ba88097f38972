// Scans of more dtypes, and by more operators.
#include "scan_reference.hpp"

#include <complex>
#include <numeric>

// Composition of x -> a x + b, which does not commute: (a, b) then (c, d) is (c a, c b + d).
struct compose {
  DSL_FN dsl::complex<double> operator()(dsl::complex<double> f, dsl::complex<double> g) const {
    return {g.real() * f.real(), g.real() * f.imag() + g.imag()};
  }
};
namespace {

TEST_P(scans, sums_of_signed_integers) {
  sums_of_dtype<std::int8_t, std::int64_t, std::int64_t>(0);
  sums_of_dtype<std::int16_t, std::int64_t, std::int64_t>(0);
  sums_of_dtype<std::int32_t, std::int64_t, std::int64_t>(0);
  sums_of_dtype<std::int64_t, std::int64_t, std::int64_t>(0);
  sums_of_dtype<bool, std::int64_t, std::int64_t>(0);
}

TEST_P(scans, sums_of_unsigned_integers_wrap) {
  sums_of_dtype<std::uint8_t, std::uint64_t, std::uint64_t>(0);
  sums_of_dtype<std::uint16_t, std::uint64_t, std::uint64_t>(0);
  sums_of_dtype<std::uint32_t, std::uint64_t, std::uint64_t>(0);
  sums_of_dtype<std::uint64_t, std::uint64_t, std::uint64_t>(0);
}

TEST_P(scans, more_sixteen_bits_are_summed_in_float) { sums_of_sixteen_bits<dsl::bfloat16>(); }

TEST_P(scans, sums_of_reals) {
  sums_of_dtype<float, float, double>(2e-4);
  sums_of_dtype<double, double, long double>(1e-11);
}

TEST_P(scans, sums_of_complex_numbers) {
  sums_of_dtype<std::complex<float>, std::complex<float>, std::complex<double>>(2e-4);
  sums_of_dtype<std::complex<double>, std::complex<double>, std::complex<long double>>(1e-11);
}

TEST_P(scans, sums_in_another_dtype) {
  const auto host = random_floats(34567);
  const auto a = dsl::to_device(host);
  dsl::array<double> wide = dsl::cumsum<double>(a);
  expect_near(wide.copy_to_host(), sums<long double>(host, flat(host.size())), 1e-12,
              "float in double");
  const auto bytes = dsl::to_device(std::vector<std::int8_t>(1000, 1));
  dsl::array<std::int8_t> narrow = dsl::cumsum<std::int8_t>(bytes);
  EXPECT_EQ(narrow.copy_to_host()[199], static_cast<std::int8_t>(200));
}

TEST_P(scans, running_extremes_and_logic) {
  const auto host = random_floats(34567);
  const auto a = dsl::to_device(host);
  const auto most = dsl::scan([](auto x, auto y) { return max(x, y); });
  const auto want = reference<float>(
      host, flat(host.size()), [](float x, float y) { return std::max(x, y); }, false, false, 0.0f);
  EXPECT_EQ(dsl::eval(most(a)).copy_to_host(), want);
  const auto any = dsl::scan([](auto x, auto y) { return x || y; }, false);
  dsl::array<bool> seen = any(a > 1.999, dsl::exclusive);
  bool before = false;
  const auto got = seen.copy_to_host();
  for (std::size_t i = 0; i < host.size(); ++i) {
    ASSERT_EQ(got[i], before) << i;
    before = before || host[i] > 1.999f;
  }
  const auto small =
      dsl::to_device(values_of<std::uint8_t>(34567));  // 16 a thread, of one byte each
  const auto bits = dsl::scan([](auto x, auto y) { return x ^ y; });
  EXPECT_EQ(dsl::eval(bits(small)).copy_to_host(),
            reference<std::uint8_t>(
                small.copy_to_host(), flat(34567),
                [](std::uint8_t x, std::uint8_t y) { return static_cast<std::uint8_t>(x ^ y); },
                false, false, std::uint8_t(0)));
}

// The last element that is not 0, of 16 bytes: small tiles, more than a block waits for at once at
// every level.
TEST_P(scans, more_tiles_than_two_levels_hold) {
  const std::int64_t n = 5 * (1 << 19) + 3;
  std::vector<std::complex<double>> host(static_cast<std::size_t>(n)), want;
  std::mt19937 engine(5);
  for (std::int64_t i = 0; i < n;
       i += 1 + static_cast<std::int64_t>(engine() % (i < n / 2 ? 10 : 400000)))
    host[static_cast<std::size_t>(i)] = {double(i + 1), -double(i)};
  std::complex<double> last;
  for (const auto& x : host) want.push_back(last = x != 0.0 ? x : last);
  const auto forward = dsl::scan([](auto x, auto y) { return where(y != 0.0, y, x); });
  const auto got = dsl::eval(forward(dsl::to_device(host))).copy_to_host();
  for (std::size_t i = 0; i < want.size(); ++i) ASSERT_EQ(got[i], want[i]) << i;
}

// x(i) = a(i) x(i-1) + b(i), a linear recurrence, as a scan of functions.
TEST_P(scans, linear_recurrence) {
  const std::int64_t n = 20000;
  const auto a = random_floats(n, -0.9f, 0.9f), b = random_floats(n, -1, 1, 2);
  std::vector<std::complex<double>> functions;
  std::vector<double> want;
  double x = 5;
  for (std::size_t i = 0; i < a.size(); ++i) {
    functions.emplace_back(a[i], b[i]);
    want.push_back(x = a[i] * x + b[i]);
  }
  dsl::array<std::complex<double>> composed = dsl::scan(compose{})(dsl::to_device(functions));
  dsl::array<double> got = real(composed) * 5 + imag(composed);
  expect_near(got.copy_to_host(), want, 1e-12, "recurrence");
}

TEST_P(scans, neighbours_gathers_positions_and_scalars) {
  const std::int64_t rows_ = 40, columns = 300;
  const auto host = values_of<std::int32_t>(rows_ * columns);
  const auto a = dsl::to_device(host);
  const auto u = dsl::reshape(a, rows_, columns);
  dsl::scalar<std::int32_t> two = 2;
  for (int axis = 0; axis < 2; ++axis)
    for (int shifted = 0; shifted < 2; ++shifted) {
      dsl::array<std::int64_t, 2> got = dsl::cumsum(
          dsl::shift(u, 1, dsl::boundary::wrap, shifted) * two + dsl::index(0, rows_, columns) - 3,
          dsl::axis(axis));
      std::vector<std::int64_t> each;
      for (std::int64_t i = 0; i < rows_; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
          const std::int64_t from = shifted == 0 ? (i + rows_ - 1) % rows_ * columns + j
                                                 : i * columns + (j + columns - 1) % columns;
          each.push_back(2 * host[static_cast<std::size_t>(from)] + i - 3);
        }
      ASSERT_EQ(got.copy_to_host(), sums<std::int64_t>(each, along({rows_, columns}, axis)))
          << axis << ' ' << shifted;
    }
  dsl::array<std::int64_t> taken =
      dsl::cumsum(dsl::take(a, rows_ * columns - 1 - dsl::arange<int>(rows_ * columns)));
  EXPECT_EQ(
      taken.copy_to_host(),
      sums<std::int64_t>(std::vector<std::int32_t>(host.rbegin(), host.rend()), flat(host.size())));
}

TEST_P(scans, reductions_inside_come_first) {
  const auto host = values_of<std::int32_t>(12 * 50);
  const auto a = dsl::to_device(host);
  const auto m = dsl::reshape(a, 12, 50);
  std::int64_t sum = 0;
  std::vector<std::int64_t> off, of_rows;
  for (const auto x : host) sum += x;
  for (const auto x : host) off.push_back(x - sum);
  for (std::size_t i = 0; i < 12; ++i)
    of_rows.push_back(std::accumulate(host.begin() + static_cast<std::ptrdiff_t>(50 * i),
                                      host.begin() + static_cast<std::ptrdiff_t>(50 * i + 50),
                                      std::int64_t{0}));
  EXPECT_EQ(dsl::eval(dsl::cumsum(a - dsl::sum(a))).copy_to_host(),
            sums<std::int64_t>(off, flat(off.size())));
  EXPECT_EQ(dsl::eval(dsl::cumsum(dsl::sum(m, dsl::axis(1)))).copy_to_host(),
            sums<std::int64_t>(of_rows, flat(of_rows.size())));
  dsl::array<std::int64_t, 2> got =
      dsl::cumsum(m - dsl::sum(m, dsl::axis(1), dsl::keep_dims), dsl::axis(0));
  for (std::size_t i = 0; i < off.size(); ++i) off[i] = host[i] - of_rows[i / 50];
  EXPECT_EQ(got.copy_to_host(), sums<std::int64_t>(off, along({12, 50}, 0)));
}

}  // namespace

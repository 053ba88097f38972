// Transforms of rows of every length that one kernel takes, against the sums that define them.
#include "sums.hpp"

namespace {

struct rows_of_every_length : on_device {};
ON_EVERY_DEVICE(rows_of_every_length);

// The sums of a row by halves, in long double: as many operations as for a transform.
std::vector<wide> summed_by_halves(const std::vector<wide>& x, bool inverse) {
  const std::size_t n = x.size();
  if (n == 1) return x;
  std::vector<wide> even, odd;
  for (std::size_t i = 0; i < n; i += 2) even.push_back(x[i]), odd.push_back(x[i + 1]);
  even = summed_by_halves(even, inverse);
  odd = summed_by_halves(odd, inverse);
  std::vector<wide> all(n);
  for (std::size_t k = 0; k < n / 2; ++k) {
    const wide turned =
        odd[k] * std::polar(1.0L, (inverse ? 2 : -2) * std::acos(-1.0L) *
                                      static_cast<long double>(k) / static_cast<long double>(n));
    all[k] = even[k] + turned;
    all[k + n / 2] = even[k] - turned;
  }
  return all;
}
values rows_by_halves(const values& x, bool inverse) {
  values y = x;
  const auto n = static_cast<std::ptrdiff_t>(x.shape.back());
  for (auto at = x.at.begin(); at != x.at.end(); at += n) {
    const std::vector<wide> row = summed_by_halves({at, at + n}, inverse);
    std::copy(row.begin(), row.end(), y.at.begin() + (at - x.at.begin()));
  }
  return y;
}

// Forth and back, with a factor for each point between: all elements, of several rows.
template <class T, int N>
void of_length() {
  using C = std::complex<T>;
  const std::vector<std::int64_t> counts =
      N < 512 ? std::vector<std::int64_t>{1, 2, 129} : std::vector<std::int64_t>{1, 3};
  const auto factors = random_values<C>(N, 2);
  const auto between = dsl::to_device(factors);
  for (const std::int64_t count : counts) {
    const std::string what = std::to_string(count) + " rows of " + std::to_string(N);
    const auto host = random_values<C>(count * N);
    const auto memory = dsl::to_device(host);
    dsl::array<C, 2> x = dsl::reshape(memory, count, N);
    values want = rows_by_halves(values::of({count, N}, host), false);
    x = dsl::ifft<N>(between * dsl::fft<N>(x));
    for (std::size_t i = 0; i < want.at.size(); ++i) want.at[i] *= wide(factors[i % N]) / wide(N);
    expect_near<C, 2>(x, rows_by_halves(want, true), what);
  }
}
template <class T, int... Log>
void of_lengths(std::integer_sequence<int, Log...>) {
  (of_length<T, (2 << Log)>(), ...);
}

TEST_P(rows_of_every_length, in_floats) {
  of_lengths<float>(std::make_integer_sequence<int, 12>{});
}
TEST_P(rows_of_every_length, in_doubles) {
  of_lengths<double>(std::make_integer_sequence<int, 12>{});
}

// A row for each index of two dimensions that no step joins.
TEST_P(rows_of_every_length, in_several_dimensions) {
  const auto host = random_values<c64>(4 * 6 * 5 * 32);
  const auto memory = dsl::to_device(host);
  const auto x = dsl::reshape(memory, 4, 6, 5, 32);
  const dsl::array<c64, 4> got =
      dsl::fft<32>(x(dsl::slice(0, 4, 2), dsl::slice(1, 5), dsl::slice(0, 3), dsl::slice()));
  values part{{2, 4, 3, 32}, {}};
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t l = 0; l < 32; ++l)
          part.at.push_back(wide(host[((2 * i * 6 + j + 1) * 5 + k) * 32 + l]));
  expect_near<c64, 4>(got, rows_by_halves(part, false), "four dimensions");
}

// Positions, gathered elements, a number in device memory.
TEST_P(rows_of_every_length, of_other_operands) {
  std::vector<c64> counted;
  for (int i = 0; i < 8; ++i) counted.push_back(i);
  dsl::array<c64> got =
      dsl::ifft<8>(dsl::index(0, 8) * dsl::fft<8>(dsl::cast<double>(dsl::index(0, 8))));
  values want = summed(values::of({8}, counted), 0, 8, false);
  for (std::size_t i = 0; i < 8; ++i) want.at[i] *= static_cast<long double>(i);
  expect_near<c64, 1>(got, summed(want, 0, 8, true, 1 / 8.0L), "positions");

  const std::vector<std::int64_t> order{7, 0, 3, 3, 1, 6, 2, 5};
  const auto host = random_values<c64>(8);
  const auto x = dsl::to_device(host);
  const auto index = dsl::to_device(order);
  const dsl::scalar<double> factor(2.5);
  got = factor * dsl::fft<8>(dsl::take(x, index));
  values taken{{8}, {}};
  for (const std::int64_t i : order) taken.at.push_back(wide(host[static_cast<std::size_t>(i)]));
  expect_near<c64, 1>(got, summed(taken, 0, 8, false, 2.5L), "gathered");
  // x itself: what it takes is elsewhere.
  dsl::array<c64> same = dsl::eval(x);
  same = dsl::fft<8>(dsl::take(same, index)) + same;
  want = summed(taken, 0, 8, false);
  for (std::size_t i = 0; i < 8; ++i) want.at[i] += wide(host[i]);
  expect_near<c64, 1>(same, want, "gathered in place");
}

// One precision within the other.
TEST_P(rows_of_every_length, in_both_precisions) {
  const auto host = random_values<c32>(3 * 256);
  const auto memory = dsl::to_device(host);
  const dsl::array<c64, 2> got =
      dsl::ifft<256>(dsl::cast<c64>(dsl::fft<256>(dsl::reshape(memory, 3, 256))));
  const dsl::array<c32, 2> narrow = dsl::cast<c32>(got);
  expect_near<c32, 2>(narrow, values::of({3, 256}, host), "forth in floats, back in doubles");
}

// What is no formula of single elements is evaluated before: reductions, scans, neighbours.
TEST_P(rows_of_every_length, of_what_is_computed_before) {
  const auto host = random_values<c64>(3 * 16);
  const auto memory = dsl::to_device(host);
  const auto x = dsl::reshape(memory, 3, 16);
  const values of = values::of({3, 16}, host);
  long double norm = 0;
  for (const wide z : of.at) norm += std::norm(z);
  const dsl::array<c64, 2> scaled = dsl::fft<16>(x / dsl::norm(x));
  expect_near<c64, 2>(scaled, summed(of, 1, 16, false, 1 / std::sqrt(norm)), "by a norm");
  const dsl::scalar<double> power = dsl::sum(square(abs(dsl::fft<16>(x))));
  EXPECT_NEAR(power.value(), static_cast<double>(16 * norm), 1e-11);
  values alternating = of;
  for (std::size_t i = 1; i < alternating.at.size(); i += 2) alternating.at[i] *= -1;
  const dsl::array<c64, 2> shifted =
      dsl::ifft<16>(dsl::shift(dsl::fft<16>(x), 8, dsl::boundary::wrap, -1));
  expect_near<c64, 2>(shifted, alternating, "shifted by half");
  const dsl::array<c64, 2> both = dsl::fft<16>(x) - dsl::fft(x);
  EXPECT_LT(dsl::max(abs(both)).value(), 1e-13);
}

// Steps of a loop, which a GPU records.
TEST_P(rows_of_every_length, in_a_loop_of_statements) {
  const auto host = random_values<c64>(3 * 16), factors = random_values<c64>(16, 2);
  const auto memory = dsl::to_device(host);
  const auto between = dsl::to_device(factors);
  const auto step =
      dsl::statement([](auto x, auto factor) { return dsl::ifft<16>(factor * dsl::fft<16>(x)); });
  for (int times = 0; times < 3; ++times) {
    dsl::array<c64, 2> x = dsl::reshape(memory, 3, 16);
    dsl::iterate(6, step, dsl::state(x), between);
    values want = rows_by_halves(values::of({3, 16}, host), false);
    for (std::size_t i = 0; i < want.at.size(); ++i)
      want.at[i] *= std::pow(wide(factors[i % 16]), 6) / 16.0L;
    expect_near<c64, 2>(x, rows_by_halves(want, true), "six steps");
  }
}

TEST_P(rows_of_every_length, of_several_streams_and_with_a_fixed_block) {
  const auto host = random_values<c64>(200 * 16);
  const auto memory = dsl::to_device(host);
  const auto x = dsl::reshape(memory, 200, 16);
  dsl::array<c64, 2> y, z;
  {
    const dsl::stream other(x.where());
    const dsl::stream_guard by_other(other);
    y = dsl::fft<16>(x);
  }
  z = dsl::ifft<16>(y);
  expect_near<c64, 2>(z, values::of({200, 16}, host), "by two streams");
  if (!has_grid()) return;
  dsl::assign(z, dsl::ifft<16>(y), {.block = 128});
  EXPECT_THROW(dsl::assign(z, dsl::ifft<16>(y), {.block = 64}), dsl::device_error);
  EXPECT_THROW(dsl::assign(z, dsl::ifft<16>(y), {.grid = 1}), dsl::device_error);
  expect_near<c64, 2>(z, values::of({200, 16}, host), "after an error");
}

}  // namespace

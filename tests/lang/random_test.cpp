// Random numbers as expressions: each element equals its formula, however the surrounding
// expression is divided.
#include "../on_device.hpp"
#include "random_formulas.hpp"

#include <dsl/by_key.hpp>
#include <dsl/random.hpp>

#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

// Random123's known answers, computed on the device: word w of a block whose four words and key are
// all `of`.
struct philox_word {
  DSL_FN std::uint32_t operator()(std::uint32_t of, int w) const {
    const auto block =
        dsl::detail::math::philox({{of, of, of, of}}, of | static_cast<std::uint64_t>(of) << 32);
    return block.word[w];
  }
};

namespace {

namespace math = dsl::detail::math;

struct drawing : on_device {};
ON_EVERY_DEVICE(drawing);

const dsl::random::key seed{42};

std::vector<std::uint32_t> bits_of(const dsl::random::key& k, std::int64_t n,
                                   std::uint32_t draw = 0) {
  std::vector<std::uint32_t> words;
  for (std::int64_t i = 0; i < n; ++i)
    words.push_back(math::random_bits(static_cast<std::uint64_t>(i), k.bits(), draw));
  return words;
}
template <class E>
auto values_of(const E& e) {
  return dsl::eval(e).copy_to_host();
}

TEST_P(drawing, philox_gives_the_known_answers) {
  EXPECT_EQ(values_of(dsl::random::bits(dsl::random::key{0}, 4)),
            (std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const auto word = dsl::vectorize(philox_word{});
  EXPECT_EQ(values_of(word(~std::uint32_t{0}, dsl::arange<int>(4))),
            (std::vector<std::uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST_P(drawing, bits_of_every_size) {
  for (const std::int64_t n : sizes()) {
    const auto low = bits_of(seed, n, 1), want = bits_of(seed, n);
    ASSERT_EQ(values_of(dsl::random::bits(seed, n)), want) << n;
    const auto wide = values_of(dsl::random::bits<std::uint64_t>(seed, n));
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_EQ(wide[i], static_cast<std::uint64_t>(want[i]) << 32 | low[i]) << n << ' ' << i;
  }
}

// Slices, steps and transposition give the elements that they would give of the array, aligned or
// not.
TEST_P(drawing, is_cut_as_an_array) {
  const int rows = 37, columns = 53;
  const auto e = dsl::random::bits(seed, rows, columns);
  const dsl::array<std::uint32_t, 2> all = e;
  ASSERT_EQ(all.copy_to_host(), bits_of(seed, rows * columns));
  for (const std::int64_t first : {0, 1, 2, 3, 4, 7})
    for (const std::int64_t step : {1, 3, 4}) {
      const dsl::slice along(first, dsl::end, step);
      ASSERT_EQ(values_of(e(along, along)), values_of(all(along, along))) << first << ' ' << step;
      ASSERT_EQ(values_of(e(5, along)), values_of(all(5, along))) << first << ' ' << step;
    }
  EXPECT_EQ(values_of(dsl::transpose(e)), values_of(dsl::transpose(all)));
  EXPECT_EQ(values_of(dsl::flip(e)), values_of(dsl::flip(all)));
  EXPECT_EQ(e(11, 13).value(), all(11, 13).value());
  const auto column = dsl::random::bits(seed, rows, 1);  // broadcast
  EXPECT_EQ(values_of(column + 0 * all), values_of(dsl::eval(column) + 0 * all));

  for (const std::int64_t first : {0, 1, 4, 6}) {  // offset of the target
    dsl::array<std::uint32_t> target = dsl::zeros<std::uint32_t>(1000);
    from_element(target, first, 900) = dsl::random::bits(seed, 907)(dsl::slice(7, dsl::end));
    const auto got = target.copy_to_host(), want = bits_of(seed, 907);
    for (std::size_t i = 0; i < 900; ++i)
      ASSERT_EQ(got[i + static_cast<std::size_t>(first)], want[i + 7]) << first << ' ' << i;
  }
}

TEST_P(drawing, is_reduced_without_an_array) {
  const std::int64_t n = 100'003;
  const auto words = bits_of(seed, n);
  const auto want = std::accumulate(words.begin(), words.end(), std::uint64_t{0});
  EXPECT_EQ(dsl::sum(dsl::cast<std::uint64_t>(dsl::random::bits(seed, n))).value(), want);
  EXPECT_EQ(dsl::sum(dsl::cast<std::uint64_t>(dsl::random::bits(seed, n)(dsl::slice(1, dsl::end))))
                .value(),
            want - words[0]);
}

// Equal operands are drawn once; operands of the same type that differ are not merged.
TEST_P(drawing, what_is_named_twice_is_drawn_once) {
  const int n = 4099;
  const auto x = dsl::random::uniform<float>(seed.fold(0), n),
             y = dsl::random::uniform<float>(seed.fold(1), n);
  const dsl::array<float> a = x, b = y;
  dsl::array<float> z;
  const auto draws_of = [&](const auto& e) {
    const std::string text(dsl::explain(z, e).text().c_str());
    int count = 0;
    for (std::size_t at = text.find("program");
         (at = text.find("= random_bits", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  EXPECT_EQ(values_of(x * x + y * y), values_of(a * a + b * b));
  EXPECT_EQ(draws_of(x * x + y * y), 2);
  EXPECT_EQ(values_of(x * y), values_of(a * b));
  EXPECT_EQ(draws_of(x * y), 2);
  EXPECT_EQ(dsl::sum(x * x).value(), dsl::sum(square(x)).value());
}

TEST_P(drawing, uniform_has_all_bits) {
  const std::int64_t n = 5003;
  const auto words = bits_of(seed, n), low = bits_of(seed, n, 1);
  const auto f = values_of(dsl::random::uniform<float>(seed, n));
  const auto d = values_of(dsl::random::uniform<double>(seed, n));
  const auto h = values_of(dsl::random::uniform<dsl::half>(seed, n));
  const auto b = values_of(dsl::random::uniform<dsl::bfloat16>(seed, n));
  for (std::size_t i = 0; i < words.size(); ++i) {
    ASSERT_EQ(f[i], static_cast<float>(words[i] >> 8) * 0x1p-24f) << i;
    ASSERT_EQ(d[i], static_cast<double>(words[i] >> 5) * 0x1p-27 +
                        static_cast<double>(low[i] >> 6) * 0x1p-53)
        << i;
    ASSERT_EQ(static_cast<float>(h[i]), static_cast<float>(words[i] >> 21) * 0x1p-11f) << i;
    ASSERT_EQ(static_cast<float>(b[i]), static_cast<float>(words[i] >> 24) * 0x1p-8f) << i;
  }
}

template <class T>
void expect_formulas(std::int64_t n) {
  constexpr bool is_double = std::is_same_v<T, double>;
  const auto normal = values_of(dsl::random::normal<T>(seed, n)),
             exponential = values_of(dsl::random::exponential<T>(seed, n));
  const auto complex = values_of(dsl::random::normal<std::complex<T>>(seed, n));
  const std::vector<std::uint32_t> word[] = {bits_of(seed, n + 1, 0), bits_of(seed, n + 1, 1),
                                             bits_of(seed, n + 1, 2), bits_of(seed, n + 1, 3)};
  const auto positive = [&](std::size_t i) { return positive_of<T>(word[0][i], word[1][i]); };
  const auto sine = [&](std::size_t i, int draw, bool of_cosine) {
    return sine_of_half_turns(angle_of<T>(word[draw][i], word[draw + 1][i], of_cosine));
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const std::size_t even = i & ~std::size_t{1}, odd = i | 1;
    ASSERT_LE(units(exponential[i], -std::log(positive(i))), 4) << i;
    const long double radius = std::sqrt(-2 * std::log(positive(even)));
    ASSERT_LE(units(normal[i], radius * sine(odd, 0, even == i)), 4) << i;
    const long double length = std::sqrt(-std::log(positive(i)));
    ASSERT_LE(units(complex[i].real(), length * sine(i, is_double ? 2 : 1, true)), 4) << i;
    ASSERT_LE(units(complex[i].imag(), length * sine(i, is_double ? 2 : 1, false)), 4) << i;
  }
}
TEST_P(drawing, normal_and_exponential_by_their_formulas) {
  expect_formulas<float>(simulated() ? 5001 : 100'001);
  expect_formulas<double>(5001);
}

// The same in every formula: with operations that no vector instruction computes, before a sum that
// could be contracted with a product, and on the host as in the simulator.
TEST_P(drawing, are_the_same_in_every_formula) {
  const std::int64_t n = simulated() ? 5003 : 100'003;
  const auto f = dsl::random::normal<float>(seed, n);
  const auto e = dsl::random::exponential<float>(seed, n);
  const auto d = dsl::random::normal<double>(seed, n);
  const auto g = dsl::random::exponential<double>(seed, n);
  const auto z = dsl::random::normal<std::complex<double>>(seed, n);
  const auto fs = values_of(f), es = values_of(e);
  const auto ds = values_of(d), gs = values_of(g);
  const auto zs = values_of(z);

  dsl::array<float> a, b;
  dsl::array<double> c, h;
  dsl::array<std::complex<double>> w;
  dsl::tie(a, b, c, h, w) = dsl::vectorize([](auto f, auto e, auto d, auto g, auto z, auto order) {
    const auto nothing = dsl::cast<float>(order) * 0.0f;
    return std::tuple{f + nothing, e + nothing, d + nothing, g + nothing, z + nothing};
  })(f, e, d, g, z, dsl::random::permutation(seed, n));
  EXPECT_EQ(a.copy_to_host(), fs);
  EXPECT_EQ(b.copy_to_host(), es);
  EXPECT_EQ(c.copy_to_host(), ds);
  EXPECT_EQ(h.copy_to_host(), gs);
  EXPECT_EQ(w.copy_to_host(), zs);

  dsl::tie(a, b, c, h) = dsl::vectorize([](auto f, auto e, auto d, auto g) {
    return std::tuple{f + 1, e + 1, d + 1, g + 1};
  })(f, e, d, g);
  const auto plus_one = [](auto values) {
    for (auto& v : values) v += 1;
    return values;
  };
  EXPECT_EQ(a.copy_to_host(), plus_one(fs));
  EXPECT_EQ(b.copy_to_host(), plus_one(es));
  EXPECT_EQ(c.copy_to_host(), plus_one(ds));
  EXPECT_EQ(h.copy_to_host(), plus_one(gs));

  c = dsl::compress(dsl::arange<std::int64_t>(n) >= 0, d);
  EXPECT_EQ(c.copy_to_host(), ds);

  if (dsl::device::current().kind != dsl::backend::host) return;
  const dsl::device_guard sim(dsl::device("sim"));
  EXPECT_EQ(values_of(f(dsl::slice(0, 4099))), std::vector<float>(fs.begin(), fs.begin() + 4099));
  EXPECT_EQ(values_of(e(dsl::slice(0, 4099))), std::vector<float>(es.begin(), es.begin() + 4099));
  EXPECT_EQ(values_of(d(dsl::slice(0, 4099))), std::vector<double>(ds.begin(), ds.begin() + 4099));
  EXPECT_EQ(values_of(g(dsl::slice(0, 4099))), std::vector<double>(gs.begin(), gs.begin() + 4099));
  EXPECT_EQ(values_of(z(dsl::slice(0, 4099))),
            std::vector<std::complex<double>>(zs.begin(), zs.begin() + 4099));
}

TEST_P(drawing, moments_are_those_of_the_distributions) {
  const std::int64_t n = simulated() ? 100'000 : 1'000'000;
  const double error = 4 / std::sqrt(static_cast<double>(n));  // four standard errors of a mean
  const auto x = dsl::random::normal<float>(seed.fold(1), n);
  double square = 0, cube = 0, fourth = 0, mean = 0;
  for (const double v : values_of(x))
    mean += v, square += v * v, cube += v * v * v, fourth += v * v * v * v;
  const auto of = [n](double sum) { return sum / static_cast<double>(n); };
  EXPECT_NEAR(of(mean), 0, error);
  EXPECT_NEAR(of(square), 1, error * std::sqrt(2.0));
  EXPECT_NEAR(of(cube), 0, error * std::sqrt(15.0));
  EXPECT_NEAR(of(fourth), 3, error * std::sqrt(96.0));
  double pairs = 0, complex_square = 0;  // neighbours are independent
  const auto v = values_of(x);
  for (std::size_t i = 1; i < v.size(); ++i) pairs += static_cast<double>(v[i]) * v[i - 1];
  EXPECT_NEAR(of(pairs), 0, error);
  std::complex<double> sum = 0, sum_of_squares = 0;
  for (const std::complex<double> z :
       values_of(dsl::random::normal<std::complex<double>>(seed.fold(2), n)))
    sum += z, sum_of_squares += z * z, complex_square += std::norm(z);
  EXPECT_NEAR(std::abs(sum) / static_cast<double>(n), 0, error);
  EXPECT_NEAR(std::abs(sum_of_squares) / static_cast<double>(n), 0, error);
  EXPECT_NEAR(of(complex_square), 1, error);
  double first = 0, second = 0;
  for (const double e : values_of(dsl::random::exponential<float>(seed.fold(3), n)))
    first += e, second += e * e;
  EXPECT_NEAR(of(first), 1, error);
  EXPECT_NEAR(of(second), 2, error * std::sqrt(20.0));
  int heads = 0;
  for (const bool head : values_of(dsl::random::bernoulli(seed.fold(4), 0.3, n)))
    heads += head ? 1 : 0;
  EXPECT_NEAR(of(heads), 0.3, error * std::sqrt(0.21));
}

double chi_square(const std::vector<int>& counts, std::int64_t n) {
  const double expected = static_cast<double>(n) / static_cast<double>(counts.size());
  double sum = 0;
  for (const int c : counts) sum += (c - expected) * (c - expected) / expected;
  return sum;
}
TEST_P(drawing, values_are_spread_evenly) {
  const std::int64_t n = 100'000;
  std::vector<int> bins(256), pairs(256), wheel(37);
  const auto u = values_of(dsl::random::uniform<float>(seed.fold(5), n));
  for (std::size_t i = 0; i < u.size(); ++i) {
    ++bins[static_cast<std::size_t>(u[i] * 256)];
    if (i % 2 == 1)
      ++pairs[static_cast<std::size_t>(u[i] * 16) * 16 + static_cast<std::size_t>(u[i - 1] * 16)];
  }
  EXPECT_LT(chi_square(bins, n), 330.5);  // 255 degrees of freedom, 0.999
  EXPECT_LT(chi_square(pairs, n / 2), 330.5);
  for (const int i : values_of(dsl::random::integers<std::int8_t>(seed.fold(6), -18, 19, n))) {
    ASSERT_TRUE(i >= -18 && i < 19);
    ++wheel[static_cast<std::size_t>(i + 18)];
  }
  EXPECT_LT(chi_square(wheel, n), 68.0);  // 36
}

TEST_P(drawing, integers_and_permutations_by_their_formulas) {
  const std::int64_t n = 4099, least = std::numeric_limits<std::int64_t>::min(),
                     most = std::numeric_limits<std::int64_t>::max();
  const auto narrow =
      values_of(dsl::random::integers<std::int32_t>(seed, -1'500'000'000, 1'500'000'000, n));
  const auto wide = values_of(dsl::random::integers<std::int64_t>(seed, least, most, n));
  const auto unsigned_wide = values_of(dsl::random::integers<std::uint64_t>(seed, 1, 4, n));
  const auto order = values_of(dsl::random::permutation(seed, n));
  const auto coins = values_of(dsl::random::bernoulli(seed, 0.25, n));
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(n); ++i) {
    ASSERT_EQ(narrow[i], -1'500'000'000 + static_cast<std::int64_t>(math::random_below(
                                              i, 42, std::uint32_t{3'000'000'000})))
        << i;
    ASSERT_EQ(wide[i], static_cast<std::int64_t>(static_cast<std::uint64_t>(least) +
                                                 math::random_below(i, 42, ~std::uint64_t{0})));
    ASSERT_EQ(unsigned_wide[i], 1 + math::random_below(i, 42, std::uint64_t{3}));
    ASSERT_EQ(static_cast<std::uint64_t>(order[i]),
              math::random_permuted(i, 42, static_cast<std::uint64_t>(n)));
    ASSERT_EQ(static_cast<bool>(coins[i]), math::random_bits(i, 42, 0) < 0x40000000u);
  }
  EXPECT_EQ(values_of(dsl::random::permutation(seed, n)(dsl::slice(1000, 1003))),
            (std::vector<std::int64_t>(order.begin() + 1000, order.begin() + 1003)));
}

// In a loop each step has its own numbers: those of a key derived from the step's number.
TEST_P(drawing, keys_follow_the_steps_of_a_loop) {
  const int n = 1003, steps = 7;
  const auto add = dsl::vectorize([](auto x, auto w) { return x + w; });
  std::vector<std::uint32_t> want(n);
  for (int s = 0; s < steps; ++s) {
    const auto words = bits_of(seed.fold(3).fold(s), n);
    for (std::size_t i = 0; i < n; ++i) want[i] += words[i];
  }
  const auto words = dsl::random::bits(seed.fold(3).fold(dsl::step), n);
  dsl::array<std::uint32_t> x = dsl::zeros<std::uint32_t>(n);
  dsl::iterate(steps, add, dsl::state(x), words);
  EXPECT_EQ(x.copy_to_host(), want);

  dsl::array<std::uint32_t> parts = dsl::zeros<std::uint32_t>(n);
  dsl::iterate(3, add, dsl::state(parts), words);
  dsl::iterate(steps - 3, add, dsl::state(parts), words, dsl::from_step(3));
  EXPECT_EQ(parts.copy_to_host(), want);

  const dsl::scalar<std::int64_t> number =
      dsl::sum(dsl::arange<std::int64_t>(5));  // 10, on the device
  EXPECT_EQ(values_of(dsl::random::bits(seed.fold(number), n)), bits_of(seed.fold(10), n));
  EXPECT_EQ(values_of(dsl::random::bits(seed.fold(number).fold(-1), n)),
            bits_of(seed.fold(10).fold(-1), n));
}

TEST_P(drawing, refuses_what_cannot_be) {
  EXPECT_THROW(dsl::random::integers<int>(seed, 3, 3, 10), dsl::value_error);
  EXPECT_THROW(dsl::random::integers<std::uint64_t>(seed, 3, 2, 10), dsl::value_error);
  EXPECT_THROW(dsl::random::bernoulli(seed, 1.5, 10), dsl::value_error);
  EXPECT_THROW(dsl::random::bernoulli(seed, std::nan(""), 10), dsl::value_error);
  EXPECT_THROW(dsl::random::bits(seed, -1), dsl::shape_error);
  for (const bool head : values_of(dsl::random::bernoulli(seed, 1, 100))) EXPECT_TRUE(head);
  for (const bool head : values_of(dsl::random::bernoulli(seed, 0, 100))) EXPECT_FALSE(head);
}

}  // namespace

// dsl::random::generator: the words that it draws, the same bits on every device, and the
// distributions.
#include "../on_device.hpp"
#include "random_formulas.hpp"

#include <dsl/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

namespace math = dsl::detail::math;
using dsl::random::generator;

// Words of the blocks that a generator's documentation names.
DSL_FN constexpr std::uint32_t word_of(std::uint64_t key, std::uint64_t position, std::uint64_t n) {
  return math::philox(
             {{static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32),
               static_cast<std::uint32_t>(n / 4), 2}},
             key)
      .word[n % 4];
}
struct nth_word {
  dsl::random::key k;
  DSL_FN std::uint32_t operator()(std::int64_t i, int n) const {
    generator g(k, i);
    for (; n > 0; --n) g.bits();
    return g.bits();
  }
};

// Every distribution, one after another, from a state between two blocks. Each result's bits.
template <class To, class From> DSL_FN To bits_as(From x) { return __builtin_bit_cast(To, x); }
struct everything {
  dsl::random::key k;
  template <class Use> DSL_FN void draw(generator g, const Use& use) const {
    use(g.exponential<float>());
    const auto f = g.normal_pair<float>();
    use(f.first);
    use(f.second);
    const auto d = g.normal_pair<double>();
    use(d.first);
    use(d.second);
    use(g.exponential<double>());
    use(g.uniform<double>());
    use(g.uniform<float>());
    use(g.normal<double>());
    use(g.normal<float>());
    const auto z = g.normal<dsl::complex<float>>();
    use(z.real());
    use(z.imag());
    use(g.normal<dsl::complex<double>>().imag());
    use(static_cast<float>(g.uniform<dsl::half>()));
    use(static_cast<float>(g.uniform<dsl::bfloat16>()));
    use(static_cast<float>(g.exponential<dsl::half>()));
    use(static_cast<float>(g.normal<dsl::bfloat16>()));
    use(g.integers<std::int8_t>(-100, 100));
    use(g.integers<std::int64_t>(-5, std::int64_t{1} << 62));
    use(g.integers<std::uint32_t>(0, 3u << 30));
    use(g.bernoulli(0.25));
    use(g.bits<std::uint64_t>());
    use(g.drawn());
  }
  DSL_FN std::uint64_t operator()(std::int64_t i, std::uint64_t drawn) const {
    std::uint64_t hash = 0;
    draw(generator(k, i, drawn), [&hash](auto x) {
      std::uint64_t bits;
      if constexpr (sizeof(x) == 8) bits = bits_as<std::uint64_t>(x);
      else if constexpr (sizeof(x) == 4) bits = bits_as<std::uint32_t>(x);
      else bits = static_cast<std::uint64_t>(x);
      hash = math::mixed(hash + bits + 0x9e3779b97f4a7c15);
    });
    return hash;
  }
};

// As many draws as the data asks for: two statements with the state between them in an array.
struct drawn_sum {
  dsl::random::key k;
  DSL_FN std::tuple<std::uint64_t, std::uint64_t> operator()(std::int64_t i, std::uint64_t sum,
                                                             std::uint64_t drawn, int draws) const {
    generator g(k, i, drawn);
    for (; draws > 0; --draws) sum = sum * 31 + g.bits();
    return {sum, g.drawn()};
  }
};

namespace {

struct functor_generators : on_device {};
ON_EVERY_DEVICE(functor_generators);

const dsl::random::key seed{42};

constexpr bool draws_words_in_order() {
  const std::uint64_t key = 0x299f31d0a4093822, position = 0x85a308d3243f6a88;
  generator g(dsl::random::key{key}, position);
  std::uint64_t n = 0;
  for (; n < 9; ++n)
    if (g.drawn() != n || g.bits() != word_of(key, position, n)) return false;
  const std::uint64_t high = word_of(key, position, n), low = word_of(key, position, n + 1);
  if (g.bits<std::uint64_t>() != (high << 32 | low)) return false;
  const std::uint64_t next = static_cast<std::uint64_t>(word_of(key, position, n + 2)) << 32 |
                             word_of(key, position, n + 3);  // of two blocks
  return g.bits<std::uint64_t>() == next && g.drawn() == 13;
}
static_assert(draws_words_in_order());
static_assert(std::is_trivially_copyable_v<generator> && sizeof(generator) <= 40);
static_assert(generator().bits() == word_of(0, 0, 0));

TEST_P(functor_generators, words_at_every_size) {
  for (const std::int64_t n : sizes()) {
    const dsl::array<std::uint32_t> got =
        dsl::vectorize(nth_word{seed})(dsl::arange<std::int64_t>(n), dsl::arange<int>(n) % 11);
    const std::vector<std::uint32_t> words = got.copy_to_host();
    for (std::size_t i = 0; i < words.size(); ++i)
      ASSERT_EQ(words[i], word_of(seed.bits(), i, i % 11)) << n << ' ' << i;
  }
}

TEST_P(functor_generators, the_same_bits_everywhere) {
  const std::int64_t n = 20'011;
  const everything f{seed.fold(3)};
  const dsl::array<std::uint64_t> got =
      dsl::vectorize(f)(dsl::arange<std::int64_t>(n), dsl::arange<std::uint64_t>(n) % 7);
  const std::vector<std::uint64_t> hashes = got.copy_to_host();
  for (std::size_t i = 0; i < hashes.size(); ++i)
    ASSERT_EQ(hashes[i], f(static_cast<std::int64_t>(i), i % 7)) << i;
}

TEST_P(functor_generators, go_on_where_they_ended) {
  const std::int64_t n = 1009;
  const auto f = dsl::vectorize(drawn_sum{seed});
  const auto i = dsl::arange<std::int64_t>(n);
  dsl::array<std::uint64_t> sum(n), drawn(n), at_once(n), all(n);
  dsl::tie(sum, drawn) = f(i, 0, 0, dsl::arange<int>(n) % 13);
  dsl::tie(sum, drawn) = f(i, sum, drawn, dsl::arange<int>(n) % 5);
  dsl::tie(at_once, all) = f(i, 0, 0, dsl::arange<int>(n) % 13 + dsl::arange<int>(n) % 5);
  EXPECT_EQ(sum.copy_to_host(), at_once.copy_to_host());
  EXPECT_EQ(drawn.copy_to_host(), all.copy_to_host());
}

// Neither an expression of the same key nor a folded key has a generator's words.
TEST(generator_blocks, are_apart_from_those_of_expressions) {
  std::vector<std::uint64_t> of_generators, of_expressions;
  for (std::uint64_t position = 0; position < 500; ++position) {
    generator g(seed, position);
    for (int n = 0; n < 20; ++n) of_generators.push_back(g.bits<std::uint64_t>());
  }
  for (std::uint64_t i = 0; i < 2000; ++i) {
    for (std::uint32_t draw = 0; draw < 4; ++draw)
      of_expressions.push_back(static_cast<std::uint64_t>(math::random_bits(i, seed.bits(), draw))
                                   << 32 |
                               math::random_bits(i + 1, seed.bits(), draw));
    of_expressions.push_back(seed.fold(i).bits());
  }
  std::sort(of_generators.begin(), of_generators.end());
  EXPECT_EQ(std::adjacent_find(of_generators.begin(), of_generators.end()), of_generators.end());
  for (const std::uint64_t pair : of_expressions)
    ASSERT_FALSE(std::binary_search(of_generators.begin(), of_generators.end(), pair));
}

template <class T>
void expect_formulas() {
  const auto second = [](generator& g) { return sizeof(T) == 8 ? g.bits() : 0; };
  for (std::int64_t i = 0; i < 20'000; ++i) {
    generator exponential(seed, i), normal(seed, i), words(seed, i);
    const std::uint32_t high = words.bits(), low = second(words), angle_high = words.bits(),
                        angle_low = second(words);
    const long double log = -std::log(positive_of<T>(high, low)), radius = std::sqrt(2 * log);
    ASSERT_LE(units(exponential.exponential<T>(), log), 4) << i;
    const auto [cosine, sine] = normal.normal_pair<T>();
    const auto exact = [&](bool of_cosine) {
      return radius * sine_of_half_turns(angle_of<T>(angle_high, angle_low, of_cosine));
    };
    ASSERT_LE(units(cosine, exact(true)), 4) << i;
    ASSERT_LE(units(sine, exact(false)), 4) << i;
  }
}
TEST(generator_formulas, are_exact_to_four_units) {
  expect_formulas<float>();
  expect_formulas<double>();
}

// Kolmogorov and Smirnov's statistic, times the square root of n: 1.95 at 0.999.
template <class Cdf>
double distance(std::vector<double> sample, const Cdf& cdf) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  double most = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double p = cdf(sample[i]);
    most = std::max({most, static_cast<double>(i + 1) / n - p, p - static_cast<double>(i) / n});
  }
  return most * std::sqrt(n);
}
double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += x[i] * y[i];
    xx += x[i] * x[i];
    yy += y[i] * y[i];
  }
  return xy / std::sqrt(xx * yy);
}

template <class T>
void expect_distributions() {
  const std::size_t n = 100'000;
  const double root = std::sqrt(static_cast<double>(n));
  std::vector<double> uniform, exponential, cosine, sine, next, neighbour;
  for (std::size_t i = 0; i < n; ++i) {
    generator g(seed, i), beside(seed, i + 1);
    uniform.push_back(g.uniform<T>());
    exponential.push_back(g.exponential<T>());
    const auto pair = g.normal_pair<T>();
    cosine.push_back(pair.first);
    sine.push_back(pair.second);
    next.push_back(g.normal<T>());
    beside.uniform<T>();
    beside.exponential<T>();
    neighbour.push_back(beside.normal<T>());
  }
  const auto normal = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  EXPECT_LT(distance(uniform, [](double x) { return x; }), 1.95);
  EXPECT_LT(distance(exponential, [](double x) { return -std::expm1(-x); }), 1.95);
  EXPECT_LT(distance(cosine, normal), 1.95);
  EXPECT_LT(distance(sine, normal), 1.95);
  EXPECT_LT(distance(next, normal), 1.95);
  for (const auto* other : {&sine, &next, &neighbour})
    EXPECT_LT(std::abs(correlation(cosine, *other)) * root, 3.3);
  double moment[5] = {};
  for (const double x : cosine)
    for (int p = 1; p <= 4; ++p) moment[p] += std::pow(x, p) / static_cast<double>(n);
  const double variance[] = {0, 1, 2, 15, 96}, mean[] = {0, 0, 1, 0, 3};
  for (int p = 1; p <= 4; ++p)
    EXPECT_LT(std::abs(moment[p] - mean[p]) * root, 3.3 * std::sqrt(variance[p])) << p;
}
TEST(generator_distributions, are_right) {
  expect_distributions<float>();
  expect_distributions<double>();
}

// Pairs of integers of one generator, and of neighbouring ones.
TEST(generator_distributions, integers_are_even) {
  constexpr int sides = 6, rolls = 180'000;
  std::vector<int> in_a_row(sides * sides), beside(sides * sides);
  int heads = 0;
  for (std::int64_t i = 0; i < rolls; ++i) {
    generator g(seed, i), other(seed, i + 1);
    const int a = g.integers<int>(-2, 4) + 2, b = g.integers<int>(0, sides),
              c = other.integers<int>(0, sides);
    ASSERT_TRUE(a >= 0 && a < sides && b >= 0 && b < sides);
    ++in_a_row[static_cast<std::size_t>(a * sides + b)];
    ++beside[static_cast<std::size_t>(a * sides + c)];
    heads += g.bernoulli(0.3);
  }
  for (const auto* counts : {&in_a_row, &beside}) {
    const double expected = static_cast<double>(rolls) / (sides * sides);
    double chi = 0;
    for (const int count : *counts) chi += (count - expected) * (count - expected) / expected;
    EXPECT_LT(chi, 66.6);  // 35 degrees of freedom, 0.999
  }
  EXPECT_NEAR(heads, 0.3 * rolls, 3.3 * std::sqrt(0.21 * rolls));
}

TEST(generator_distributions, at_their_limits) {
  generator g(seed, 0);
  EXPECT_EQ(g.integers<int>(7, 8), 7);
  EXPECT_EQ(g.integers<int>(7, 7), 7);
  EXPECT_EQ(g.integers<std::uint64_t>(7, 3), 7u);
  const auto least = std::numeric_limits<std::int64_t>::min(),
             greatest = std::numeric_limits<std::int64_t>::max();
  bool negative = false, positive = false;
  for (int i = 0; i < 64; ++i) {
    (g.integers<std::int64_t>(least, greatest) < 0 ? negative : positive) = true;
    EXPECT_TRUE(g.bernoulli(1));
    EXPECT_TRUE(g.bernoulli(2));
    EXPECT_FALSE(g.bernoulli(0));
    EXPECT_FALSE(g.bernoulli(-1));
    EXPECT_FALSE(g.bernoulli(std::nan("")));
    EXPECT_LT(g.uniform<float>(), 1);
    EXPECT_GE(g.exponential<double>(), 0);
  }
  EXPECT_TRUE(negative && positive);
}

}  // namespace

// Philox and its distributions, without a formula.
#include <gtest/gtest.h>

#include <dsl/ir/random.hpp>

#include <array>
#include <map>
#include <numeric>
#include <set>
#include <vector>

namespace {

namespace math = dsl::detail::math;

template <class... W>
constexpr bool gives(const math::philox_block& counter, std::uint64_t key, W... word) {
  const math::philox_block got = math::philox(counter, key);
  const std::uint32_t want[] = {word...};
  for (int i = 0; i < 4; ++i)
    if (got.word[i] != want[i]) return false;
  return true;
}
// Random123's known answers (kat_vectors), also in a constant expression.
static_assert(gives({{0, 0, 0, 0}}, 0, 0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
static_assert(gives({{~0u, ~0u, ~0u, ~0u}}, ~std::uint64_t{0}, 0x408f276du, 0x41c83b0eu,
                    0xa20bc7c6u, 0x6d5451fdu));
static_assert(gives({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0x299f31d0a4093822u,
                    0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u));

TEST(random_bits, are_words_of_blocks) {
  for (const std::uint64_t block : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{1} << 31,
                                    std::uint64_t{0x123456789abcdef}})
    for (std::uint32_t draw = 0; draw < 3; ++draw) {
      const math::philox_block want = math::philox(
          {{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), draw, 0}},
          99);
      for (std::uint64_t w = 0; w < 4; ++w)
        EXPECT_EQ(math::random_bits(4 * block + w, 99, draw), want.word[w]);
    }
}

TEST(random_key, differs_for_each_number) {
  std::set<std::uint64_t> keys;
  for (std::int64_t i = -5000; i < 5000; ++i)
    keys.insert(math::random_key(42, static_cast<std::uint64_t>(i)));
  EXPECT_EQ(keys.size(), 10'000u);
}

// Compared with the compilers' 128-bit products.
TEST(random_below, takes_the_upper_half_of_a_product) {
  __extension__ using wide = unsigned __int128;
  std::uint64_t range = 1;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    range = range * 0x9e3779b97f4a7c15u + 1;
    const std::uint64_t of = range >> i % 64;
    if (of == 0) continue;
    for (std::uint32_t draw = 0;; draw += 2) {
      const std::uint64_t bits = static_cast<std::uint64_t>(math::random_bits(i, 5, draw)) << 32 |
                                 math::random_bits(i, 5, draw + 1);
      const wide product = static_cast<wide>(bits) * of;
      if (static_cast<std::uint64_t>(product) < (0 - of) % of) continue;
      ASSERT_EQ(math::random_below(i, 5, of), static_cast<std::uint64_t>(product >> 64))
          << i << ' ' << of;
      break;
    }
  }
}

double chi_square(const std::vector<int>& counts) {
  const double expected = static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0)) /
                          static_cast<double>(counts.size());
  double sum = 0;
  for (const int n : counts) sum += (n - expected) * (n - expected) / expected;
  return sum;
}

// The interval [0, 3 2^30) would get a quarter of the numbers twice as often; these are rejected.
TEST(random_below, is_even) {
  std::vector<int> thirds(3), narrow(7);
  for (std::uint64_t i = 0; i < 300'000; ++i) {
    ++thirds[math::random_below(i, 1, std::uint32_t{3} << 30) >> 30];
    ++narrow[math::random_below(i, 2, std::uint32_t{7})];
  }
  EXPECT_LT(chi_square(thirds), 13.8);  // 2 degrees of freedom, 0.999
  EXPECT_LT(chi_square(narrow), 22.5);  // 6
  std::vector<int> wide(3);
  for (std::uint64_t i = 0; i < 300'000; ++i)
    ++wide[math::random_below(i, 3, std::uint64_t{3} << 62) >> 62];
  EXPECT_LT(chi_square(wide), 13.8);
}

TEST(random_permuted, is_a_permutation) {
  for (const std::uint64_t n : {1, 2, 3, 5, 16, 100, 255, 256, 257, 1000, 4097, 70'000})
    for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
      std::vector<char> found(n);
      for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t to = math::random_permuted(i, key, n);
        ASSERT_LT(to, n);
        ASSERT_EQ(found[to]++, 0);
      }
    }
  EXPECT_LT(math::random_permuted(123, 4, std::uint64_t{1} << 62), std::uint64_t{1} << 62);
}

// All orders of four and of five numbers, under keys that follow each other and folded ones.
TEST(random_permuted, gives_every_order_as_often) {
  for (const bool folded : {false, true}) {
    std::map<std::vector<std::uint64_t>, int> orders[2];
    for (std::uint64_t key = 0; key < 24'000; ++key)
      for (const std::uint64_t n : {4, 5}) {
        std::vector<std::uint64_t> order(n);
        for (std::uint64_t i = 0; i < n; ++i)
          order[i] = math::random_permuted(i, folded ? math::random_key(3, key) : key, n);
        ++orders[n - 4][order];
      }
    for (const int k : {0, 1}) {
      std::vector<int> counts;
      for (const auto& each : orders[k]) counts.push_back(each.second);
      ASSERT_EQ(counts.size(), k == 0 ? 24u : 120u);
      EXPECT_LT(chi_square(counts), k == 0 ? 49.8 : 173.6);  // 23 and 119 degrees of freedom, 0.999
    }
  }
}

// The components of normal and exponential numbers: each instruction set's vectors give the bits of
// the scalar code.
template <class T, class W, class P>
struct draws {
  std::vector<W> angle;
  std::vector<P> positive;
  std::vector<T> log, normal;
  explicit draws(int n, P (*positive_of)(std::uint64_t))
      : log(static_cast<std::size_t>(n)), normal(static_cast<std::size_t>(n)) {
    for (int i = 0; i < n; ++i) {
      angle.push_back(static_cast<W>(math::mixed(static_cast<std::uint64_t>(i))));
      positive.push_back(positive_of(math::mixed(static_cast<std::uint64_t>(i + n))));
    }
  }
  static T one_log(P x) { return math::random_log(x); }
  static T one_normal(T radius, W angle) {
    return math::random_normal(radius, angle, angle << (8 * sizeof(W) - 2));
  }
  DSL_DETAIL_FN void draw() {
    const W* const a = angle.data();
    const P* const p = positive.data();
    T* const to_log = log.data();
    T* const to_normal = normal.data();
    const int n = static_cast<int>(log.size());
    DSL_DETAIL_INDEPENDENT
    for (int i = 0; i < n; ++i) {
      to_log[i] = math::random_log(p[i]);
      to_normal[i] = math::random_normal(to_log[i], a[i], a[i] << (8 * sizeof(W) - 2));
    }
  }
  DSL_DETAIL_TARGET(DSL_DETAIL_V2) void draw_v2() { draw(); }
#if DSL_DETAIL_X86_LEVELS
  DSL_DETAIL_TARGET(DSL_DETAIL_V3) void draw_v3() { draw(); }
  DSL_DETAIL_TARGET(DSL_DETAIL_V4) void draw_v4() { draw(); }
#endif
  void expect_the_same(void (draws::*by)()) {
    (this->*by)();
    for (std::size_t i = 0; i < log.size(); ++i) {
      ASSERT_EQ(log[i], one_log(positive[i])) << i;
      ASSERT_EQ(normal[i], one_normal(log[i], angle[i])) << i;
    }
  }
  void expect_the_same_of_each() {
    expect_the_same(&draws::draw_v2);
#if DSL_DETAIL_X86_LEVELS
    if (DSL_DETAIL_BEST_LEVEL >= 1) expect_the_same(&draws::draw_v3);
    if (DSL_DETAIL_BEST_LEVEL >= 2) expect_the_same(&draws::draw_v4);
#endif
  }
};
TEST(random_normal, has_the_same_bits_by_every_instruction_set) {
  draws<float, std::uint32_t, std::uint32_t>(100'000, [](std::uint64_t bits) {
    return static_cast<std::uint32_t>(bits);
  }).expect_the_same_of_each();
  draws<double, std::uint64_t, double>(100'000, [](std::uint64_t bits) {
    return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
  }).expect_the_same_of_each();
}

// Permutations of many numbers: the place of each one, and the distance of former neighbours.
TEST(random_permuted, moves_everywhere) {
  constexpr std::uint64_t n = 1 << 16, parts = 64;
  for (const std::uint64_t key : {0, 1, 2}) {
    std::vector<int> places(parts * parts), steps(parts);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t to = math::random_permuted(i, key, n),
                          next = math::random_permuted((i + 1) % n, key, n);
      ++places[i / (n / parts) * parts + to / (n / parts)];
      ++steps[(next - to) % n / (n / parts)];
    }
    EXPECT_LT(chi_square(places), 4258.0);  // 63 * 63 degrees of freedom, 0.999
    EXPECT_LT(chi_square(steps), 103.4);    // 63
  }
}

}  // namespace

// C++ integers that the other operand's dtype cannot hold, by NumPy 2's rules: comparisons are
// exact, bounds of clip clip nothing, any other use throws an overflow_error when the expression is
// made.
#include "../evaluated.hpp"
#include "../on_device.hpp"

#include <dsl/scan.hpp>

#include <limits>

namespace {

struct scalar_range : on_device {};
ON_EVERY_DEVICE(scalar_range);

using wide = __int128;

// Nine comparisons of each array with a scalar or an array, one bit each.
struct all_comparisons {
  template <class X, class S>
  static constexpr auto bits(X x, S s) {
    const auto bit = [](auto truth, int k) { return cast<int>(truth) << k; };
    return bit(x == s, 0) | bit(x != s, 1) | bit(x < s, 2) | bit(x <= s, 3) | bit(x > s, 4) |
           bit(x >= s, 5) | bit(s < x, 6) | bit(s >= x, 7) | bit(s == x, 8);
  }
  template <class S, class... X>
  constexpr auto operator()(S s, X... x) const {
    return std::tuple{bits(x, s)...};
  }
};
int expected_bits(wide x, wide s) {
  return (x == s) | (x != s) << 1 | (x < s) << 2 | (x <= s) << 3 | (x > s) << 4 | (x >= s) << 5 |
         (s < x) << 6 | (s >= x) << 7 | (s == x) << 8;
}

template <class T>
std::vector<T> around_the_ends(std::mt19937_64& random) {
  using limits = std::numeric_limits<T>;
  std::vector<T> v{limits::min(),
                   static_cast<T>(limits::min() + 1),
                   static_cast<T>(-1),
                   0,
                   1,
                   44,
                   static_cast<T>(limits::max() - 1),
                   limits::max()};
  for (int i = 0; i < 8; ++i) v.push_back(static_cast<T>(random() >> random() % 64));
  return v;
}

// Numbers of dtype S: at and beyond the ends of every narrower dtype, and random ones.
template <class S>
std::vector<S> scalars(std::mt19937_64& random) {
  std::vector<S> v{
      0, 1, static_cast<S>(-1), 44, std::numeric_limits<S>::min(), std::numeric_limits<S>::max()};
  for (const int bit : {7, 8, 15, 16, 31, 32, 63})
    if (bit < 8 * static_cast<int>(sizeof(S)))
      for (const int beside : {-1, 0, 1})
        for (const int sign : {1, -1})
          v.push_back(
              static_cast<S>(static_cast<std::uint64_t>(sign) *
                             ((std::uint64_t{1} << bit) + static_cast<std::uint64_t>(beside))));
  for (int i = 0; i < 10; ++i) v.push_back(static_cast<S>(random() >> random() % 64));
  return v;
}

template <class T>
bool holds(wide value) {
  return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

template <class T, class S>
void expect_clipped(const std::vector<T>& given, S first) {
  const S last = std::numeric_limits<S>::max();
  if (wide{first} > std::numeric_limits<T>::max()) {
    EXPECT_THROW(clip(dsl::to_device(given), first, last), dsl::overflow_error) << first;
    return;
  }
  evaluated([](auto v, auto from, auto to) { return std::tuple{clip(v, from, to)}; }, given, first,
            last)
      .check([&](const auto& got) {
        for (std::size_t i = 0; i < given.size(); ++i)
          ASSERT_EQ(wide{got[i]}, std::min(std::max(wide{given[i]}, wide{first}), wide{last}))
              << +given[i] << " clipped from " << first;
      });
}

template <class T, class S>
void expect_overflow(const dsl::array<T>& x, S s) {
  bool thrown = false;
  try {
    (void)(x + s);
  } catch (const dsl::overflow_error&) {
    thrown = true;
  }
  EXPECT_EQ(thrown, !holds<T>(s)) << name(dsl::dtype_v<T>) << " + " << s;
}

/// Arrays of T, each with every scalar of S.
template <class S, class... T>
void compare_with() {
  std::mt19937_64 random(3);
  const std::tuple<std::vector<T>...> given{around_the_ends<T>(random)...};
  const std::tuple<dsl::array<T>...> arrays =
      std::apply([](const auto&... v) { return std::tuple{dsl::to_device(v)...}; }, given);
  for (const S s : scalars<S>(random)) {
    const auto check = [s](const auto& values, const std::vector<int>& got) {
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(got[i], expected_bits(values[i], s))
            << name(dsl::dtype_v<std::remove_cvref_t<decltype(values[0])>>) << ' ' << +values[i]
            << " and " << +s;
    };
    std::apply(
        [&](const auto&... v) {
          evaluated(all_comparisons{}, s, v...).check([&](const auto&... got) {
            (check(v, got), ...);
          });
        },
        given);
    std::apply([&](const auto&... x) { (expect_overflow(x, s), ...); }, arrays);
  }
}

TEST_P(scalar_range, comparisons_are_exact_and_arithmetic_an_error) {
  using namespace std;
#if defined(COMPILED_FORMULAS)
  compare_with<int64_t, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>();
  compare_with<uint64_t, int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t>();
  compare_with<int32_t, uint8_t, uint64_t>();
#else  // tests/property draws the others
  compare_with<int64_t, int8_t, uint8_t, uint64_t>();
  compare_with<uint64_t, int8_t, int64_t>();
  compare_with<int32_t, uint8_t>();
#endif
}

TEST_P(scalar_range, bounds_of_clip_outside_clip_nothing) {
  std::mt19937_64 random(4);
  const auto a = around_the_ends<std::uint8_t>(random);
  const auto b = around_the_ends<std::int64_t>(random);
  for (const std::int32_t s : scalars<std::int32_t>(random)) expect_clipped(a, s);
  for (const std::uint64_t s : scalars<std::uint64_t>(random)) expect_clipped(b, s);
}

TEST_P(scalar_range, of_operators_on_arrays) {
  const std::vector<std::uint8_t> given{44, 1, 255};
  const auto x = dsl::to_device(given);
  EXPECT_EQ(dsl::eval(dsl::cast<int>((x == 255) == 2) + 10 * dsl::cast<int>(x == 300) +
                      100 * clip(dsl::cast<int>(x), 0, 300))
                .copy_to_host(),
            (std::vector<int>{4400, 100, 25500}));
  evaluated(
      [](auto v, auto s, auto large, auto truth) {
        return std::tuple{cast<int>(v == s), cast<int>(large > v), cast<int>(clip(v, 0, s)),
                          cast<int>((v == 255) == truth)};
      },
      given, 300, 3000000000, 2)
      .check([](const auto& equal, const auto& less, const auto& clipped, const auto& never) {
        EXPECT_EQ(equal, (std::vector<int>{0, 0, 0}));
        EXPECT_EQ(less, (std::vector<int>{1, 1, 1}));
        EXPECT_EQ(clipped, (std::vector<int>{44, 1, 255}));
        EXPECT_EQ(never, equal);
      });
  EXPECT_THROW(300 % x, dsl::overflow_error);
  EXPECT_THROW(min(x, 300), dsl::overflow_error);
  EXPECT_THROW(where(x > 3, x, -1), dsl::overflow_error);
  EXPECT_THROW((x > 3) + (std::uint64_t{1} << 63), dsl::overflow_error);
}

// A lambda's literals are known when it is compiled, its scalar arguments when it is called.
TEST_P(scalar_range, in_a_lambda) {
  const std::vector<std::uint8_t> given{44, 1, 255};
  const auto x = dsl::to_device(given);
  const auto expect = [](const auto& formula, const auto& want) {
    formula.check([&want](const auto& got) { EXPECT_EQ(got, want); });
  };
  const auto literals = [](auto a) {
    return std::tuple{cast<int>(a < 300) + 10 * cast<int>(a > -1) + 100 * cast<int>(a == 300) +
                      1000 * cast<int>(a <= 44)};
  };
  expect(evaluated(literals, given), std::vector<int>{1011, 1011, 11});
  const auto clipped = [](auto a, auto last) {
    return std::tuple{cast<int>(clip(a, -3, 300)) + 1000 * cast<int>(clip(a, 10, last))};
  };
  expect(evaluated(clipped, given, 300), std::vector<int>{44044, 10001, 255255});
  expect(evaluated(clipped, given, 30), std::vector<int>{30044, 10001, 30255});
  expect(evaluated([](auto a, auto limit) { return std::tuple{where(a < limit, a + 1, a)}; }, given,
                   300),
         std::vector<std::uint8_t>{45, 2, 0});
  const auto adds = dsl::vectorize([](auto a, auto h) { return a + h; });
  EXPECT_THROW(adds(x, 300), dsl::overflow_error);
  EXPECT_THROW(adds(x, -1), dsl::overflow_error);
  EXPECT_EQ(dsl::eval(adds(x, 255)).copy_to_host(), (std::vector<std::uint8_t>{43, 0, 254}));
  const auto chooses = dsl::vectorize([](auto a, auto h) { return a + where(a > 3, h, 0); });
  EXPECT_THROW(chooses(x, 300), dsl::overflow_error);
}

TEST_P(scalar_range, of_targets_loops_reductions_and_scans) {
  dsl::array<std::uint8_t> x = dsl::to_device(std::vector<std::uint8_t>{44, 1, 255}), none;
  EXPECT_THROW(x.view() = 300, dsl::overflow_error);
#if defined(COMPILED_FORMULAS)
  EXPECT_THROW(x += 300, dsl::overflow_error);
  EXPECT_THROW(x = where(x > 2, 300, 400), dsl::overflow_error);
#endif
  EXPECT_THROW(none = where(x > 2, 200, -1), dsl::overflow_error);
  EXPECT_FALSE(none.has_memory());
  const auto adds = dsl::vectorize([](auto a, auto h) { return a + h; });
  EXPECT_THROW(dsl::iterate(3, adds, dsl::state(x), 300), dsl::overflow_error);
#if defined(COMPILED_FORMULAS)
  EXPECT_THROW(
      dsl::iterate(3, dsl::vectorize([](auto a, auto h) { return where(a > 3, h, h + 0); }),
                   dsl::state(x), 300),
      dsl::overflow_error);
#endif
  const auto greatest = [](auto a, auto b) { return max(a, b); };
  EXPECT_THROW(dsl::reduce(greatest, 300)(x), dsl::overflow_error);
  EXPECT_THROW(dsl::scan(greatest, -1)(x), dsl::overflow_error);
  EXPECT_EQ(x.copy_to_host(), (std::vector<std::uint8_t>{44, 1, 255}));
  dsl::iterate(3, adds, dsl::state(x), 3);
  EXPECT_EQ(x.copy_to_host(), (std::vector<std::uint8_t>{53, 10, 8}));
  try {
    (void)(x - 300);
  } catch (const dsl::error& e) {
    EXPECT_STREQ(e.what(),
                 "the integer 300 is out of bounds for uint8, the dtype that it is computed with");
  }
}

TEST_P(scalar_range, arrays_of_both_signs_compare_exactly) {
  std::mt19937_64 random(5);
  std::vector<std::int64_t> a;
  std::vector<std::uint64_t> b;
  for (const std::int64_t p : around_the_ends<std::int64_t>(random))
    for (const std::uint64_t q : around_the_ends<std::uint64_t>(random)) {
      a.push_back(p);
      b.push_back(q);
    }
  evaluated(all_comparisons{}, b, a).check([&](const std::vector<int>& got) {
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(got[i], expected_bits(a[i], b[i])) << a[i] << ' ' << b[i];
  });
}

TEST_P(scalar_range, infinity_is_a_number) {
  const float infinite = std::numeric_limits<float>::infinity();
  const std::vector<float> given{1, infinite, -infinite, 3e38f};
  evaluated(
      [](auto v) { return std::tuple{where(v < dsl::inf, v, 0), dsl::cast<int>(v == -dsl::inf)}; },
      given)
      .check([=](const auto& finite, const auto& least) {
        EXPECT_EQ(finite, (std::vector<float>{1, 0, -infinite, 3e38f}));
        EXPECT_EQ(least, (std::vector<int>{0, 0, 1, 0}));
      });
  evaluated([](auto v) { return std::tuple{dsl::cast<int>(v == dsl::inf)}; },
            std::vector<int>{0x7fffffff})
      .check([](const auto& equal) { EXPECT_EQ(equal, std::vector<int>{0}); });
#if defined(COMPILED_FORMULAS)
  EXPECT_EQ(dsl::norm<dsl::inf>(dsl::to_device(given)).value(), infinite);
#endif
}

}  // namespace

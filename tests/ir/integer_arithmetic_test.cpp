// Integers at the ends of their range. Overflow in a constant expression does not compile, so these
// tests do not depend on the optimiser.
#include <gtest/gtest.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include <dsl/ir/arithmetic.hpp>

namespace {

namespace math = dsl::detail::math;

template <class T>
constexpr bool divides_at_the_ends() {
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max(),
              minus_one = -1;
  return math::divide(least, minus_one) == least && math::fmod(least, minus_one) == 0 &&
         math::floor_divide(least, minus_one) == least && math::remainder(least, minus_one) == 0 &&
         math::divide(most, minus_one) == -most && math::reciprocal(minus_one) == -1 &&
         math::divide(least, T(0)) == 0 && math::fmod(most, T(0)) == 0 &&
         math::floor_divide(least, T(0)) == 0 && math::remainder(most, T(0)) == 0 &&
         math::floor_divide(least, most) == -2 && math::remainder(least, most) == most - 1 &&
         math::floor_divide(T(-6), T(3)) == -2 && math::remainder(T(-6), T(4)) == 2;
}

template <class T>
constexpr bool wraps_at_the_ends() {
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  return math::add(most, T(1)) == least && math::subtract(least, T(1)) == most &&
         math::multiply(least, T(-1)) == least && math::negative(least) == least &&
         math::abs(least) == least && math::pow(most, T(2)) == 1 && math::pow(T(-1), least) == 1 &&
         math::pow(T(2), T(-1)) == 0 && math::gcd(least, T(0)) == least &&
         math::lcm(least, T(0)) == 0;
}

template <class T>
constexpr bool shifts_everything_out() {
  constexpr T least = std::numeric_limits<T>::min(), bits = 8 * sizeof(T);
  return math::left_shift(T(1), T(bits - 1)) == least && math::left_shift(T(-1), bits) == 0 &&
         math::left_shift(T(1), T(-1)) == 0 && math::right_shift(least, T(bits - 1)) == -1 &&
         math::right_shift(least, bits) == -1 && math::right_shift(T(1), T(-1)) == 0;
}

// Division by a divisor shared by many numbers equals division by a single one.
template <class T>
constexpr bool is_divided_alike(T a, T b) {
  const math::shared_divisor<T> shared(b);
  return math::divide(a, shared) == math::divide(a, b) &&
         math::fmod(a, shared) == math::fmod(a, b) &&
         math::floor_divide(a, shared) == math::floor_divide(a, b) &&
         math::remainder(a, shared) == math::remainder(a, b);
}
// Numbers at the ends, around zero and around powers of two.
template <class T>
std::vector<T> edges() {
  std::vector<T> found;
  for (int bit = 0; bit < static_cast<int>(8 * sizeof(T)); ++bit)
    for (int next = -3; next <= 3; ++next)
      for (const int sign : {1, -1})
        found.push_back(
            static_cast<T>(static_cast<std::uint64_t>(sign) *
                           ((std::uint64_t{1} << bit) + static_cast<std::uint64_t>(next))));
  return found;
}
template <class T>
void expect_divided_alike() {
  const std::vector<T> ends = edges<T>();
  std::mt19937_64 engine(8 * sizeof(T));
  std::vector<T> divisors = ends;
  for (int i = 0; i < (sizeof(T) == 1 ? 0 : 1000); ++i)
    divisors.push_back(static_cast<T>(engine() >> engine() % (8 * sizeof(T))));
  for (const T b : divisors) {
    for (const T a : ends) ASSERT_TRUE(is_divided_alike(a, b)) << +a << ' ' << +b;
    for (int i = 0; i < 200; ++i) {
      const T a = static_cast<T>(engine() >> engine() % (8 * sizeof(T))),
              multiple = static_cast<T>(math::multiply(math::divide(a, b), b));
      for (const T near : {a, multiple, math::subtract(multiple, T(1)), math::add(multiple, T(1))})
        ASSERT_TRUE(is_divided_alike(near, b)) << +near << ' ' << +b;
    }
  }
}
template <class T>
void expect_all_divided_alike() {
  for (int a = std::numeric_limits<T>::min(); a <= std::numeric_limits<T>::max(); ++a)
    for (int b = std::numeric_limits<T>::min(); b <= std::numeric_limits<T>::max(); ++b)
      ASSERT_TRUE(is_divided_alike(static_cast<T>(a), static_cast<T>(b))) << a << ' ' << b;
}
TEST(integers, are_divided_by_what_many_share) {
  expect_all_divided_alike<std::int8_t>();
  expect_all_divided_alike<std::uint8_t>();
  expect_divided_alike<std::int16_t>();
  expect_divided_alike<std::uint16_t>();
  expect_divided_alike<std::int32_t>();
  expect_divided_alike<std::uint32_t>();
  expect_divided_alike<std::int64_t>();
  expect_divided_alike<std::uint64_t>();
}
static_assert(is_divided_alike(std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}) &&
              is_divided_alike(-7, 0) &&
              is_divided_alike(~std::uint64_t{0}, ~std::uint64_t{0} - 1) &&
              is_divided_alike(std::int8_t{-128}, std::int8_t{-1}));

template <class T, class Real>
constexpr bool takes_what_is_out_of_range() {
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  return math::convert<T>(math::quiet_nan<Real>) == 0 &&
         math::convert<T>(math::infinity<Real>) == most &&
         math::convert<T>(-math::infinity<Real>) == least && math::convert<T>(Real(1e30)) == most &&
         math::convert<T>(Real(-1e30)) == least &&
         math::convert<T>(Real(-1.5)) == (least < 0 ? T(-1) : T(0));
}

template <class T>
constexpr bool is_sound() {
  return divides_at_the_ends<T>() && wraps_at_the_ends<T>() && shifts_everything_out<T>();
}
static_assert(is_sound<std::int8_t>() && is_sound<std::int16_t>() && is_sound<std::int32_t>() &&
              is_sound<std::int64_t>());

template <class T>
constexpr bool is_converted_to() {
  return takes_what_is_out_of_range<T, float>() && takes_what_is_out_of_range<T, double>();
}
static_assert(is_converted_to<std::int8_t>() && is_converted_to<std::int16_t>() &&
              is_converted_to<std::int32_t>() && is_converted_to<std::int64_t>());
static_assert(is_converted_to<std::uint8_t>() && is_converted_to<std::uint16_t>() &&
              is_converted_to<std::uint32_t>() && is_converted_to<std::uint64_t>());

// The same code, after optimisation.
template <class T>
void expect_at_run_time() {
  EXPECT_TRUE(divides_at_the_ends<T>());
  EXPECT_TRUE(wraps_at_the_ends<T>());
  EXPECT_TRUE(shifts_everything_out<T>());
  EXPECT_TRUE((takes_what_is_out_of_range<T, float>()));
  EXPECT_TRUE((takes_what_is_out_of_range<T, double>()));
}
TEST(integers, at_the_ends_of_their_range) {
  expect_at_run_time<std::int8_t>();
  expect_at_run_time<std::int16_t>();
  expect_at_run_time<std::int32_t>();
  expect_at_run_time<std::int64_t>();
}

// Numbers whose conversion to another type is at its limits: the ends of the range, and around the
// largest consecutive integers of float and double.
template <class T>
std::vector<T> hard_numbers() {
  using limits = std::numeric_limits<T>;
  std::vector<T> all{T(0), T(1), limits::lowest(), limits::max()};
  if constexpr (std::floating_point<T>) {
    for (const int exponent : {0, 7, 8, 15, 16, 24, 31, 32, 53, 63, 64})
      for (const T x : {std::ldexp(T(1), exponent), -std::ldexp(T(1), exponent)})
        all.insert(all.end(), {x, std::nextafter(x, T(0)), std::nextafter(x, 2 * x), x + T(0.5)});
    all.insert(all.end(), {limits::infinity(), -limits::infinity(), limits::quiet_NaN(),
                           limits::denorm_min(), -T(0)});
  } else if constexpr (!std::same_as<T, bool>) {
    all.insert(all.end(), {T(limits::max() - 1), T(limits::lowest() + 1), T(-1), T(2)});
    for (const int exponent : {24, 31, 32, 53, 62})
      if (exponent < limits::digits)
        for (const int more : {-1, 0, 1})
          all.push_back(static_cast<T>((T(1) << exponent) + T(more)));
  }
  return all;
}
template <class A, class B>
void compare_exactly() {
  for (const A a : hard_numbers<A>())
    for (const B b : hard_numbers<B>())
      ASSERT_EQ(math::exactly_less(a, b), static_cast<long double>(a) < static_cast<long double>(b))
          << +a << " < " << +b;
}
template <class A, class... B>
void compare_with_all(std::tuple<B...>) {
  (compare_exactly<A, B>(), ...);
}

TEST(integers, compare_exactly_with_all_numbers) {
  static_assert(std::numeric_limits<long double>::digits >= 64, "which holds all of these numbers");
  using all = std::tuple<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                         std::uint16_t, std::uint32_t, std::uint64_t, float, double>;
  std::apply([](auto... a) { (compare_with_all<decltype(a)>(all{}), ...); }, all{});
}

}  // namespace

// Floating point numbers: parts, neighbours and extremes; some are also computed at compile time.
#include <gtest/gtest.h>

#include <limits>

#include <dsl/ir/complex_math.hpp>

namespace {

namespace math = dsl::detail::math;
using dsl::dtype;

template <class T> constexpr bool same(T a, T b) {
  return math::to_integer(a) == math::to_integer(b);
}

// Normal numbers, subnormal numbers, powers of two and both zeros.
template <class T>
bool is_put_together_from_its_parts() {
  constexpr T tiny = std::numeric_limits<T>::denorm_min(), small = std::numeric_limits<T>::min(),
              large = std::numeric_limits<T>::max();
  for (const T x : {T(1), T(-0.75), T(10), small, small - tiny, tiny, T(-3) * tiny, large, -large,
                    T(0), -T(0)}) {
    const T mantissa = math::frexp_mantissa(x);
    const bool in_range =
        x == 0 ? same(mantissa, x) : math::abs(mantissa) >= T(0.5) && math::abs(mantissa) < 1;
    if (!in_range || !same(math::ldexp(mantissa, math::frexp_exponent(x)), x)) return false;
  }
  return math::frexp_exponent(T(8)) == 4 &&
         math::frexp_exponent(tiny) == 2 - math::layout<T>::bias - math::layout<T>::digits &&
         math::frexp_exponent(T(0)) == 0;
}

template <class T>
bool is_rounded_once() {
  constexpr int least =
      1 - math::layout<T>::bias - math::layout<T>::digits;  // 2^least is the smallest number
  constexpr T tiny = std::numeric_limits<T>::denorm_min();
  return same(math::ldexp(T(1), least), tiny) && same(math::ldexp(T(0.5), least), T(0)) &&
         same(math::ldexp(T(1.5), least), 2 * tiny) && same(math::ldexp(T(-0.75), least), -tiny) &&
         same(math::ldexp(tiny, -least), T(1)) && math::isinf(math::ldexp(T(1), 100'000));
}

template <class T>
constexpr bool nan_wins_or_loses() {
  constexpr T nan = math::quiet_nan<T>, inf = math::infinity<T>;
  return math::isnan(math::min(nan, T(1))) && math::isnan(math::min(T(1), nan)) &&
         math::isnan(math::max(nan, inf)) && math::isnan(math::max(-inf, nan)) &&
         math::fmin(nan, T(1)) == 1 && math::fmin(T(1), nan) == 1 &&
         math::fmax(nan, -inf) == -inf && math::fmax(-inf, nan) == -inf &&
         math::min(T(1), T(2)) == 1 && math::max(T(1), T(2)) == 2 && math::isnan(math::sign(nan)) &&
         math::sign(-inf) == -1;
}

static_assert(nan_wins_or_loses<float>() && nan_wins_or_loses<double>());

// The neighbours of zero and of powers of two, in both directions.
template <dtype D>
constexpr bool has_neighbours() {
  using T = dsl::detail::value_t<D>;
  constexpr T after = math::nextafter<D>(T(1), T(2)), before = math::nextafter<D>(T(1), T(0)),
              tiny = math::nextafter<D>(T(0), T(1));
  return after - 1 == 2 * (1 - before) && tiny > 0 && same(math::nextafter<D>(tiny, T(0)), T(0)) &&
         same(math::nextafter<D>(-tiny, T(0)), -T(0)) &&
         math::nextafter<D>(-T(0), T(-1)) == -tiny &&
         same(math::nextafter<D>(T(0), -T(0)), -T(0)) &&
         math::isinf(math::nextafter<D>(T(math::largest<D>), math::infinity<T>)) &&
         math::nextafter<D>(-math::infinity<T>, T(0)) == -T(math::largest<D>) &&
         math::isnan(math::nextafter<D>(T(1), math::quiet_nan<T>));
}
#if !defined(__clang__)  // clang computes no NaN in a constant expression
static_assert(has_neighbours<dtype::float16>() && has_neighbours<dtype::bfloat16>() &&
              has_neighbours<dtype::float32>() && has_neighbours<dtype::float64>());
#endif

TEST(floating_point, parts_neighbours_and_extremes) {
  EXPECT_TRUE(is_put_together_from_its_parts<float>() && is_put_together_from_its_parts<double>());
  EXPECT_TRUE(is_rounded_once<float>() && is_rounded_once<double>());
  EXPECT_TRUE(nan_wins_or_loses<float>() && nan_wins_or_loses<double>());
  EXPECT_TRUE(has_neighbours<dtype::float16>() && has_neighbours<dtype::bfloat16>() &&
              has_neighbours<dtype::float32>() && has_neighbours<dtype::float64>());
}

// The imaginary part of a root has the sign of the operand's, also for a zero.
TEST(floating_point, roots_of_complex_numbers_stay_on_their_side) {
  for (const double re : {-4.0, -1e-300, 0.0, 2.0})
    for (const double im : {0.0, 1e-300, 3.0}) {
      const auto above = math::sqrt(dsl::detail::complex_value<double>{re, im}),
                 below = math::sqrt(dsl::detail::complex_value<double>{re, -im});
      EXPECT_GE(above.re, 0);
      EXPECT_FALSE(math::signbit(above.im)) << re << ' ' << im;
      EXPECT_TRUE(same(below.re, above.re) && same(below.im, -above.im)) << re << ' ' << im;
    }
}

}  // namespace

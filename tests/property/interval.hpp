// Interval arithmetic: all values that a real operation may return, correctly rounded or within a
// function's error, contracted into an fma or not.
#pragma once

#include "dtypes.hpp"

namespace property {

/// 64 significant bits: a double operation's exact result, as far as an error of half a unit in the
/// last place asks for it.
using real = long double;

/// NaN, a range [low, high] without NaN, or anything. Bounds may be infinite; -0 lies below +0. A
/// point is known to the bit.
struct interval {
  enum class state : std::uint8_t { anything, nan, range };
  state is = state::anything;
  real low = 0, high = 0;

  static interval anything() { return {}; }
  static interval nan() { return {state::nan}; }
  static interval of(real low, real high) { return {state::range, low, high}; }
  static interval point(real x);

  bool is_nan() const { return is == state::nan; }
  bool is_range() const { return is == state::range; }
  bool is_point() const;
  bool contains(real x) const { return is_range() && low <= x && x <= high; }
};

/// A truth value, which is open if intervals overlap.
enum class truth : std::int8_t { no, yes, open };
inline truth known(bool b) { return b ? truth::yes : truth::no; }
truth operator!(truth a);
truth operator&(truth a, truth b);
truth operator|(truth a, truth b);

interval hull(const interval& a, const interval& b);

/// To nearest, ties to even, with the overflow and the subnormal numbers of a real dtype.
real round_to(dtype format, real x);
interval round_to(dtype format, const interval& a);

/// Values beyond the largest number become infinite, unless the product was contracted with an
/// addition that brought them back into range.
interval settle(dtype format, const interval& a);

// In the precision of a real dtype: float for the 16-bit ones. An exact result is a point,
// contracted or not.
interval add(dtype format, const interval& a, const interval& b);
interval subtract(dtype format, const interval& a, const interval& b);
interval multiply(dtype format, const interval& a, const interval& b);
interval divide(dtype format, const interval& a, const interval& b);
interval sqrt(dtype format, const interval& a);

interval fma(dtype format, const interval& a, const interval& b, const interval& c);
interval floor_divide(dtype format, const interval& a, const interval& b);
interval remainder(dtype format, const interval& a, const interval& b);
interval fmod(dtype format, const interval& a, const interval& b);

// Functions, within a few units in the last place.
interval pow(dtype format, const interval& a, const interval& b);
interval atan2(dtype format, const interval& y, const interval& x);
interval hypot(dtype format, const interval& a, const interval& b);
interval sin(dtype format, const interval& a);
interval cos(dtype format, const interval& a);
interval tan(dtype format, const interval& a);
interval cosh(dtype format, const interval& a);
using function = real (*)(real);
/// A function that is monotonic from `from` to `to` and NaN outside.
interval monotone(dtype format, const interval& a, function f, real from, real to);

// Exact.
interval step(const interval& a, function f);  // floor, ceil and the like
interval negate(const interval& a);
interval abs(const interval& a);
interval sign(const interval& a);
interval copysign(const interval& a, const interval& b);
interval min(const interval& a, const interval& b);
interval max(const interval& a, const interval& b);
interval fmin(const interval& a, const interval& b);
interval fmax(const interval& a, const interval& b);
truth less(const interval& a, const interval& b);
truth less_equal(const interval& a, const interval& b);
truth equal(const interval& a, const interval& b);
truth is_nan(const interval& a);
truth is_infinite(const interval& a);
truth has_sign(const interval& a);

enum class complex_function : std::uint8_t { exp, log, sqrt, sin, cos };
/// The error is bounded relative to the value's modulus.
void apply_complex(dtype format, complex_function f, const interval (&z)[2], interval (&result)[2]);

/// The intervals' quotient (a + bi) / (c + di); the error is bounded relative to its modulus.
void divide_complex(dtype format, const interval (&a)[2], const interval (&b)[2],
                    interval (&quotient)[2]);

/// Whether an interval is narrow enough for a check to mean something.
bool is_decided(dtype format, const interval& a);

}  // namespace property

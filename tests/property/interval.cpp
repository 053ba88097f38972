#include "interval.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <initializer_list>
#include <limits>

namespace property {

namespace {

constexpr real infinity = std::numeric_limits<real>::infinity(),
               pi = 3.14159265358979323846264338327950288L;

struct format_info { int digits, lowest_exponent, highest_exponent; };

format_info info(dtype format) {
  switch (format) {
    case dtype::float16: return {11, -14, 15};
    case dtype::bfloat16: return {8, -126, 127};
    case dtype::float32: return {24, -126, 127};
    default: return {53, -1022, 1023};
  }
}
// The dtype in which arithmetic on a dtype is computed.
dtype arithmetic(dtype format) { return format == dtype::float64 ? format : dtype::float32; }
real epsilon(dtype format) { return std::ldexp(real(1), 1 - info(format).digits); }

bool below(real a, real b) {
  return a < b || (a == 0 && b == 0 && std::signbit(a) && !std::signbit(b));
}
real lower(real a, real b) { return below(b, a) ? b : a; }
real upper(real a, real b) { return below(a, b) ? b : a; }

// Widens by an error of `units` in the last place, which does not change a sign.
interval widen(dtype format, interval a, real units, real absolute) {
  if (!a.is_range()) return a;
  const auto error = [&](real x) {
    return std::isfinite(x) ? std::abs(x) * (units * epsilon(format) * 1.001L) + absolute : 0;
  };
  const real low = a.low - error(a.low), high = a.high + error(a.high);
  a.low = !std::signbit(a.low) ? std::max(low, real(0)) : low;
  a.high = std::signbit(a.high) ? std::min(high, -real(0)) : high;
  if (std::signbit(a.high) && a.high == 0) a.high = -real(0);
  return a;
}

real smallest(dtype format) {
  return std::ldexp(real(1), info(format).lowest_exponent - info(format).digits + 1);
}

// The result of +, -, *, / or sqrt.
interval rounded(dtype format, const interval& a) {
  return widen(arithmetic(format), a, 0.5L, smallest(arithmetic(format)));
}

// A function's result. Near the subnormal numbers it may be 0.
interval approximate(dtype format, const interval& a, real units) {
  const dtype f = arithmetic(format);
  if (a.is_point() && (a.low == 0 || std::isinf(a.low))) return a;
  const real tiny = std::ldexp(real(1), info(f).lowest_exponent);
  const bool near_zero =
      a.is_range() && (std::abs(a.low) < 16 * tiny || std::abs(a.high) < 16 * tiny);
  return widen(f, a, units, near_zero ? tiny : 0);
}

bool representable(dtype format, real x) { return round_to(arithmetic(format), x) == x; }

// Whether a * b + c == 0 exactly. Does not use the doubles' fma where it would underflow.
bool vanishes(real a, real b, real c) {
  return (c == 0 || std::abs(c) > 1e-250L) && std::isfinite(c) &&
         std::fma(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c)) == 0;
}

template <class F> interval corners(const interval& a, const interval& b, F f) {
  if (a.is_nan() || b.is_nan()) return interval::nan();
  if (!a.is_range() || !b.is_range()) return interval::anything();
  if (a.is_point() && b.is_point()) return interval::point(f(a.low, b.low));
  real low = infinity, high = -infinity;
  for (const real x : {a.low, a.high})
    for (const real y : {b.low, b.high}) {
      const real r = f(x, y);
      if (std::isnan(r)) return interval::anything();
      low = lower(low, r);
      high = upper(high, r);
    }
  return interval::of(low, high);
}

template <class F> interval increasing(const interval& a, F f) {
  if (!a.is_range()) return a;
  return a.is_point() ? interval::point(f(a.low)) : interval::of(f(a.low), f(a.high));
}

bool unbounded(const interval& a) {
  return a.is_range() && (std::isinf(a.low) || std::isinf(a.high));
}

// A wave's range: f at the ends, and 1 or -1 if a crest or a trough (at phase + 2 pi k) lies
// between them.
template <class F> interval wave(const interval& a, F f, real crest) {
  if (!a.is_range()) return a;
  if (a.is_point()) return interval::point(f(a.low));
  if (unbounded(a)) return interval::anything();
  if (a.high - a.low > 3 || std::abs(a.low) > 1e9L) return interval::of(-1, 1);
  const auto between = [&](real at) {
    return std::floor((a.low - at) / (2 * pi)) != std::floor((a.high - at) / (2 * pi));
  };
  real low = lower(f(a.low), f(a.high)), high = upper(f(a.low), f(a.high));
  if (between(crest)) high = 1;
  if (between(crest + pi)) low = -1;
  return interval::of(low, high);
}

}  // namespace

interval interval::point(real x) { return std::isnan(x) ? nan() : of(x, x); }
bool interval::is_point() const {
  return is_range() && low == high && std::signbit(low) == std::signbit(high);
}

truth operator!(truth a) { return a == truth::open ? a : known(a == truth::no); }
truth operator&(truth a, truth b) {
  if (a == truth::no || b == truth::no) return truth::no;
  return a == truth::yes && b == truth::yes ? truth::yes : truth::open;
}
truth operator|(truth a, truth b) { return !((!a) & (!b)); }

interval hull(const interval& a, const interval& b) {
  if (a.is_nan() && b.is_nan()) return a;
  if (!a.is_range() || !b.is_range()) return interval::anything();
  return interval::of(lower(a.low, b.low), upper(a.high, b.high));
}

real round_to(dtype format, real x) {
  if (format == dtype::float64) return static_cast<double>(x);
  if (format == dtype::float32) return static_cast<float>(x);
  if (x == 0 || !std::isfinite(x)) return x;
  const format_info f = info(format);
  const int unit = std::max(std::ilogb(x), f.lowest_exponent) - f.digits + 1;
  const real r = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  return std::abs(r) >= std::ldexp(real(1), f.highest_exponent + 1) ? std::copysign(infinity, x)
                                                                    : r;
}
interval round_to(dtype format, const interval& a) {
  return a.is_range() ? interval::of(round_to(format, a.low), round_to(format, a.high)) : a;
}

interval settle(dtype format, const interval& a) {
  if (!a.is_range()) return a;
  const format_info f = info(arithmetic(format));
  const real limit = std::ldexp(2 - std::ldexp(real(1), 1 - f.digits), f.highest_exponent),
             half_unit = std::ldexp(real(1), f.highest_exponent - f.digits);
  interval s = a;
  if (s.low >= limit + half_unit) s.low = infinity;
  if (s.high > limit) s.high = infinity;
  if (s.high <= -limit - half_unit) s.high = -infinity;
  if (s.low < -limit) s.low = -infinity;
  return s;
}

interval add(dtype format, const interval& a, const interval& b) {
  const interval sum = corners(a, b, [](real x, real y) { return x + y; });
  if (!sum.is_point() || !a.is_point() || !b.is_point()) return rounded(format, sum);
  const real s = sum.low, from_b = s - a.low,
             error = (a.low - (s - from_b)) + (b.low - from_b);  // D. Knuth's TwoSum
  return std::isinf(s) || (error == 0 && representable(format, s)) ? sum : rounded(format, sum);
}
interval subtract(dtype format, const interval& a, const interval& b) {
  return add(format, a, negate(b));
}

interval multiply(dtype format, const interval& a, const interval& b) {
  const interval product = corners(a, b, [](real x, real y) { return x * y; });
  const bool points = a.is_point() && b.is_point();
  if (!points && ((unbounded(a) && b.contains(0)) || (unbounded(b) && a.contains(0))))
    return interval::anything();
  if (!points || !product.is_point()) return rounded(format, product);
  const real p = product.low;
  const bool exact =
      std::isinf(p) || (representable(format, p) &&
                        (arithmetic(format) == dtype::float32 || vanishes(a.low, b.low, -p)));
  return exact ? product : rounded(format, product);
}

interval divide(dtype format, const interval& a, const interval& b) {
  const interval quotient = corners(a, b, [](real x, real y) { return x / y; });
  const bool points = a.is_point() && b.is_point();
  if (!points && b.contains(0) && a.is_range() && (!b.is_point() || a.contains(0)))
    return interval::anything();
  if (!points || !quotient.is_point()) return rounded(format, quotient);
  const real q = quotient.low;
  const bool exact =
      std::isinf(q) || b.low == 0 || std::isinf(b.low) ||
      (representable(format, q) &&
       (arithmetic(format) == dtype::float32 ? q * b.low == a.low : vanishes(q, b.low, -a.low)));
  return exact ? quotient : rounded(format, quotient);
}

interval sqrt(dtype format, const interval& a) {
  if (a.is_range() && a.high < 0) return interval::nan();
  if (a.is_range() && a.low < 0) return interval::anything();
  const interval root = increasing(a, [](real x) { return std::sqrt(x); });
  if (!root.is_point()) return rounded(format, root);
  const real r = root.low;
  return std::isinf(r) || (representable(format, r) && r * r == a.low) ? root
                                                                       : rounded(format, root);
}

interval fma(dtype format, const interval& a, const interval& b, const interval& c) {
  const interval product = corners(a, b, [](real x, real y) { return x * y; }),
                 sum = corners(product, c, [](real x, real y) { return x + y; });
  if (((unbounded(a) && b.contains(0)) || (unbounded(b) && a.contains(0))) && !product.is_point())
    return interval::anything();
  if (!sum.is_range()) return sum;
  // A product of two doubles has more digits than `real`.
  const real size = std::max(std::abs(product.low), std::abs(product.high)),
             inexact =
                 arithmetic(format) == dtype::float64 && std::isfinite(size) ? size * 0x1p-62L : 0;
  return widen(arithmetic(format), sum, 0.5L, smallest(arithmetic(format)) + inexact);
}

// Points are exact: fmod is, and a - fmod(a, b) is a multiple of b.
interval fmod(dtype format, const interval& a, const interval& b) {
  if (a.is_nan() || b.is_nan()) return interval::nan();
  if (a.is_point() && b.is_point()) return interval::point(std::fmod(a.low, b.low));
  const interval times = step(divide(format, a, b), [](real x) { return std::trunc(x); });
  if (!times.is_point() || unbounded(times) || unbounded(b)) return interval::anything();
  return subtract(format, a, multiply(dtype::float64, times, b));
}

interval remainder(dtype format, const interval& a, const interval& b) {
  if (a.is_nan() || b.is_nan()) return interval::nan();
  if (a.is_point() && b.is_point()) {
    const real rest = std::fmod(a.low, b.low);
    if (rest == 0) return interval::point(std::copysign(rest, b.low));
    return std::isnan(rest) || (rest < 0) == (b.low < 0) ? interval::point(rest)
                                                         : add(format, interval::point(rest), b);
  }
  const interval times = step(divide(format, a, b), [](real x) { return std::floor(x); });
  if (!times.is_point() || unbounded(times) || unbounded(b)) return interval::anything();
  if (a.is_point() && a.low == 0)
    return b.contains(0) ? interval::anything() : interval::point(std::copysign(real(0), b.low));
  return subtract(format, a, multiply(dtype::float64, times, b));
}

interval floor_divide(dtype format, const interval& a, const interval& b) {
  if (a.is_nan() || b.is_nan()) return interval::nan();
  if (!a.is_range() || !b.is_range()) return interval::anything();
  if (!a.is_point() || !b.is_point()) {
    if (b.contains(0) || unbounded(a) || unbounded(b)) return interval::anything();
    const interval whole = step(divide(format, a, b), [](real x) { return std::floor(x); });
    return rounded(format, whole.contains(0)
                               ? interval::of(std::min(whole.low, -real(0)), whole.high)
                               : whole);
  }
  const real x = a.low, y = b.low, rest = std::fmod(x, y);
  if (y == 0) return interval::point(x / y);
  if (std::isnan(rest)) return interval::nan();
  const real times = std::isinf(y) ? 0 : std::nearbyint((x - rest) / y),
             whole = times - (rest != 0 && (rest < 0) != (y < 0) ? 1 : 0);
  if (whole == 0) return interval::point(std::copysign(real(0), x / y));
  if (std::abs(whole) < std::ldexp(real(1), info(arithmetic(format)).digits - 2))
    return interval::point(whole);
  return widen(arithmetic(format), interval::point(whole), 4, 0);
}

interval monotone(dtype format, const interval& a, function f, real from, real to) {
  if (!a.is_range()) return a;
  if (a.high < from || a.low > to) return interval::nan();
  if (a.low < from || a.high > to) return interval::anything();
  const real x = f(a.low), y = f(a.high);
  return approximate(format,
                     a.is_point() ? interval::point(x) : interval::of(lower(x, y), upper(x, y)), 6);
}

interval cosh(dtype format, const interval& a) {
  return monotone(format, abs(a), [](real x) { return std::cosh(x); }, 0, infinity);
}

interval sin(dtype format, const interval& a) {
  return approximate(format, wave(a, [](real x) { return std::sin(x); }, pi / 2), 4);
}
interval cos(dtype format, const interval& a) {
  return approximate(format, wave(a, [](real x) { return std::cos(x); }, 0), 4);
}

interval tan(dtype format, const interval& a) {
  if (a.is_range() && !a.is_point()) {
    if (unbounded(a) || a.high - a.low > 3 || std::abs(a.low) > 1e9L) return interval::anything();
    if (std::floor((a.low - pi / 2) / pi) != std::floor((a.high - pi / 2) / pi))
      return interval::anything();
  }
  return approximate(format, increasing(a, [](real x) { return std::tan(x); }), 5);
}

interval pow(dtype format, const interval& a, const interval& b) {
  const auto power = [](real x, real y) { return std::pow(x, y); };
  // The two cases in which C99 gives no NaN for a NaN.
  if (a.is_nan() && b.is_range())
    return b.contains(0) ? (b.is_point() ? interval::point(1) : interval::anything()) : a;
  if (b.is_nan() && a.is_range())
    return a.contains(1) ? (a.is_point() ? interval::point(1) : interval::anything()) : b;
  if (a.is_nan() && b.is_nan()) return a;
  if (!a.is_range() || !b.is_range()) return interval::anything();
  if (!(a.is_point() && b.is_point())) {
    if (unbounded(a) || unbounded(b)) return interval::anything();
    if (a.high < 0 && b.is_point()) {
      if (b.low != std::trunc(b.low)) return interval::nan();
      const interval size = pow(format, negate(a), b);
      return std::fmod(b.low, 2) != 0 ? negate(size) : size;
    }
    if (!(a.low > 0)) return interval::anything();
  }
  return approximate(format, corners(a, b, power), 16);
}

interval atan2(dtype format, const interval& y, const interval& x) {
  if (y.is_range() && x.is_range() && !(y.is_point() && x.is_point())) {
    const bool one_side = y.low > 0 || y.high < 0 || x.low > 0;  // neither the origin nor the cut
    if (!one_side || unbounded(y) || unbounded(x)) return interval::anything();
  }
  return approximate(format, corners(y, x, [](real a, real b) { return std::atan2(a, b); }), 4);
}

interval hypot(dtype format, const interval& a, const interval& b) {
  const interval x = abs(a), y = abs(b);
  for (const auto& [one, other] : {std::pair{x, y}, std::pair{y, x}})
    if (one.is_nan() && !other.is_nan() && (!other.is_range() || std::isinf(other.high)))
      return other.is_point() ? other : interval::anything();
  return approximate(format, corners(x, y, [](real p, real q) { return std::hypot(p, q); }), 4);
}

interval step(const interval& a, function f) { return increasing(a, f); }

interval negate(const interval& a) { return a.is_range() ? interval::of(-a.high, -a.low) : a; }

interval abs(const interval& a) {
  if (!a.is_range()) return a;
  const real low = std::abs(a.low), high = std::abs(a.high);
  return interval::of(a.contains(0) ? real(0) : std::min(low, high), std::max(low, high));
}

// The sign of a NaN is open.
truth has_sign(const interval& a) {
  if (!a.is_range() || std::signbit(a.low) != std::signbit(a.high)) return truth::open;
  return known(std::signbit(a.low));
}
truth is_nan(const interval& a) {
  return a.is_nan() ? truth::yes : a.is_range() ? truth::no : truth::open;
}
truth is_infinite(const interval& a) {
  if (!a.is_range()) return a.is_nan() ? truth::no : truth::open;
  return !unbounded(a) ? truth::no : a.low == a.high ? truth::yes : truth::open;
}

interval sign(const interval& a) {
  return increasing(a, [](real x) { return static_cast<real>((x > 0) - (x < 0)); });
}

interval copysign(const interval& a, const interval& b) {
  const interval size = abs(a);
  const truth negative = has_sign(b);
  return negative == truth::open  ? hull(negate(size), size)
         : negative == truth::yes ? negate(size)
                                  : size;
}

// min and max may return either of two zeros.
interval min(const interval& a, const interval& b) {
  if (a.is_nan() || b.is_nan()) return interval::nan();
  if (!a.is_range() || !b.is_range()) return interval::anything();
  const auto has_positive_zero = [](const interval& x) {
    return x.contains(0) && !(x.high == 0 && std::signbit(x.high));
  };
  const bool zeros =
      a.contains(0) && b.contains(0) && (has_positive_zero(a) || has_positive_zero(b));
  const real high = std::min(a.high, b.high);
  return interval::of(lower(a.low, b.low), zeros && high == 0 ? real(0) : high);
}
interval max(const interval& a, const interval& b) { return negate(min(negate(a), negate(b))); }

interval fmin(const interval& a, const interval& b) {
  return a.is_nan() ? b : b.is_nan() ? a : min(a, b);
}
interval fmax(const interval& a, const interval& b) {
  return a.is_nan() ? b : b.is_nan() ? a : max(a, b);
}

truth less(const interval& a, const interval& b) {
  if (a.is_nan() || b.is_nan()) return truth::no;
  if (!a.is_range() || !b.is_range()) return truth::open;
  return a.high < b.low ? truth::yes : a.low >= b.high ? truth::no : truth::open;
}
truth less_equal(const interval& a, const interval& b) {
  if (a.is_nan() || b.is_nan()) return truth::no;
  return !less(b, a);
}
truth equal(const interval& a, const interval& b) { return less_equal(a, b) & less_equal(b, a); }

void divide_complex(dtype format, const interval (&a)[2], const interval (&b)[2],
                    interval (&quotient)[2]) {
  const dtype f = arithmetic(format);
  const auto fail = [&] { quotient[0] = quotient[1] = interval::anything(); };
  real least = 0, most = 0, numerator = 0;
  for (int k = 0; k < 2; ++k) {
    if (!a[k].is_range() || !b[k].is_range() || unbounded(a[k]) || unbounded(b[k])) return fail();
    const interval size = abs(b[k]);
    least = std::hypot(least, size.low);
    most = std::hypot(most, size.high);
    numerator = std::hypot(numerator, abs(a[k]).high);
  }
  // Far from values for which the quotient's intermediate results would overflow.
  const real large = std::ldexp(real(1), info(f).highest_exponent / 4);
  if (least < 1 / large || most > large || numerator > large) return fail();
  const auto product = [](const interval& x, const interval& y) {
    return corners(x, y, [](real p, real q) { return p * q; });
  };
  const auto sum = [](const interval& x, const interval& y) {
    return corners(x, y, [](real p, real q) { return p + q; });
  };
  const interval parts[] = {sum(product(a[0], b[0]), product(a[1], b[1])),
                            sum(product(a[1], b[0]), negate(product(a[0], b[1])))};
  const interval square = interval::of(least * least * (1 - 1e-17L), most * most * (1 + 1e-17L));
  const real error = 8 * epsilon(f) * numerator / least + smallest(f);
  for (int k = 0; k < 2; ++k) {
    const interval q = corners(parts[k], square, [](real p, real s) { return p / s; });
    quotient[k] = interval::of(q.low - error, q.high + error);
  }
}

void apply_complex(dtype format, complex_function f, const interval (&z)[2],
                   interval (&result)[2]) {
  const dtype g = arithmetic(format);
  result[0] = result[1] = interval::anything();
  for (const interval& part : z)
    if (!part.is_range() || unbounded(part) || std::abs(part.low) > 1e15L) return;
  using complex = std::complex<real>;
  const complex middle((z[0].low + z[0].high) / 2, (z[1].low + z[1].high) / 2);
  const real radius = std::hypot(z[0].high - z[0].low, z[1].high - z[1].low) / 2 +
                      std::abs(middle) * 0x1p-62L,
             size = std::abs(middle);
  const bool at_cut =
      z[0].low <= 0 && z[1].contains(0) && !(z[1].is_point() && z[1].low == 0 && z[0].high < 0);
  if (radius > 1 || ((f == complex_function::log || f == complex_function::sqrt) &&
                     (at_cut || 2 * radius > size)))
    return;
  complex value;
  real moves = 0;  // how far the value moves within the radius
  switch (f) {
    case complex_function::exp:
      value = std::exp(middle);
      moves = std::abs(value) * 2 * radius;
      break;
    case complex_function::log:
      value = std::log(middle);
      moves = 2 * radius / size;
      break;
    case complex_function::sqrt:
      value = std::sqrt(middle);
      moves = 2 * radius / std::sqrt(size);
      break;
    case complex_function::sin:
      value = std::sin(middle);
      moves = std::cosh(std::abs(middle.imag()) + radius) * 2 * radius;
      break;
    case complex_function::cos:
      value = std::cos(middle);
      moves = std::cosh(std::abs(middle.imag()) + radius) * 2 * radius;
      break;
  }
  if (!(std::abs(value) < std::ldexp(real(1), info(g).highest_exponent))) return;
  const real tiny = std::ldexp(real(1), info(g).lowest_exponent),
             scale =
                 f == complex_function::log ? std::max(real(1), std::abs(value)) : std::abs(value);
  const real error = moves + 8 * epsilon(g) * scale + tiny;
  // On an axis a part may be zero; it then is exact, with the sign that C99 specifies.
  const bool points = z[0].is_point() && z[1].is_point();
  const auto around = [&](real part) {
    return points && part == 0 ? interval::point(part) : interval::of(part - error, part + error);
  };
  result[0] = around(value.real());
  result[1] = around(value.imag());
}

bool is_decided(dtype format, const interval& a) {
  if (!a.is_range()) return a.is_nan();
  if (a.low == a.high) return true;
  const real bound = std::ldexp(real(1), format == dtype::float64   ? -36
                                         : format == dtype::float32 ? -10
                                         : format == dtype::float16 ? -8
                                                                    : -5);
  return a.high - a.low <= bound * std::max(real(1), std::abs(a.low));
}

}  // namespace property

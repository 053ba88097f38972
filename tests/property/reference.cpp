#include "reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace property {

namespace {

template <class T> T bytes_as(const void* at) {
  T x;
  std::memcpy(&x, at, sizeof x);
  return x;
}

real decode16(std::uint16_t bits, int fraction_bits, int bias) {
  const int exponent = (bits & 0x7fff) >> fraction_bits,
            fraction = bits & ((1 << fraction_bits) - 1), all = 0x7fff >> fraction_bits;
  const real sign = bits >> 15 != 0 ? -1 : 1;
  if (exponent == all) return fraction != 0 ? std::nanl("") : sign * HUGE_VALL;
  if (exponent == 0) return sign * std::ldexp(real(fraction), 1 - bias - fraction_bits);
  return sign * std::ldexp(real(fraction + (1 << fraction_bits)), exponent - bias - fraction_bits);
}

real read_real(dtype type, const void* at) {
  switch (type) {
    case dtype::float16: return decode16(bytes_as<std::uint16_t>(at), 10, 15);
    case dtype::bfloat16: return decode16(bytes_as<std::uint16_t>(at), 7, 127);
    case dtype::float32: return bytes_as<float>(at);
    default: return bytes_as<double>(at);
  }
}

value make(dtype type, const interval& a, const interval& b = interval::point(0)) {
  value v{type};
  v.part[0] = a;
  if (kind_of(type) == kind::complex)
    v.part[1] = b;  // a real number's stays 0, also if it is infinite
  return v;
}

truth as_truth(const value& v) {
  if (kind_of(v.type) <= kind::integer) return v.is_known ? known(v.bits != 0) : truth::open;
  const dtype format = part_of(v.type);
  const truth re = !equal(settle(format, v.part[0]), interval::point(0));
  return kind_of(v.type) == kind::real ? re
                                       : re | !equal(settle(format, v.part[1]), interval::point(0));
}

// A conversion to a 16-bit dtype may round to float first, as arithmetic on these dtypes does.
interval rounded_real(dtype to, const interval& a) {
  const interval direct = round_to(to, a);
  return bytes_of(to) == 2 ? hull(direct, round_to(to, round_to(dtype::float32, a))) : direct;
}

interval convert_real(dtype to, dtype from, const interval& a) {
  const interval settled = settle(from, a);
  // Intermediate values of the 16-bit dtypes are float: a cast from one to itself may round or do
  // nothing.
  if (to == from) return bytes_of(to) == 2 ? hull(settled, round_to(to, settled)) : a;
  return rounded_real(to, settled);
}

value convert(const value& v, dtype to) {
  const kind have = kind_of(v.type), want = kind_of(to);
  if (to == v.type && bytes_of(to) != 2) return v;
  if (want == kind::boolean) return value::of(as_truth(v));
  if (want == kind::integer) {
    if (have <= kind::integer)
      return v.is_known ? value::integer(to, v.exact()) : value::unknown(to);
    const interval a = settle(v.type, v.part[0]);
    const int bits = 8 * bytes_of(to);
    const real low = is_signed_integer(to) ? -std::ldexp(real(1), bits - 1) : 0,
               high = std::ldexp(real(1), is_signed_integer(to) ? bits - 1 : bits);
    if (a.is_nan()) return value::integer(to, 0);
    if (!a.is_range()) return value::unknown(to);
    const auto within = [&](real x) {
      return static_cast<__int128>(std::clamp(std::trunc(x), low, high - 1));
    };
    return within(a.low) == within(a.high) ? value::integer(to, within(a.low)) : value::unknown(to);
  }
  if (have <= kind::integer) {
    const interval exact =
        v.is_known ? interval::point(static_cast<real>(v.exact())) : interval::anything();
    return make(to, rounded_real(part_of(to), exact));
  }
  value c{to};
  const int parts = want == kind::complex && have == kind::complex ? 2 : 1;
  for (int k = 0; k < parts; ++k) c.part[k] = convert_real(part_of(to), part_of(v.type), v.part[k]);
  return c;
}

__int128 magnitude(__int128 x) { return x < 0 ? -x : x; }

// Wraps where the dtype does. Everything except division and comparison can be computed on the
// operands' 128 bits.
value whole_number(operation what, dtype type, const value& a, const value& b) {
  if (!a.is_known || !b.is_known) return value::unknown(type);
  using wide = unsigned __int128;
  const bool truths = type == dtype::boolean;
  __int128 x = a.exact(), y = b.exact();
  const int bits = 8 * bytes_of(type);
  const auto give = [type](auto result) {
    return value::integer(type, static_cast<__int128>(result));
  };
  switch (what) {
    case operation::add: return give(truths ? x | y : x + y);
    case operation::subtract: return give(x - y);
    case operation::multiply: return give(wide(x) * wide(y));
    case operation::divide: return give(y == 0 ? 0 : x / y);
    case operation::modulus:
    case operation::fmod: return give(y == 0 ? 0 : x % y);
    case operation::floor_divide:
      return give(y == 0 ? 0 : x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0));
    case operation::remainder:
      return give(y == 0 ? 0 : x % y != 0 && (x < 0) != (y < 0) ? x % y + y : x % y);
    case operation::bitwise_and: return give(x & y);
    case operation::bitwise_or: return give(x | y);
    case operation::bitwise_xor: return give(x ^ y);
    // A shift by at least the width, or by a negative number, gives zeros, or copies of the sign.
    case operation::left_shift:
      return give(y < 0 || y >= bits ? wide(0) : wide(x) << static_cast<int>(y));
    case operation::right_shift: return give(x >> static_cast<int>(y < 0 || y >= bits ? bits : y));
    case operation::gcd: {
      for (x = magnitude(x), y = magnitude(y); y != 0; std::swap(x, y)) x %= y;
      return give(x);
    }
    case operation::min:
    case operation::fmin: return give(x < y ? x : y);
    case operation::max:
    case operation::fmax: return give(x < y ? y : x);
    case operation::pow: {  // the reciprocal of a negative one is truncated
      if (y < 0) return give(x == 1 ? 1 : x == -1 ? (y % 2 != 0 ? -1 : 1) : 0);
      std::uint64_t power = 1, square = static_cast<std::uint64_t>(x);
      for (auto left = static_cast<std::uint64_t>(y); left != 0; left >>= 1, square *= square)
        if ((left & 1) != 0) power *= square;
      return give(power);
    }
    case operation::reciprocal: return give(x == 0 ? 0 : 1 / x);
    case operation::square:
    case operation::abs2: return give(wide(x) * wide(x));
    case operation::negative: return give(-x);
    case operation::bitwise_not: return give(truths ? !x : ~x);
    case operation::abs: return give(magnitude(x));
    case operation::sign: return give((x > 0) - (x < 0));
    case operation::imag: return give(0);
    default: return a;  // its own real part, its own floor, ...
  }
}

// The operands are of the result's dtype, or real for a complex one; a real operand has no
// imaginary part, not even 0.
value arithmetic_on_numbers(operation what, dtype type, const value& a, const value& b) {
  const dtype f = part_of(type);
  const bool a_real = kind_of(a.type) == kind::real, b_real = kind_of(b.type) == kind::real;
  const auto settled = [&](const value& v, int k) { return settle(f, v.part[k]); };
  switch (what) {
    case operation::add:
      return make(type, add(f, a.part[0], b.part[0]),
                  a_real   ? b.part[1]
                  : b_real ? a.part[1]
                           : add(f, a.part[1], b.part[1]));
    case operation::subtract:
      return make(type, subtract(f, a.part[0], b.part[0]),
                  a_real   ? negate(b.part[1])
                  : b_real ? a.part[1]
                           : subtract(f, a.part[1], b.part[1]));
    case operation::multiply: {
      const interval ar = settled(a, 0), ai = settled(a, 1), br = settled(b, 0), bi = settled(b, 1);
      if (b_real) return make(type, multiply(f, ar, br), multiply(f, ai, br));
      if (a_real) return make(type, multiply(f, ar, br), multiply(f, ar, bi));
      return make(type, subtract(f, multiply(f, ar, br), multiply(f, ai, bi)),
                  add(f, multiply(f, ar, bi), multiply(f, ai, br)));
    }
    case operation::divide: {
      if (b_real)
        return make(type, divide(f, settled(a, 0), settled(b, 0)),
                    divide(f, settled(a, 1), settled(b, 0)));
      const interval above[] = {settled(a, 0), settled(a, 1)},
                     below[] = {settled(b, 0), settled(b, 1)};
      interval quotient[2];
      divide_complex(f, above, below, quotient);
      return make(type, quotient[0], quotient[1]);
    }
    default: break;
  }
  const interval x = settled(a, 0), y = settled(b, 0);
  switch (what) {
    case operation::floor_divide: return make(type, floor_divide(f, x, y));
    case operation::remainder: return make(type, remainder(f, x, y));
    case operation::fmod: return make(type, fmod(f, x, y));
    case operation::pow: return make(type, pow(f, x, y));
    case operation::copysign: return make(type, copysign(x, y));
    case operation::atan2: return make(type, atan2(f, x, y));
    case operation::hypot: return make(type, hypot(f, x, y));
    case operation::min: return make(type, min(x, y));
    case operation::max: return make(type, max(x, y));
    case operation::fmin: return make(type, fmin(x, y));
    default: return make(type, fmax(x, y));
  }
}

value compare(operation what, const value& a, const value& b) {
  truth is_less, is_equal;
  if (kind_of(a.type) <= kind::integer) {
    const bool both = a.is_known && b.is_known;
    is_less = both ? known(a.exact() < b.exact()) : truth::open;
    is_equal = both ? known(a.exact() == b.exact()) : truth::open;
    switch (what) {
      case operation::equal: return value::of(is_equal);
      case operation::not_equal: return value::of(!is_equal);
      case operation::less: return value::of(is_less);
      case operation::less_equal: return value::of(is_less | is_equal);
      case operation::greater: return value::of(!(is_less | is_equal));
      default: return value::of(!is_less);
    }
  }
  const dtype f = part_of(a.type);
  const interval x = settle(f, a.part[0]), y = settle(f, b.part[0]);
  switch (what) {
    case operation::less: return value::of(less(x, y));
    case operation::less_equal: return value::of(less_equal(x, y));
    case operation::greater: return value::of(less(y, x));
    case operation::greater_equal: return value::of(less_equal(y, x));
    default: break;
  }
  is_equal = equal(x, y) & equal(settle(f, a.part[1]), settle(f, b.part[1]));
  return value::of(what == operation::equal ? is_equal : !is_equal);
}

value ask(operation what, const value& a) {
  const bool number = kind_of(a.type) >= kind::real;
  const interval re = settle(part_of(a.type), a.part[0]), im = settle(part_of(a.type), a.part[1]);
  const truth nan = number ? is_nan(re) | is_nan(im) : truth::no,
              infinite = number ? is_infinite(re) | is_infinite(im) : truth::no;
  switch (what) {
    case operation::isnan: return value::of(nan);
    case operation::isinf: return value::of(infinite);
    case operation::isfinite: return value::of(!(nan | infinite));
    default: break;
  }
  if (number) return value::of(has_sign(re));
  return a.is_known ? value::of(known(a.exact() < 0)) : value::unknown(dtype::boolean);
}

value apply_to_complex(operation what, dtype type, const value& a) {
  const dtype f = part_of(type);
  const interval re = settle(f, a.part[0]), im = settle(f, a.part[1]);
  const auto function = [&](complex_function g) {
    const interval z[] = {re, im};
    interval w[2];
    apply_complex(f, g, z, w);
    return make(type, w[0], w[1]);
  };
  switch (what) {
    case operation::positive: return a;
    case operation::negative: return make(type, negate(a.part[0]), negate(a.part[1]));
    case operation::square: return arithmetic_on_numbers(operation::multiply, type, a, a);
    case operation::reciprocal:
      return arithmetic_on_numbers(operation::divide, type, make(f, interval::point(1)), a);
    case operation::abs: return make(type, hypot(f, re, im));
    case operation::real: return make(type, a.part[0]);
    case operation::imag: return make(type, a.part[1]);
    case operation::conj: return make(type, a.part[0], negate(a.part[1]));
    case operation::abs2:
      return make(type, add(f, multiply(f, abs(re), abs(re)), multiply(f, abs(im), abs(im))));
    case operation::arg: return make(type, atan2(f, im, re));
    case operation::exp: return function(complex_function::exp);
    case operation::log: return function(complex_function::log);
    case operation::sqrt: return function(complex_function::sqrt);
    case operation::sin: return function(complex_function::sin);
    default: return function(complex_function::cos);
  }
}

value apply_to_real(operation what, dtype type, const value& a) {
  const dtype f = part_of(type);
  const interval x = settle(f, a.part[0]);
  const auto stepped = [&](function g) { return make(type, step(x, g)); };
  const auto monotonous = [&](function g, real from = -HUGE_VALL, real to = HUGE_VALL) {
    return make(type, monotone(f, x, g, from, to));
  };
  switch (what) {
    case operation::positive:
    case operation::real:
    case operation::conj: return a;
    case operation::negative: return make(type, negate(a.part[0]));
    case operation::square:
    case operation::abs2: return make(type, multiply(f, abs(x), abs(x)));
    case operation::reciprocal: return make(type, divide(f, interval::point(1), x));
    case operation::abs: return make(type, abs(a.part[0]));
    case operation::imag: return make(type, interval::point(0));
    case operation::arg: return make(type, atan2(f, interval::point(0), x));
    case operation::sign: return make(type, sign(x));
    case operation::floor: return stepped([](real v) { return std::floor(v); });
    case operation::ceil: return stepped([](real v) { return std::ceil(v); });
    case operation::trunc: return stepped([](real v) { return std::trunc(v); });
    case operation::round: return stepped([](real v) { return std::round(v); });
    case operation::rint: return stepped([](real v) { return std::nearbyint(v); });
    case operation::exp: return monotonous([](real v) { return std::exp(v); });
    case operation::exp2: return monotonous([](real v) { return std::exp2(v); });
    case operation::expm1: return monotonous([](real v) { return std::expm1(v); });
    case operation::log: return monotonous([](real v) { return std::log(v); }, 0);
    case operation::log2: return monotonous([](real v) { return std::log2(v); }, 0);
    case operation::log10: return monotonous([](real v) { return std::log10(v); }, 0);
    case operation::log1p: return monotonous([](real v) { return std::log1p(v); }, -1);
    case operation::sqrt: return make(type, sqrt(f, x));
    case operation::cbrt: return monotonous([](real v) { return std::cbrt(v); });
    case operation::sin: return make(type, sin(f, x));
    case operation::cos: return make(type, cos(f, x));
    case operation::tan: return make(type, tan(f, x));
    case operation::asin: return monotonous([](real v) { return std::asin(v); }, -1, 1);
    case operation::acos: return monotonous([](real v) { return std::acos(v); }, -1, 1);
    case operation::atan: return monotonous([](real v) { return std::atan(v); });
    case operation::sinh: return monotonous([](real v) { return std::sinh(v); });
    case operation::cosh: return make(type, cosh(f, x));
    default: return monotonous([](real v) { return std::tanh(v); });
  }
}

value choose(truth condition, const value& yes, const value& no) {
  if (condition != truth::open) return condition == truth::yes ? yes : no;
  if (kind_of(yes.type) <= kind::integer)
    return yes.is_known && no.is_known && yes.bits == no.bits ? yes : value::unknown(yes.type);
  return make(yes.type, hull(yes.part[0], no.part[0]), hull(yes.part[1], no.part[1]));
}

template <class T> value literal_value(const T& literal) { return read(cpp_dtype<T>, &literal); }
}  // namespace

const value& literal_at(int number) {
  static const auto all =
      std::apply([](const auto&... l) { return std::array{literal_value(l)...}; }, literals);
  return all[static_cast<std::size_t>(number)];
}

namespace {

value apply_node(const tree& formula, const node& n, const value* leaves, const value* made) {
  if (n.what == operation::leaf) return leaves[n.number];
  if (n.what == operation::literal) return literal_at(n.number);
  const value *operand[3], zero{};
  typed types[3]{};
  for (int k = 0; k < 3; ++k) operand[k] = k < arity(n.what) ? &made[n.operand[k]] : &zero;
  if (n.what == operation::cast) return convert(*operand[0], n.type.type);
  if (n.what == operation::logical_not) return value::of(!as_truth(*operand[0]));
  if (n.what == operation::logical_and)
    return value::of(as_truth(*operand[0]) & as_truth(*operand[1]));
  if (n.what == operation::logical_xor) {
    const truth x = as_truth(*operand[0]), y = as_truth(*operand[1]);
    return value::of((x & !y) | (y & !x));
  }
  if (n.what == operation::logical_or)
    return value::of(as_truth(*operand[0]) | as_truth(*operand[1]));

  for (int k = 0; k < arity(n.what); ++k) types[k] = formula.nodes[n.operand[k]].type;
  const dtype common = common_of(n.what, types).type;
  const auto brought = [&](const value& v, bool stays_real) {
    const dtype to = stays_real && kind_of(v.type) != kind::complex ? part_of(common) : common;
    return v.type == to ? v : convert(v, to);
  };
  const bool compares = info(n.what).gives == result_rule::truth;
  // NumPy compares integers exactly, whatever their common dtype.
  if (compares && arity(n.what) == 2 && kind_of(types[0].type) <= kind::integer &&
      kind_of(types[1].type) <= kind::integer)
    return compare(n.what, *operand[0], *operand[1]);
  const kind k = kind_of(common);
  const bool whole = k <= kind::integer;
  if (n.what == operation::where)
    return choose(as_truth(*operand[0]), brought(*operand[1], false), brought(*operand[2], false));
  // A bound made of C++ scalars clips nothing if it is beyond the dtype's range.
  value bound[2];
  if (n.what == operation::clip && whole && kind_of(common) == kind::integer)
    for (int i = 1; i < 3; ++i)
      if (types[i].weak && operand[i]->is_known) {
        const __int128 given = operand[i]->exact();
        const int bits = 8 * bytes_of(common);
        const __int128 end =
            i == 1 ? (is_signed_integer(common) ? -(__int128{1} << (bits - 1)) : 0)
                   : (__int128{1} << (is_signed_integer(common) ? bits - 1 : bits)) - 1;
        bound[i - 1] = value::integer(common, i == 1 ? std::max(given, end) : std::min(given, end));
        operand[i] = &bound[i - 1];
      }
  const value a = brought(*operand[0], true), b = brought(*operand[1], arity(n.what) > 1),
              c = brought(*operand[2], arity(n.what) > 2);
  switch (arity(n.what)) {
    case 1:
      if (compares) return ask(n.what, a);
      if (whole) return whole_number(n.what, common, a, a);
      return k == kind::complex ? apply_to_complex(n.what, n.type.type, a)
                                : apply_to_real(n.what, n.type.type, a);
    case 2:
      if (compares) return compare(n.what, a, b);
      return whole ? whole_number(n.what, common, a, b)
                   : arithmetic_on_numbers(n.what, common, a, b);
    default: break;
  }
  if (n.what == operation::fma)
    return make(common, fma(common, settle(common, a.part[0]), settle(common, b.part[0]),
                            settle(common, c.part[0])));
  if (whole)
    return whole_number(operation::min, common, whole_number(operation::max, common, a, b), c);
  return make(common, min(max(settle(common, a.part[0]), settle(common, b.part[0])),
                          settle(common, c.part[0])));
}

}  // namespace

value value::integer(dtype type, __int128 x) {
  value v{type};
  const int unused = 64 - 8 * bytes_of(type);
  const auto bits = static_cast<std::uint64_t>(x) << unused;
  v.bits = is_signed_integer(type)
               ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> unused)
               : bits >> unused;
  if (type == dtype::boolean) v.bits = x != 0;
  return v;
}
value value::of(truth t) {
  return t == truth::open ? unknown(dtype::boolean) : integer(dtype::boolean, t == truth::yes);
}
value value::unknown(dtype type) {
  value v{type};
  v.is_known = false;
  v.part[0] = v.part[1] = interval::anything();
  return v;
}
__int128 value::exact() const {
  return is_signed_integer(type) ? static_cast<__int128>(static_cast<std::int64_t>(bits))
                                 : static_cast<__int128>(bits);
}

value read(dtype type, const void* at) {
  switch (kind_of(type)) {
    case kind::boolean:
    case kind::integer: {
      std::uint64_t bits = 0;  // little-endian, as all supported machines
      std::memcpy(&bits, at, static_cast<std::size_t>(bytes_of(type)));
      return value::integer(type, static_cast<__int128>(bits));
    }
    case kind::real: return make(type, interval::point(read_real(type, at)));
    default: break;
  }
  const dtype part = part_of(type);
  return make(type, interval::point(read_real(part, at)),
              interval::point(read_real(part, static_cast<const char*>(at) + bytes_of(part))));
}

value evaluate(const tree& formula, const value* leaves, value* work) {
  for (int i = 0; i < formula.size; ++i)
    work[i] = apply_node(formula, formula.nodes[i], leaves, work);
  return work[formula.size - 1];
}

value stored(const value& v) {
  if (kind_of(v.type) <= kind::integer) return v;
  const dtype f = part_of(v.type);
  value s = v;
  for (interval& part : s.part) part = round_to(f, settle(f, part));
  return s;
}

namespace {

bool agrees_real(const interval& expected, const interval& got) {
  if (expected.is_nan() || got.is_nan())
    return expected.is_nan() == got.is_nan() || expected.is == interval::state::anything;
  if (!expected.is_range()) return true;
  if (expected.is_point() && expected.low == 0)
    return got.low == 0 && std::signbit(got.low) == std::signbit(expected.low);
  return expected.contains(got.low);
}

}  // namespace

bool agrees(const value& expected, const void* at) {
  const value got = read(expected.type, at);
  if (kind_of(expected.type) <= kind::integer)
    return !expected.is_known || (expected.bits == got.bits);
  return agrees_real(expected.part[0], got.part[0]) &&
         (kind_of(expected.type) == kind::real || agrees_real(expected.part[1], got.part[1]));
}

dtype coarsest(const tree& formula) {
  dtype found = dtype::float64;
  for (int i = 0; i < formula.size; ++i) {
    const dtype part = part_of(formula.nodes[i].type.type);
    const bool is_coarser = part == dtype::bfloat16 || bytes_of(part) < bytes_of(found);
    if (kind_of(part) == kind::real && found != dtype::bfloat16 && is_coarser) found = part;
  }
  return found;
}

bool is_decided(const value& v, dtype coarsest) {
  if (kind_of(v.type) <= kind::integer) return v.is_known;
  return is_decided(coarsest, v.part[0]) &&
         (kind_of(v.type) == kind::real || is_decided(coarsest, v.part[1]));
}

}  // namespace property

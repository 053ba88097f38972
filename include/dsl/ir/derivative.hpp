// The derivative of each operation with respect to each of its operands.
#pragma once

#include <dsl/ir/term.hpp>

namespace dsl::detail {

/// A partial derivative of an operation: the linear map from an operand's change v to the change of
/// the result, and, transposed, from a weight w of the result to a weight of the operand.
///
/// The map is v -> factor v, and its transpose w -> factor w. If the result is real and the operand
/// complex, the change is the real part of that product, and if the operand is real and the result
/// complex, the weight is. This is the convention of JAX: the transpose is that of the pairing
/// Re(w v), without a conjugate, and the derivative of a real function of z = x + iy is df/dx - i
/// df/dy. Where an operation is not holomorphic there is a second term: v -> factor v +
/// of_conjugate conj(v).
///
/// `condition`: elsewhere the map is zero, even if the factor or the weight is infinite or NaN.
struct partial {
  enum kind_of_factor { nothing, number, value } kind = nothing;
  double number_ = 0;
  term factor{}, of_conjugate{}, condition{};
  bool conjugates = false;  // The map is v -> conj(v).

  constexpr partial() = default;
  constexpr partial(double x) : kind(number), number_(x) {}
  constexpr partial(const term& x) : kind(value), factor(x) {}

  constexpr bool is_zero() const { return kind == nothing; }
  /// The factor times a term that is not zero.
  constexpr term times(const term& x) const {
    if (kind == value) return operate(op::multiply, x, factor);
    if (number_ == 1) return x;
    if (number_ == -1) return operate(op::negative, x);
    return operate(op::multiply, x, beside(number_, x));
  }
};

namespace terms {

inline constexpr partial none{};
inline constexpr double pi = 3.141592653589793, root_of_pi = 1.772453850905516,
                        log_of_2 = 0.6931471805599453, log_of_10 = 2.302585092994046;

constexpr partial when(const term& condition, partial p) {
  if (condition.is_constant()) return condition.at().word.bits != 0 ? p : none;
  p.condition = condition;
  return p;
}
constexpr partial conjugated(double) {
  partial p(1.0);
  p.conjugates = true;
  return p;
}
constexpr term beside_one(const term& a) { return beside(1, a); }
/// A term in another one's dtype: the logarithm of a negative number is complex beside a complex
/// one.
constexpr term like(const term& other, const term& a) { return converted(a, other.type()); }
constexpr term times_i(const term& z) { return complex(-imag(z), real(z)); }
constexpr term i_beside(double by, const term& a) { return complex(beside(0, a), beside(by, a)); }

// Of a complex number z, sign(z) = z / |z|. Its change is (v - s^2 conj(v)) / (2 |z|).
constexpr partial of_sign(const term& a, const term& r) {
  if (!a.is_complex()) return none;
  const term size = abs(a), half = 0.5 / size;
  partial p(half);
  p.of_conjugate = -(half * (r * r));
  return when(size != 0, p);
}
constexpr partial of_nan_to_num(const term& a) {
  if (!a.is_complex()) return when(isfinite(a), 1);
  const term re = converted(isfinite(real(a)), real_of(a.type())),
             im = converted(isfinite(imag(a)), real_of(a.type()));
  partial p(0.5 * (re + im));
  p.of_conjugate = 0.5 * (re - im);
  return p;
}
constexpr partial of_imag(const term& a) { return a.is_complex() ? i_beside(-1, a) : none; }
// The change of arg(z) is the imaginary part of v / z.
constexpr partial of_arg(const term& a) {
  if (!a.is_complex()) return none;
  const term below = abs2(a);
  return complex(-imag(a) / below, -real(a) / below);
}
constexpr partial of_polar(const term& angle) { return complex(cos(angle), sin(angle)); }

/// A polynomial, by Horner's rule.
template <int N>
constexpr term polynomial(const term& x, const double (&coefficient)[N]) {
  term sum = x * coefficient[N - 1] + coefficient[N - 2];
  for (int k = N - 3; k >= 0; --k) sum = sum * x + coefficient[k];
  return sum;
}

// sinc(x) = sin(pi x) / (pi x). Near 0, where the difference cancels, the derivative's Taylor
// series: the terms 2k (-1)^k (pi x)^(2k) / ((2k + 1)! x), to 1e-17 of the first for pi x < 0.6.
constexpr partial of_sinc(const term& a, const term& r) {
  constexpr double series[] = {-1.0 / 3,       1.0 / 30,        -1.0 / 840,        1.0 / 45360,
                               -1.0 / 3991680, 1.0 / 518918400, -1.0 / 93405312000};
  const term near = pi * pi * a * polynomial((pi * pi) * (a * a), series);
  return where(abs(a) < beside(0.19, a), near, (cospi(a) - r) / a);
}

// The derivative of digamma, by recurrence from x up to 10 and the asymptotic series from there on
// (Abramowitz and Stegun 6.4.6 and 6.4.12), whose last term is 6e-17 of the first; below 0 by
// reflection (6.4.7).
constexpr term of_digamma(const term& a) {
  constexpr double bernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                  5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};
  const term reflects = a < beside(0, a), x = where(reflects, 1 - a, a),
             is_small = x < beside(10, x);
  // 1 / x^2 + ... + 1 / (x + 9)^2 as one quotient, so that it has one division.
  term above = beside(1, x), below = x * x;
  for (int k = 1; k < 10; ++k) {
    const term factor = (x + k) * (x + k);
    above = above * factor + below;
    below = below * factor;
  }
  const term inverse = 1 / where(is_small, x + 10, x), squared = inverse * inverse;
  const term series = inverse + squared * (0.5 + inverse * polynomial(squared, bernoulli));
  const term value = series + where(is_small, above / below, beside(0, x)), whole = pi / sinpi(a);
  return where(reflects, whole * whole - value, value);
}
constexpr term of_i1(const term& a, const term& r) {
  const term zero = beside(0, a), middle = where(isfinite(r), r / a, zero);
  return where(a == zero, beside(0.5, a), i0(a) - middle);
}
// e^(x - r) / e^(y - r) for the smaller operand x and the larger one y is exact however large the
// operands are; e^(a - r) has the rounding of r in its exponent.
constexpr term of_logaddexp(const term& a, const term& b, bool of_first, op exponential) {
  const term is_above = a > b, smaller = operate(exponential, where(is_above, b - a, a - b)),
             one = beside(1, smaller);
  return (of_first ? where(is_above, one, smaller) : where(is_above, smaller, one)) / (1 + smaller);
}

}  // namespace terms

/// The operation that a faster one approximates, or the operation itself.
constexpr op accurate_form(op code) {
  switch (code) {
#define DSL_FAST(name, ...) \
  case op::fast_##name: return op::name;
#include <dsl/ir/ops.inc>
    default: return code;
  }
}

/// The partial derivative of a node's operation with respect to operand k.
constexpr partial derivative_of(graph& g, int id, int k) {
  using namespace terms;
  const node n = g[id];
  const int arity = info(n.code).arity;
  [[maybe_unused]] const term r{&g, id}, a{&g, n.field(0)},
      b{&g, arity > 1 ? n.field(1) : n.field(0)}, c{&g, arity > 2 ? n.field(2) : n.field(0)};
  const op code = accurate_form(n.code);
  if (code == op::convert) return 1.0;
  if (code == op::complex) return k == 0 ? partial(1.0) : partial(i_beside(1, a));
  switch (code) {
#define DSL_DERIVATIVE_OF(_1, _2, _3, count, ...) DSL_DERIVATIVE_OF_##count
#define DSL_DERIVATIVE_OF_1(x) return x
#define DSL_DERIVATIVE_OF_2(x, y) \
  if (k == 0) return x;           \
  return y
#define DSL_DERIVATIVE_OF_3(x, y, z) \
  if (k == 0) return x;              \
  if (k == 1) return y;              \
  return z
#define DSL_DERIVATIVE(name, ...)                           \
  case op::name: {                                          \
    DSL_DERIVATIVE_OF(__VA_ARGS__, 3, 2, 1, )(__VA_ARGS__); \
  }
#include <dsl/ir/ops.inc>
#undef DSL_DERIVATIVE_OF
#undef DSL_DERIVATIVE_OF_1
#undef DSL_DERIVATIVE_OF_2
#undef DSL_DERIVATIVE_OF_3
    default: return none;
  }
}

}  // namespace dsl::detail

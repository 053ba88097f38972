// Simpler nodes in place of an operation: identities that hold to the last bit.
#pragma once

#include <dsl/ir/graph.hpp>

namespace dsl::detail {

// |v| as bits, which are ordered like the numbers: nvcc cannot compare NaN in a constant
// expression.
template <std::floating_point V>
constexpr math::bits_of<V> magnitude_bits(V v) {
  return math::to_integer(v) & ~math::sign_bit<V>;
}
// 2^k as bits, for the same reason.
template <std::floating_point V>
constexpr math::bits_of<V> power_bits(int k) {
  return math::to_integer(math::power_of_two<V>(k));
}

constexpr bool commutes(op code) {
  switch (code) {
    case op::add:
    case op::multiply:
    case op::equal:
    case op::not_equal:
    case op::logical_and:
    case op::logical_or:
    case op::logical_xor:
    case op::bitwise_and:
    case op::bitwise_or:
    case op::bitwise_xor: return true;
    default: return false;
  }
}

/// A number as a literal of a dtype. Integers and booleans take whole numbers.
constexpr literal literal_of(dtype type, double number) {
  switch (type) {
    case dtype::float64:
    case dtype::complex128: return to_literal(number);
    case dtype::float16:
    case dtype::bfloat16:
    case dtype::float32:
    case dtype::complex64: return to_literal(static_cast<float>(number));
    default: return {static_cast<std::uint64_t>(static_cast<std::int64_t>(number))};
  }
}
/// Whether a node is a constant that equals `number` to the bit: 0 is not -0.
constexpr bool is_constant(const graph& g, int id, double number) {
  return g[id].code == op::constant && g[id].word == literal_of(g[id].type, number);
}

/// Whether v is 2^k and its reciprocal is a normal number. Division by v and multiplication by 1/v
/// then round alike.
template <class V>
constexpr bool is_power_of_two(V v) {
  constexpr int digits = math::layout<V>::digits, limit = math::layout<V>::bias - 1;
  const auto bits = magnitude_bits(v);
  return bits >= power_bits<V>(-limit) && bits <= power_bits<V>(limit) &&
         bits % (math::bits_of<V>(1) << digits) == 0;
}
template <class V>
constexpr int reciprocal_of_power(graph& g, int id) {
  const V divisor = from_literal<V>(g[id].word);
  return is_power_of_two(divisor) ? g.add(op::constant, g[id].type, to_literal(1 / divisor)) : -1;
}

// Reuses an existing product: formulas that use it with either sign then share it.
constexpr int opposite_product(graph& g, dtype type, int of, int other) {
  if (g[of].code != op::negative) return -1;
  const int n = g[of].field(0), there = g.known(op::multiply, type, fields(n, other));
  const int product = there >= 0 ? there : g.known(op::multiply, type, fields(other, n));
  return product >= 0 ? g.add(op::negative, type, fields(product)) : -1;
}

constexpr int simplify_one(graph& g, op code, dtype type, int a) {
  const bool is_complex = kind_of(g[a].type) == kind::complex;
  switch (code) {
    case op::positive: return a;
    case op::real: return is_complex ? -1 : a;
    case op::imag: return is_complex ? -1 : g.add(op::constant, type, literal{});
    case op::conj:
      if (!is_complex) return a;
      [[fallthrough]];
    case op::negative:
    case op::logical_not:
    case op::bitwise_not: return g[a].code == code ? g[a].field(0) : -1;
    default: return -1;
  }
}
/// A node, existing or simpler, that gives the same bits for all operands, including NaN,
/// infinities and signed zeros; -1 if there is none. `type`: the result's dtype. b: -1 for an
/// operation on one operand.
constexpr int simplify(graph& g, op code, dtype type, int a, int b) {
  if (b < 0) return simplify_one(g, code, type, a);
  const dtype of_a = g[a].type, of_b = g[b].type;
  const bool integer = kind_of(type) == kind::integer;
  switch (code) {
    case op::multiply:
      if (kind_of(type) == kind::real) {
        if (const int n = opposite_product(g, type, a, b); n >= 0) return n;
        if (const int n = opposite_product(g, type, b, a); n >= 0) return n;
      }
      if (of_a == type && is_constant(g, b, 1)) return a;
      if (of_b == type && is_constant(g, a, 1)) return b;
      if (integer && is_constant(g, a, 0)) return a;
      if (integer && is_constant(g, b, 0)) return b;
      break;
    case op::divide:
      if (of_a == type && is_constant(g, b, 1)) return a;
      if (kind_of(of_b) == kind::real && g[b].code == op::constant) {
        const int factor = of_b == dtype::float64 ? reciprocal_of_power<double>(g, b)
                                                  : reciprocal_of_power<float>(g, b);
        if (factor >= 0) return g.add(op::multiply, type, fields(a, factor));
      }
      break;
    case op::add:
      if (integer && is_constant(g, a, 0)) return b;
      if (integer && is_constant(g, b, 0)) return a;
      break;
    case op::subtract:
      if (of_a == type && is_constant(g, b, 0)) return a;
      if (integer && a == b) return g.add(op::constant, type, literal{});
      break;
    case op::pow:
      if (of_a == type && is_constant(g, b, 1)) return a;
      if (of_a == type && is_constant(g, b, 2)) return g.add(op::multiply, type, fields(a, a));
      break;
    default: break;
  }
  return -1;
}

}  // namespace dsl::detail

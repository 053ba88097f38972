// Terms: nodes of a graph whose dtypes are values, not types. Derivatives are computed with them.
//
// A symbol's dtype is a part of its type, so that each operation on symbols is compiled for each
// combination of dtypes. A term is one type, and what is written with terms is compiled once.
#pragma once

#include <dsl/ir/simplify.hpp>

namespace dsl::detail {

struct term;
constexpr term operate(op code, const term& a);
constexpr term operate(op code, const term& a, const term& b);
constexpr term operate(op code, const term& a, const term& b, const term& c);
constexpr term beside(double number, const term& x);

/// A node of a graph, or zero, which has no node: a derivative that does not exist. Its operators
/// are found by its type alone, so that they hide none of those on arrays.
struct term {
  graph* g = nullptr;
  int id = -1;

  constexpr bool is_zero() const { return id < 0; }
  constexpr const node& at() const { return (*g)[id]; }
  constexpr dtype type() const { return at().type; }
  constexpr bool is_complex() const { return kind_of(type()) == kind::complex; }
  constexpr bool is_constant() const { return at().code == op::constant; }

#define DSL_OPERATOR(name, token, numpy, arity, ...) DSL_OPERATOR_##arity(name, token)
#define DSL_OPERATOR_1(name, token) \
  friend constexpr term operator token(const term& a) { return operate(op::name, a); }
#define DSL_OPERATOR_2(name, token)                                    \
  friend constexpr term operator token(const term& a, const term& b) { \
    return operate(op::name, a, b);                                    \
  }                                                                    \
  friend constexpr term operator token(const term& a, double b) {      \
    return operate(op::name, a, beside(b, a));                         \
  }                                                                    \
  friend constexpr term operator token(double a, const term& b) {      \
    return operate(op::name, beside(a, b), b);                         \
  }
#include <dsl/ir/ops.inc>
#undef DSL_OPERATOR_1
#undef DSL_OPERATOR_2
};

constexpr term constant_term(graph* g, dtype type, double number) {
  return {g, g->add(op::constant, type, literal_of(type, number))};
}
/// The value of a real constant.
constexpr double number_of(const term& x) {
  return x.type() == dtype::float64 ? from_literal<double>(x.at().word)
                                    : static_cast<double>(from_literal<float>(x.at().word));
}
/// Whether constants of this value may be computed with in a constant expression: no product or
/// quotient of two overflows or is subnormal.
constexpr bool is_moderate_number(double v) {
  return v == 0 || ((v < 0 ? -v : v) > 0x1p-30 && (v < 0 ? -v : v) < 0x1p30);
}

/// The term in another dtype.
constexpr term converted(const term& x, dtype to) {
  if (x.is_zero() || x.type() == to) return x;
  const node n = x.at();
  if (n.code == op::constant && kind_of(n.type) == kind::real && kind_of(to) >= kind::real &&
      is_moderate_number(number_of(x)))
    return constant_term(x.g, to, number_of(x));
  if (kind_of(to) == kind::real && n.type == dtype::complex128 && to == dtype::float64)
    throw "a complex number has no real value";
  // Back to a narrower dtype of the same kind.
  if (n.code == op::convert && (*x.g)[n.field(0)].type == to && kind_of(n.type) == kind_of(to) &&
      size_of(n.type) > size_of(to))
    return {x.g, n.field(0)};
  return {x.g, x.g->add(op::convert, to, fields(x.id))};
}

/// The result of an operation on two real constants. Arithmetic is rounded once: a float's as a
/// double's.
constexpr bool folds_to(op code, double a, double b, double& result) {
  if (!is_moderate_number(a) || !is_moderate_number(b)) return false;
  switch (code) {
    case op::add: result = a + b; return true;
    case op::subtract: result = a - b; return true;
    case op::multiply: result = a * b; return true;
    case op::divide:
      if (b == 0) return false;
      result = a / b;
      return true;
    case op::not_equal: result = a != b ? 1 : 0; return true;
    default: return false;
  }
}

/// Adds an operation on terms that are not zero, with the dtypes that it has for arrays.
constexpr term operate(op code, const term& a, const term& b, const term& c) {
  const term given[] = {a, b, c};
  const int arity = info(code).arity;
  // Not an array of weak_dtype: g++ 13.3, called by nvcc, fails on it (docs/how-compilers.md).
  dtype types[3] = {a.type(), a.type(), a.type()};
  if (arity > 1) types[1] = b.type();
  if (arity > 2) types[2] = c.type();
  const weak_dtype first{types[0], false}, second{types[1], false}, third{types[2], false}, none{};
  const signature found = resolve(code, first, arity > 1 ? second : none, arity > 2 ? third : none);
  if (!found.valid) throw "a derivative is not defined for operands of these dtypes";
  graph& g = *a.g;
  const dtype type = found.result.type;
  term x[3]{};
  for (int k = 0; k < arity; ++k) x[k] = converted(given[k], found.operand[k]);
  if (code == op::where) {
    if (x[0].is_constant()) return converted(x[x[0].at().word.bits != 0 ? 1 : 2], type);
    if (x[1].id == x[2].id) return converted(x[1], type);
  } else if (arity <= 2) {
    if (arity == 2 && x[0].is_constant() && x[1].is_constant() &&
        kind_of(x[0].type()) == kind::real && kind_of(x[1].type()) == kind::real) {
      double number = 0;
      if (folds_to(code, number_of(x[0]), number_of(x[1]), number))
        return constant_term(&g, type, number);
    }
    if (code == op::negative && kind_of(type) == kind::real && x[0].is_constant())
      return constant_term(&g, type, -number_of(x[0]));
    if (const int n = simplify(g, code, type, x[0].id, arity == 2 ? x[1].id : -1); n >= 0)
      return {&g, n};
    if (commutes(code))
      if (const int n = g.known(code, type, fields(x[1].id, x[0].id)); n >= 0) return {&g, n};
  }
  int id[3] = {};
  for (int k = 0; k < arity; ++k) id[k] = x[k].id;
  return {&g, g.add(code, type, fields(id[0], id[1], id[2]))};
}
constexpr term operate(op code, const term& a, const term& b) {
  return operate(code, a, b, term{});
}
constexpr term operate(op code, const term& a) { return operate(code, a, term{}, term{}); }

/// A number beside a term: of the term's precision, real.
constexpr term beside(double number, const term& x) {
  const dtype type = kind_of(x.type()) >= kind::real ? real_of(x.type()) : dtype::float64;
  return constant_term(x.g, type, number);
}

// The rows of the op table as functions of terms, in a namespace of their own: they hide the
// functions of arrays where derivatives are written.
namespace terms {

#define DSL_FUNCTION(name, numpy, arity, ...) DSL_FUNCTION_##arity(name)
#define DSL_FUNCTION_1(name) \
  constexpr term name(const term& a) { return operate(op::name, a); }
#define DSL_FUNCTION_2(name) \
  constexpr term name(const term& a, const term& b) { return operate(op::name, a, b); }
#define DSL_FUNCTION_3(name)                                         \
  constexpr term name(const term& a, const term& b, const term& c) { \
    return operate(op::name, a, b, c);                               \
  }
#include <dsl/ir/ops.inc>
#undef DSL_FUNCTION_1
#undef DSL_FUNCTION_2
#undef DSL_FUNCTION_3

/// The complex number of two real terms of one dtype.
constexpr term complex(const term& re, const term& im) {
  const dtype type = re.type() == dtype::float64 ? dtype::complex128 : dtype::complex64;
  const dtype part = real_of(type);
  return {re.g,
          re.g->add(op::complex, type, fields(converted(re, part).id, converted(im, part).id))};
}

/// A sum in which either term may be zero.
constexpr term sum(const term& a, const term& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  if (b.at().code == op::negative && a.type() == b.type()) return a - term{b.g, b.at().field(0)};
  if (a.at().code == op::negative && a.type() == b.type()) return b - term{a.g, a.at().field(0)};
  return a + b;
}

}  // namespace terms
}  // namespace dsl::detail

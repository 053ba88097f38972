// The operations of a program, and how each gives its operands and its result their dtypes.
#pragma once

#include <dsl/ir/math.hpp>
#include <dsl/ir/promotion.hpp>

namespace dsl {

/// What a node of a program does. The first group reads operands or is made by the library; the rest are the table's rows.
enum class op : std::uint8_t {
  load,      // an element of an array
  neighbour, // an element of an array some places away along an axis
  address,   // where in memory an element of an array lies
  index,     // an element's position, in elements: the value of an array that counts 0, 1, 2, ...
  value,     // a scalar passed by value
  fetch,     // a scalar in device memory
  constant,  // a literal
  convert,   // to another dtype
  complex,   // from a real and an imaginary part
  gather,    // the element that lies so many elements after an address
  argument,  // of a call, one after another
  call,      // of a functor
  result,    // of a call, one after another
#define DSL_OPERATOR(name, ...) name,
#define DSL_FUNCTION(name, ...) name,
#include <dsl/ir/ops.inc>
};

enum class op_rule : std::uint8_t {
  promoted,    // the common dtype; a real operand of a complex operation stays real
  floating,    // the common dtype, integers becoming float64
  comparison,  // operands of the common dtype, a boolean result
  logical,     // boolean operands and result
  component,   // the operand's own dtype, a real result
  selection,   // a boolean, then two operands of the common dtype
};

/// The kinds that an operation takes, as bits numbered by `kind`.
enum class op_domain : std::uint8_t { integer = 0b0010, ordered = 0b0111, numeric = 0b1110, any = 0b1111 };

struct op_info {
  const char* name;
  const char* token;  // null: a function
  std::uint8_t arity;
  op_rule rule;
  op_domain domain;
  std::uint8_t flops, complex_flops;
};

inline constexpr op_info op_table[] = {
    {"load", nullptr, 0, op_rule::promoted, op_domain::any, 0, 0},
    {"shift", nullptr, 0, op_rule::promoted, op_domain::any, 0, 0},
    {"address", nullptr, 0, op_rule::promoted, op_domain::any, 0, 0},
    {"index", nullptr, 0, op_rule::promoted, op_domain::any, 0, 0},
    {"value", nullptr, 0, op_rule::promoted, op_domain::any, 0, 0},
    {"fetch", nullptr, 0, op_rule::promoted, op_domain::any, 0, 0},
    {"constant", nullptr, 0, op_rule::promoted, op_domain::any, 0, 0},
    {"cast", nullptr, 1, op_rule::promoted, op_domain::any, 0, 0},
    {"complex", nullptr, 2, op_rule::promoted, op_domain::ordered, 0, 0},
    {"take", nullptr, 2, op_rule::promoted, op_domain::any, 0, 0},
    {"argument", nullptr, 1, op_rule::promoted, op_domain::any, 0, 0},
    {"call", nullptr, 0, op_rule::promoted, op_domain::any, 0, 0},
    {"result", nullptr, 0, op_rule::promoted, op_domain::any, 0, 0},
#define DSL_OPERATOR(name, token, arity, rule, domain, flops, complex_flops, code) \
  {#name, #token, arity, op_rule::rule, op_domain::domain, flops, complex_flops},
#define DSL_FUNCTION(name, arity, rule, domain, flops, complex_flops, code) \
  {#name, nullptr, arity, op_rule::rule, op_domain::domain, flops, complex_flops},
#include <dsl/ir/ops.inc>
};

constexpr const op_info& info(op code) { return op_table[static_cast<int>(code)]; }

/// The dtypes of an operation on given operands.
struct signature {
  bool valid = false;
  weak_dtype result{};
  dtype operand[3]{};
};

constexpr signature resolve(op code, weak_dtype a, weak_dtype b = {}, weak_dtype c = {}) {
  const op_info& row = info(code);
  const weak_dtype operands[] = {a, b, c};
  const int first = row.rule == op_rule::selection ? 1 : 0;
  weak_dtype common = operands[first];
  for (int i = first + 1; i < row.arity; ++i) common = promote(common, operands[i]);
  if (row.rule == op_rule::floating && kind_of(common.type) < kind::real) common.type = dtype::float64;

  signature s;
  s.valid = (static_cast<int>(row.domain) >> static_cast<int>(kind_of(common.type)) & 1) != 0;
  s.result = common;
  for (int i = 0; i < row.arity; ++i) {
    const bool stays_real = row.rule != op_rule::component && kind_of(operands[i].type) != kind::complex;
    s.operand[i] = stays_real ? real_of(common.type) : common.type;
  }
  switch (row.rule) {
    case op_rule::comparison: s.result = {dtype::boolean}; break;
    case op_rule::logical:
      s.result = {dtype::boolean};
      for (dtype& d : s.operand) d = dtype::boolean;
      break;
    case op_rule::component: s.result = {real_of(common.type), common.weak}; break;
    case op_rule::selection: s.operand[0] = dtype::boolean; break;
    default: break;
  }
  return s;
}

namespace detail {

// The scalar code of the table, compiled for the device, for the host loop and for constant folding.
template <op Code> struct scalar_code;
#define DSL_OPERATOR(name, token, arity, rule, domain, flops, complex_flops, code) DSL_FUNCTION(name, arity, , , , , code)
#define DSL_FUNCTION(name, arity, rule, domain, flops, complex_flops, code)                                 \
  template <> struct scalar_code<op::name> {                                                                \
    template <class R, class A, class B = A, class C = A>                                                   \
    DSL_DETAIL_FN static constexpr R apply(A a, [[maybe_unused]] B b = {}, [[maybe_unused]] C c = {}) {      \
      return math::convert<R>(code);                                                                        \
    }                                                                                                       \
  };
#include <dsl/ir/ops.inc>

// Whether the scalar code can run in a constant expression: the arithmetic can, the mathematical functions cannot.
constexpr bool folds(op code) {
  const op_info& row = info(code);
  return row.token != nullptr || code == op::min || code == op::max || code == op::where || code == op::real ||
         code == op::imag || code == op::conj;
}

}  // namespace detail
}  // namespace dsl

// The operations of a program, and how each gives its operands and its result their dtypes.
#pragma once

#include <dsl/ir/complex_math.hpp>
#include <dsl/ir/promotion.hpp>

namespace dsl {

/// What a node of a program does. The first group reads operands or is made by the library; the
/// rest are the table's rows.
enum class op : std::uint8_t {
  load,        // an element of an array
  neighbour,   // an element of an array some places away, or its position or address
  inside,      // whether there is such an element
  coordinate,  // an element's position along an axis of an array
  address,     // where in memory an element of an array lies
  index,       // an element's position, in elements: the value of an array that counts 0, 1, 2, ...
  value,       // a scalar passed by value
  load_scalar,      // a scalar in device memory
  reduced,          // a value that a reduction left, after all elements
  count,            // how many elements were reduced into it
  constant,         // a literal
  step,             // to a neighbour, along an axis
  given_step,       // the same, as an operand says when the program runs
  convert,          // to another dtype
  complex,          // from a real and an imaginary part
  gather,           // the element that lies so many elements after an address
  random_bits,      // of a position, a key and a draw: 32 of them (ir/random.hpp)
  random_key,       // of a key and a number: another one
  random_below,     // of a position, a key and a range
  random_permuted,  // of a position, a key and their number: its place in another order
  random_log,       // of a number from (0, 1], or the 32 random bits that it is made of: minus its
                    // logarithm
  random_radius,    // of such bits: the square root of twice that
  random_normal,    // of a radius, an angle and one more: the first times the sine of the others
                    // together
  argument,         // of a call, one after another
  call,             // of a functor
  result,           // of a call, one after another
#define DSL_OPERATOR(name, ...) name,
#define DSL_FUNCTION(name, ...) name,
#define DSL_FAST(name, ...) fast_##name,
#include <dsl/ir/ops.inc>
};

/// How operands get their dtypes.
enum class op_operands : std::uint8_t {
  promoted,   // the common dtype; a real operand of a complex operation stays real
  widened,    // the same, but int8 where all are boolean
  floating,   // the common dtype of what each is as a floating point number (`floating_of`)
  truth,      // boolean
  selection,  // a boolean, then two of a common dtype
  scaled,     // a floating point number, then an integer of its own dtype
};

/// The result's dtype, from the operands' common one.
enum class op_result : std::uint8_t {
  common,   // that itself
  boolean,  // bool
  int32,    // int32
  real,     // of a complex number's parts
  complex,  // of which it could be a part: complex64, or complex128 for float64
};

/// The kinds that the operands' common dtype may have, as bits numbered by `kind`.
enum class op_domain : std::uint8_t {
  integer = 0b0010,
  bits = 0b0011,
  ordered = 0b0111,
  numeric = 0b1110,
  any = 0b1111
};

struct op_info {
  const char* name;
  const char* token;  // null: a function
  const char* numpy;  // "": nothing means the same
  std::uint8_t arity;
  op_operands operands;
  op_result result;
  op_domain domain;
  std::uint8_t flops, complex_flops;
};

inline constexpr op_info op_table[] = {
#define DSL_NODE(name, arity, domain) \
  {#name, nullptr, "", arity, op_operands::promoted, op_result::common, op_domain::domain, 0, 0},
    DSL_NODE(load, 0, any) DSL_NODE(shift, 0, any) DSL_NODE(inside, 0, any) DSL_NODE(index, 0, any)
        DSL_NODE(address, 0, any) DSL_NODE(index, 0, any) DSL_NODE(value, 0, any)
            DSL_NODE(load_scalar, 0, any) DSL_NODE(reduced, 0, any) DSL_NODE(count, 0, any)
                DSL_NODE(constant, 0, any) DSL_NODE(step, 0, any) DSL_NODE(step, 0, any)
                    DSL_NODE(cast, 1, any) DSL_NODE(complex, 2, ordered) DSL_NODE(take, 2, any)
#define DSL_RANDOM(name, arity, flops) \
  {#name, nullptr, "", arity, op_operands::promoted, op_result::common, op_domain::any, flops, 0},
                        DSL_RANDOM(random_bits, 3, 8) DSL_RANDOM(random_key, 2, 8)
                            DSL_RANDOM(random_below, 3, 8) DSL_RANDOM(random_permuted, 3, 16)
                                DSL_RANDOM(random_log, 1, 16) DSL_RANDOM(random_radius, 1, 20)
                                    DSL_RANDOM(random_normal, 3, 20) DSL_NODE(argument, 1, any)
                                        DSL_NODE(call, 0, any) DSL_NODE(result, 0, any)
#undef DSL_RANDOM
#undef DSL_NODE
#define DSL_OPERATOR(name, token, numpy, arity, operands, result, domain, flops, complex_flops,    \
                     code)                                                                         \
  {#name, #token,       numpy, arity, op_operands::operands, op_result::result, op_domain::domain, \
   flops, complex_flops},
#define DSL_FUNCTION(name, numpy, arity, operands, result, domain, flops, complex_flops, code)     \
  {#name, nullptr,      numpy, arity, op_operands::operands, op_result::result, op_domain::domain, \
   flops, complex_flops},
#define DSL_FAST(name, arity, flops, code)                                           \
  {"fast_" #name,      nullptr, "", arity, op_operands::promoted, op_result::common, \
   op_domain::ordered, flops,   0},
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
  const weak_dtype given[] = {a, b, c}, chosen[] = {b, c};
  weak_dtype common;
  switch (row.operands) {
    case op_operands::floating: common = promote_floating(given, row.arity); break;
    case op_operands::scaled: common = promote_floating(given, 1); break;
    case op_operands::selection: common = promote(chosen, 2); break;
    default: common = promote(given, row.arity);
  }
  if (row.operands == op_operands::widened && common.type == dtype::boolean)
    common.type = dtype::int8;

  signature s;
  s.valid = (static_cast<int>(row.domain) >> static_cast<int>(kind_of(common.type)) & 1) != 0;
  for (int i = 0; i < row.arity; ++i)
    s.operand[i] = kind_of(given[i].type) == kind::complex ? common.type : real_of(common.type);
  const bool integers = kind_of(a.type) <= kind::integer && kind_of(b.type) <= kind::integer;
  switch (row.operands) {
    case op_operands::promoted:
      // Integers are compared exactly, with a scalar outside the array's dtype too: in the dtype
      // that holds both, int64 and uint64 as they are.
      if (row.result == op_result::boolean && row.arity == 2 && integers) {
        const dtype both = promote(a.type, b.type);
        s.operand[0] = both == dtype::float64 ? a.type : both;
        s.operand[1] = both == dtype::float64 ? b.type : both;
      }
      break;
    case op_operands::truth:
      for (dtype& d : s.operand) d = dtype::boolean;
      break;
    case op_operands::selection: s.operand[0] = dtype::boolean; break;
    case op_operands::scaled:
      s.operand[1] = b.type;
      s.valid = s.valid && kind_of(b.type) <= kind::integer &&
                b.type != dtype::uint64;  // as NumPy, which has no loop for it
      common.weak = common.weak && b.weak;
      break;
    default: break;
  }
  switch (row.result) {
    case op_result::common: s.result = common; break;
    case op_result::boolean: s.result = {dtype::boolean}; break;
    case op_result::int32: s.result = {dtype::int32}; break;
    case op_result::real: s.result = {real_of(common.type), common.weak}; break;
    case op_result::complex:
      s.result = {common.type == dtype::float64 ? dtype::complex128 : dtype::complex64,
                  common.weak};
      break;
  }
  return s;
}

namespace detail {

// The dtype that a value type stands for where nothing else is said: not float16, which is computed
// with as float.
template <class V> inline constexpr dtype dtype_of_value = dtype_of<V>::value;
template <class T> inline constexpr dtype dtype_of_value<complex_value<T>> =
    dtype_of<std::complex<T>>::value;

// The scalar code of the table, compiled for the device, for the host loop and for constant
// folding. D is the result's dtype; only what depends on a dtype's precision or range asks for it.
template <op Code> struct scalar_code;
#define DSL_DETAIL_CODE(name, arity, code)                                      \
  template <> struct scalar_code<op::name> {                                    \
    template <class R, dtype D = dtype_of_value<R>, DSL_DETAIL_CLASSES_##arity> \
    DSL_DETAIL_FN static constexpr R apply(DSL_DETAIL_OPERANDS_##arity) {       \
      return math::convert<R>(code);                                            \
    }                                                                           \
  };
#define DSL_DETAIL_CLASSES_1 class A
#define DSL_DETAIL_CLASSES_2 class A, class B
#define DSL_DETAIL_CLASSES_3 class A, class B, class C
#define DSL_DETAIL_OPERANDS_1 A a
#define DSL_DETAIL_OPERANDS_2 A a, B b
#define DSL_DETAIL_OPERANDS_3 A a, B b, C c
#define DSL_OPERATOR(name, token, numpy, arity, operands, result, domain, flops, complex_flops, \
                     code)                                                                      \
  DSL_DETAIL_CODE(name, arity, code)
#define DSL_FUNCTION(name, numpy, arity, operands, result, domain, flops, complex_flops, code) \
  DSL_DETAIL_CODE(name, arity, code)
#define DSL_FAST(name, arity, flops, code) DSL_DETAIL_CODE(fast_##name, arity, code)
#include <dsl/ir/ops.inc>
#undef DSL_DETAIL_CODE
#undef DSL_DETAIL_CLASSES_1
#undef DSL_DETAIL_CLASSES_2
#undef DSL_DETAIL_CLASSES_3
#undef DSL_DETAIL_OPERANDS_1
#undef DSL_DETAIL_OPERANDS_2
#undef DSL_DETAIL_OPERANDS_3

// Whether the scalar code can run in a constant expression: the arithmetic can, the mathematical
// functions cannot.
constexpr bool folds(op code) {
  if (info(code).token != nullptr) return true;
  switch (code) {
    case op::square:
    case op::reciprocal:
    case op::min:
    case op::max:
    case op::fmin:
    case op::fmax:
    case op::clip:
    case op::where:
    case op::real:
    case op::imag:
    case op::conj:
    case op::abs2: return true;
    default: return false;
  }
}

}  // namespace detail
}  // namespace dsl

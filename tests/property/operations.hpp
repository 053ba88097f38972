// The operations that the tests apply, and the dtypes they give: the tests' own table.
#pragma once

#include "dtypes.hpp"

namespace property {

enum class operation : std::uint8_t {
  leaf, literal, cast,
  positive, negative, logical_not, exp, log, sqrt, sin, cos, tan, abs, real, imag, conj,
  add, subtract, multiply, divide, modulo, equal, not_equal, less, less_equal, greater, greater_equal, logical_and, logical_or,
  pow, atan2, min, max,
  where
};
inline constexpr operation first_unary = operation::positive, first_binary = operation::add, first_ternary = operation::where;
inline constexpr int operation_count = static_cast<int>(operation::where) + 1;

/// common: the operands' promoted dtype. floating: the same, float64 for integers. truth: bool. part: a complex number's parts' dtype.
enum class result : std::uint8_t { common, floating, truth, part };

struct operation_info {
  const char* text;  // an operator, or a function's name
  result gives;
  kind lowest, highest;  // the kinds of the common dtype for which it is defined
};

inline constexpr operation_info operations[] = {
    {"leaf", result::common, kind::boolean, kind::complex},
    {"literal", result::common, kind::boolean, kind::complex},
    {"cast", result::common, kind::boolean, kind::complex},
    {"+", result::common, kind::integer, kind::complex},
    {"-", result::common, kind::integer, kind::complex},
    {"!", result::truth, kind::boolean, kind::complex},
    {"exp", result::floating, kind::boolean, kind::real},
    {"log", result::floating, kind::boolean, kind::real},
    {"sqrt", result::floating, kind::boolean, kind::real},
    {"sin", result::floating, kind::boolean, kind::real},
    {"cos", result::floating, kind::boolean, kind::real},
    {"tan", result::floating, kind::boolean, kind::real},
    {"abs", result::part, kind::boolean, kind::complex},
    {"real", result::part, kind::boolean, kind::complex},
    {"imag", result::part, kind::boolean, kind::complex},
    {"conj", result::common, kind::boolean, kind::complex},
    {"+", result::common, kind::boolean, kind::complex},
    {"-", result::common, kind::integer, kind::complex},
    {"*", result::common, kind::boolean, kind::complex},
    {"/", result::common, kind::integer, kind::complex},
    {"%", result::common, kind::integer, kind::integer},
    {"==", result::truth, kind::boolean, kind::complex},
    {"!=", result::truth, kind::boolean, kind::complex},
    {"<", result::truth, kind::boolean, kind::real},
    {"<=", result::truth, kind::boolean, kind::real},
    {">", result::truth, kind::boolean, kind::real},
    {">=", result::truth, kind::boolean, kind::real},
    {"&&", result::truth, kind::boolean, kind::complex},
    {"||", result::truth, kind::boolean, kind::complex},
    {"pow", result::common, kind::boolean, kind::real},
    {"atan2", result::floating, kind::boolean, kind::real},
    {"min", result::common, kind::boolean, kind::real},
    {"max", result::common, kind::boolean, kind::real},
    {"where", result::common, kind::boolean, kind::complex},
};
static_assert(sizeof operations / sizeof *operations == operation_count);

constexpr const operation_info& info(operation what) { return operations[static_cast<int>(what)]; }
constexpr int arity(operation what) {
  return what >= first_ternary ? 3 : what >= first_binary ? 2 : what == operation::cast || what >= first_unary ? 1 : 0;
}

/// The dtype that operands are brought to before the operation. Logic makes each a truth value by itself.
constexpr typed common_of(operation what, const typed* operand) {
  if (what == operation::where) return promote(operand[1], operand[2]);
  const typed common = arity(what) == 2 ? promote(operand[0], operand[1]) : operand[0];
  return info(what).gives == result::floating && kind_of(common.type) < kind::real ? typed{dtype::float64, common.weak} : common;
}

constexpr bool is_defined(operation what, const typed* operand) {
  const kind k = kind_of(common_of(what, operand).type);
  return info(what).lowest <= k && k <= info(what).highest;
}

constexpr typed result_of(operation what, const typed* operand) {
  const typed common = common_of(what, operand);
  switch (info(what).gives) {
    case result::truth: return {dtype::boolean};
    case result::part: return {part_of(common.type), common.weak};
    default: return common;
  }
}

}  // namespace property

#include "opencl/print/row_text.hpp"

#include "mem/text.hpp"
#include "opencl/print/prelude.hpp"
#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

namespace {

std::string cast(const char* type, const std::string& text) {
  return std::string("(") + type + ")" + text;
}
std::string cast(dtype type, const std::string& text) { return cast(value_type(type), text); }
std::string call(const std::string& function, const std::string& arguments) {
  return function + "(" + arguments + ")";
}

bool is_complex_type(dtype type) { return kind_of(type) == kind::complex; }

std::string shortened(dtype to, const value_text& a) {
  const std::string round = std::string("round_") + name(to);
  switch (kind_of(a.type)) {
    case kind::boolean: return cast("float", a.text);
    case kind::integer:
      if (to == dtype::float16) return call(round, cast("float", a.text));
      return call(round, call(std::string("odd_float_") + name(a.type), a.text));
    default:
      if (a.type == dtype::float64) return call(round, call("odd_float_float64", a.text));
      return call(round, a.text);
  }
}

}  // namespace

std::string conversion_text(dtype to, const value_text& a) {
  if (to == a.type) return a.text;
  const bool from_complex = is_complex_type(a.type);
  if (to == dtype::boolean)
    return from_complex ? "(" + a.text + ".x != 0 || " + a.text + ".y != 0)" : a.text + " != 0";
  if (is_complex_type(to)) {
    if (from_complex) return call(std::string("convert_") + value_type(to), a.text);
    return cast(to, "(" + conversion_text(real_of(to), a) + ", 0)");
  }
  if (is_widened(to)) return shortened(to, a);
  if (kind_of(to) == kind::integer && kind_of(a.type) == kind::real)
    return call(std::string("truncate_") + name(to) + "_" + name(computed_in(a.type)), a.text);
  return computed_in(a.type) == to ? a.text : cast(to, a.text);
}

namespace {

const char* infix_token(op code) {
  switch (code) {
    case op::logical_xor: return "!=";
    default: return info(code).token;
  }
}

bool compares(op code) { return code >= op::equal && code <= op::greater_equal; }
bool is_bitwise(op code) { return code >= op::bitwise_and && code <= op::bitwise_xor; }
bool is_logical(op code) {
  return code == op::logical_and || code == op::logical_or || code == op::logical_xor;
}

// Whether the operator of C computes the row for operands of one type.
bool is_infix(op code, dtype type, bool rounds_division) {
  if (is_bitwise(code) || is_logical(code)) return true;
  const kind k = kind_of(type);
  if (compares(code)) return k != kind::complex;
  if (code == op::add || code == op::subtract) return k >= kind::real;
  if (code == op::multiply) return k == kind::real;
  return code == op::divide && k == kind::real && (rounds_division || type == dtype::float64);
}

// An integer of a signed type and a uint64, or the other way round.
std::string mixed_comparison(op code, const value_text& a, const value_text& b) {
  const auto function = [](const char* of, const value_text& x, const value_text& y) {
    const auto spelled = [](const value_text& v) {
      return v.type == dtype::uint64 ? v.text : cast("long", v.text);
    };
    const bool second = y.type == dtype::uint64;
    if (std::string_view(of) == "equal" && !second)
      return call("equal_int64_uint64", spelled(y) + ", " + spelled(x));
    return call(std::string(of) + (second ? "_int64_uint64" : "_uint64_int64"),
                spelled(x) + ", " + spelled(y));
  };
  switch (code) {
    case op::equal: return function("equal", a, b);
    case op::not_equal: return "!" + function("equal", a, b);
    case op::less: return function("less", a, b);
    case op::greater: return function("less", b, a);
    case op::less_equal: return "!" + function("less", b, a);
    default: return "!" + function("less", a, b);
  }
}

std::string random_text(op code, dtype result, const value_text* x) {
  const auto number = [x](int k) { return cast("ulong", x[k].text); };
  switch (code) {
    case op::random_bits:
      return call("random_bits", number(0) + ", " + number(1) + ", " + cast("uint", x[2].text));
    case op::random_key: return call("random_key", number(0) + ", " + number(1));
    case op::random_below:
      return call(std::string("random_below_") + name(result),
                  number(0) + ", " + number(1) + ", " + x[2].text);
    case op::random_permuted:
      return cast(result, call("random_permuted", number(0) + ", " + number(1) + ", " + number(2)));
    default: {
      std::string arguments = x[0].text;
      for (int k = 1; k < info(code).arity; ++k) arguments += ", " + x[k].text;
      return call(std::string(info(code).name) + "_" + name(computed_in(result)), arguments);
    }
  }
}

// The dtypes in a function's name: that of the operands; if a real operand is combined with a
// complex one, those of both; the result's where the code depends on a dtype's precision.
std::string dtypes_in_name(op code, dtype result, const value_text* x) {
  if (code == op::nextafter || code == op::nan_to_num) return name(result);
  std::string text = name(computed_in(x[0].type));
  if (info(code).arity == 2 && code != op::ldexp &&
      computed_in(x[1].type) != computed_in(x[0].type))
    text += std::string("_") + name(computed_in(x[1].type));
  return text;
}

}  // namespace

std::string row_text(op code, dtype result, const value_text* x, bool rounds_division) {
  if (code >= op::random_bits && code <= op::random_normal) return random_text(code, result, x);
  const op_info& row = info(code);
  if (code == op::complex) return cast(result, "(" + x[0].text + ", " + x[1].text + ")");
  if (code == op::positive) return x[0].text;
  if (code == op::logical_not || (code == op::bitwise_not && result == dtype::boolean))
    return "!" + x[0].text;
  if (code == op::bitwise_not) return cast(result, "~" + x[0].text);
  if (code == op::where)
    return x[0].text + " ? " + conversion_text(result, x[1]) + " : " +
           conversion_text(result, x[2]);
  const dtype first = computed_in(x[0].type);
  const bool is_same = row.arity == 2 && first == computed_in(x[1].type);
  if (result == dtype::boolean && first == dtype::boolean && is_same &&
      (code == op::add || code == op::multiply))
    return x[0].text + (code == op::add ? " || " : " && ") + x[1].text;
  if (is_same && is_infix(code, first, rounds_division)) {
    const std::string text = x[0].text + " " + infix_token(code) + " " + x[1].text;
    const bool is_narrow = is_bitwise(code) && size_of(result) < 4 && result != dtype::boolean;
    return is_narrow ? cast(result, "(" + text + ")") : text;
  }
  if (compares(code) && row.arity == 2 && !is_same && kind_of(first) == kind::integer &&
      kind_of(x[1].type) == kind::integer)
    return mixed_comparison(code, x[0], x[1]);

  std::string arguments;
  for (int k = 0; k < row.arity; ++k) {
    const bool is_exponent = code == op::ldexp && k == 1;
    arguments += k > 0 ? ", " : "";
    arguments +=
        is_exponent ? call(std::string("exponent_of_") + name(x[k].type), x[k].text) : x[k].text;
  }
  const bool negates = code == op::not_equal;
  const std::string function =
      std::string(negates ? "equal" : row.name) + "_" + dtypes_in_name(code, result, x);
  if (!has_function(function))
    raise<device_error>(std::string("the OpenCL back end has no code for ") + row.name + " of " +
                        name(x[0].type));
  return (negates ? "!" : "") + call(function, arguments);
}

}  // namespace dsl::detail::opencl

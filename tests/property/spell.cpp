// Formulas and values as text, for failure reports.
#include "reference.hpp"

#include <cstdio>

namespace property {

namespace {

std::string spell(const interval& a) {
  char line[120];
  if (a.is_nan()) return "nan";
  if (!a.is_range()) return "anything";
  if (a.is_point()) std::snprintf(line, sizeof line, "%.17Lg", a.low);
  else std::snprintf(line, sizeof line, "[%.17Lg, %.17Lg]", a.low, a.high);
  return line;
}

}  // namespace

std::string spell(const value& v) {
  if (kind_of(v.type) <= kind::integer) {
    if (!v.is_known) return "anything";
    return is_signed_integer(v.type) ? std::to_string(static_cast<std::int64_t>(v.bits))
                                     : std::to_string(v.bits);
  }
  return kind_of(v.type) == kind::real ? spell(v.part[0])
                                       : "(" + spell(v.part[0]) + ", " + spell(v.part[1]) + ")";
}

std::string spell(const tree& formula, const bundle& leaves, int at) {
  const node& n = formula.nodes[at];
  const auto operand = [&](int k) { return spell(formula, leaves, n.operand[k]); };
  if (n.what == operation::leaf)
    return "asv"[static_cast<int>(leaves.leaves[n.number].from)] + std::to_string(n.number);
  if (n.what == operation::literal)
    return spell(literal_at(n.number)) + std::string(1, dtype_codes[static_cast<int>(n.type.type)]);
  if (n.what == operation::cast)
    return "cast<" + std::string(name(n.type.type)) + ">(" + operand(0) + ")";
  const std::string code = info(n.what).code;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  std::string text;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const bool alone =
        (i == 0 || !is_letter(code[i - 1])) && (i + 1 == code.size() || !is_letter(code[i + 1]));
    if (alone && code[i] >= 'a' && code[i] <= 'c') text += operand(code[i] - 'a');
    else text += code[i];
  }
  return is_letter(code[0]) && code.back() == ')' ? text : "(" + text + ")";
}

}  // namespace property

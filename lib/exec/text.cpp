#include "exec/text.hpp"

#include <cstdio>
#include <cstring>
#include <string_view>

namespace dsl::detail {

std::string name_of_kernel(const char* pretty) {
  const char* begin = pretty == nullptr ? nullptr : std::strstr(pretty, "Name = ");
  if (begin == nullptr) return {};
  begin += std::strlen("Name = ");
  return {begin, std::strcspn(begin, ";]")};
}
std::string spell_kernel(const char* pretty) {
  const std::string name = name_of_kernel(pretty);
  return name.empty() ? "a kernel" : "kernel " + name;
}

namespace {

class speller {
 public:
  speller(const pass_view& p, const operand* operands, std::size_t limit) : pass_(p), operands_(operands), limit_(limit) {}

  void target(int i) {
    const target_word t{pass_.targets[i]};
    p_ = t.is_result() ? pass_.results : pass_.elements;
    spell(p_.output(t.output()), 0);
  }
  std::string take() { return text_.size() > limit_ ? text_.substr(0, limit_) + " ..." : text_; }

 private:
  int node_of(reference r) const {
    for (int i = 0; i < p_.nodes; ++i)
      if (const head h{p_.heads[i]}; h.type() == r.type() && h.slot() == r.slot()) return i;
    return -1;
  }
  // A reduction is named by the last operation of its rule.
  void reduction(int number) {
    const program_view after = p_;
    p_ = pass_.rules[number];
    const int last = node_of(p_.output(0));
    switch (last >= 0 ? head{p_.heads[last]}.code() : op::load) {
      case op::add: text_ += "sum("; break;
      case op::multiply: text_ += "prod("; break;
      case op::min: text_ += "min("; break;
      case op::max: text_ += "max("; break;
      case op::logical_and: text_ += "all("; break;
      case op::logical_or: text_ += "any("; break;
      default: text_ += "reduce(";
    }
    p_ = pass_.elements;
    spell(p_.output(pass_.firsts[number]), 0);
    text_ += ")";
    p_ = after;
  }
  // Weak: its conversion is no part of what the user wrote.
  bool is_scalar(reference r) const {
    const int i = node_of(r);
    return i >= 0 && (head{p_.heads[i]}.code() == op::value || head{p_.heads[i]}.code() == op::constant);
  }
  // C++'s, from the loosest binding up.
  static int precedence(const op_info& row) {
    if (row.token == nullptr) return 12;
    if (row.arity == 1) return 11;
    const std::string_view token = row.token;
    if (token == "*" || token == "/" || token == "%") return 10;
    if (token == "+" || token == "-") return 9;
    if (token == "<<" || token == ">>") return 8;
    if (token[0] == '<' || token[0] == '>') return 7;
    if (token == "==" || token == "!=") return 6;
    if (token == "&") return 5;
    if (token == "^") return 4;
    if (token == "|") return 3;
    return token == "&&" ? 2 : 1;
  }
  // Arrays and scalars in device memory get the letters, in order; values by value stand for themselves.
  void operand_of(op code, dtype type, std::uint64_t number) {
    if (code == op::value && operands_ != nullptr) return literal_of(type, operands_[number].word[0], operands_[number].word[1]);
    std::uint64_t letter = number;
    for (std::uint64_t k = 0; operands_ != nullptr && k <= number; ++k)
      letter -= operands_[k].of_same_struct || (k < number && operands_[k].kind == operand_kind::value) ? 1 : 0;
    const bool shifted = code == op::neighbour;
    if (shifted) text_ += "shift(";
    if (letter < 26) text_ += static_cast<char>('a' + letter);
    else {
      text_ += "x";
      text_ += std::to_string(letter);
    }
    if (operands_ != nullptr && operands_[number].member != nullptr) {
      text_ += ".";
      text_ += operands_[number].member;
    }
    if (shifted && operands_ != nullptr) {
      text_ += ", ";
      text_ += std::to_string(operands_[number].distance);
    }
    if (shifted) text_ += ")";
  }
  void number(double v) {
    char line[32];
    std::snprintf(line, sizeof line, "%.9g", v);
    text_ += line;
  }
  void literal_of(dtype type, std::uint64_t bits, std::uint64_t second = 0) {
    if (kind_of(type) == kind::complex) {
      const auto z = type == dtype::complex64 ? math::convert<complex_value<double>>(from_bits<complex_value<float>>(bits))
                                              : from_literal<complex_value<double>>({bits, second});
      text_ += '(';
      number(z.re);
      text_ += z.im < 0 ? " - " : " + ";
      number(z.im < 0 ? -z.im : z.im);
      text_ += "i)";
    } else if (kind_of(type) == kind::real) {
      number(type == dtype::float64 ? from_bits<double>(bits) : static_cast<double>(from_bits<float>(bits)));
    } else if (type == dtype::boolean) {
      text_ += bits != 0 ? "true" : "false";
    } else {
      text_ += info(type).is_signed ? std::to_string(static_cast<std::int64_t>(bits)) : std::to_string(bits);
    }
  }
  // Shared nodes are spelled wherever they are used, so the text is cut while it grows.
  void spell(reference r, int outer) {
    if (text_.size() > limit_) return;
    const int i = node_of(r);
    if (i < 0) return;
    const head h{p_.heads[i]};
    const std::uint64_t payload = p_.payloads[i];
    const op_info& row = info(h.code());
    if (h.code() == op::reduced) {
      reduction(static_cast<int>(payload & 0xffff));
    } else if (h.code() == op::count) {
      text_ += "count";
    } else if (reads(h.code())) {
      operand_of(h.code(), h.type(), payload);
    } else if (h.code() == op::constant) {
      literal_of(h.type(), payload);
    } else if (h.code() == op::result) {
      text_ += "f";
      text_ += std::to_string(payload >> 16 & 0xffff);
      text_ += "(...)";
    } else if (h.code() == op::convert && is_scalar(reference::of(payload, 0))) {
      spell(reference::of(payload, 0), outer);
    } else if (h.code() == op::convert) {
      text_ += "cast<";
      text_ += name(h.type());
      text_ += ">(";
      spell(reference::of(payload, 0), 0);
      text_ += ")";
    } else if (row.token == nullptr) {
      text_ += row.name;
      text_ += "(";
      for (int k = 0; k < row.arity; ++k) {
        if (k > 0) text_ += ", ";
        spell(reference::of(payload, k), 0);
      }
      text_ += ")";
    } else {
      const int mine = precedence(row);
      if (mine < outer) text_ += "(";
      if (row.arity == 1) {
        text_ += row.token;
        spell(reference::of(payload, 0), mine);
      } else {
        spell(reference::of(payload, 0), mine);
        text_ += ' ';
        text_ += row.token;
        text_ += ' ';
        spell(reference::of(payload, 1), mine + 1);
      }
      if (mine < outer) text_ += ")";
    }
  }
  static bool reads(op code) { return code <= op::load_scalar; }

  const pass_view& pass_;
  program_view p_{};
  const operand* operands_;
  std::size_t limit_;
  std::string text_;
};

}  // namespace

std::string spell_pass(const pass_view& p, const operand* operands, std::size_t limit) {
  if (p.target_count == 0) return "an expression";
  speller s(p, operands, limit);
  s.target(0);
  return s.take();
}

}  // namespace dsl::detail

#include "exec/plan/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

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

std::string spell_axes(std::uint32_t reduced, int rank) {
  std::string numbers;
  int count = 0;
  for (int d = 0; d < rank; ++d) {
    if ((reduced >> d & 1) == 0) continue;
    numbers += (count++ > 0 ? ", " : "") + std::to_string(d);
  }
  return count == rank ? "" : "axis(" + numbers + ")";
}

namespace {

// Positions are computed and have no memory, so they are compared by their words.
bool is_same(const operand& a, const operand& b) {
  if (is_same_operand(a, b)) return true;
  return a.memory == nullptr && b.memory == nullptr && a.kind == b.kind && a.word[0] == b.word[0] &&
         a.rank == b.rank && std::equal(a.extents, a.extents + a.rank, b.extents) &&
         std::equal(a.strides, a.strides + a.rank, b.strides);
}

}  // namespace

void operand_names::add(const operand* all, int count) {
  for (int k = 0; k < count; ++k) {
    const operand& o = all[k];
    if (o.kind == operand_kind::value || o.kind == operand_kind::step ||
        o.kind == operand_kind::position || o.is_position || o.source != nullptr)
      continue;
    const auto same = std::find_if(all_.begin(), all_.end(),
                                   [&o](const named& other) { return is_same(other.of, o); });
    const bool goes_on = o.of_same_struct && !all_.empty();
    all_.push_back({o, goes_on ? all_.back().letter : same != all_.end() ? same->letter : next_++});
  }
}

std::string operand_names::letter(std::uint64_t number) {
  if (number < 26) return std::string(1, static_cast<char>('a' + number));
  return std::string("x").append(std::to_string(number));
}

std::string operand_names::of(const operand& o) const {
  if (o.kind == operand_kind::position || o.is_position) return "position";
  const auto same = std::find_if(all_.begin(), all_.end(),
                                 [&o](const named& other) { return is_same(other.of, o); });
  if (same == all_.end()) return "?";
  return o.member != nullptr ? letter(same->letter) + "." + o.member : letter(same->letter);
}

int formula_speller::node_of_target(int i) const {
  const target_word t{pass_->pass().targets[i]};
  return program(t.is_result()).output(t.output());
}

void formula_speller::target(int i) {
  node(target_word{pass_->pass().targets[i]}.is_result(), node_of_target(i));
}

std::string formula_speller::take() {
  return text_.size() > limit_ ? text_.substr(0, limit_) + " ..." : text_;
}

namespace {

// Constants of complex128 are two constants, one for each part.
bool is_complex_constant(const indexed_program& p, int node) {
  return p.code(node) == op::complex && p.code(p.operand(node, 0)) == op::constant &&
         p.code(p.operand(node, 1)) == op::constant;
}

}  // namespace

bool formula_speller::is_leaf(bool of_results, int node) const {
  const indexed_program& p = program(of_results);
  const op code = p.code(node);
  if (code == op::reduced) return false;
  // The conversion of a weakly typed number is not in the user's formula.
  if (code == op::convert) {
    const op from = p.code(p.operand(node, 0));
    return from == op::value || from == op::constant;
  }
  return code <= op::load_scalar || code == op::constant || code == op::count ||
         is_complex_constant(p, node);
}

void formula_speller::reduction(const named_reduction& r) {
  text_ += r.name;
  text_ += "(";
  node(false, r.of);
  if (!axes_.empty()) text_ += ", " + axes_;
  if (r.ddof >= 0) {
    text_ += ", ddof(";
    node(true, r.ddof);
    text_ += ")";
  }
  text_ += ")";
}

namespace {

// As in C++, from the loosest binding up.
int precedence(const op_info& row) {
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

}  // namespace

// Spells the formula of the earlier pass in the place of the value.
void formula_speller::value(const value_source& source, int outer) {
  const named_pass earlier(*source.pass);
  const named_pass* const pass = std::exchange(pass_, &earlier);
  const operand* const operands = std::exchange(operands_, source.operands);
  const std::string axes = std::exchange(axes_, spell_axes(source.reduced, source.rank));
  const bool is_result = target_word{source.pass->targets[source.output]}.is_result();
  if (source.function != nullptr) text_ += std::string(source.function) + "(";
  node(is_result, node_of_target(source.output), source.function != nullptr ? 0 : outer);
  if (source.function != nullptr) text_ += ")";
  pass_ = pass;
  operands_ = operands;
  axes_ = axes;
}

// Arrays and scalars in device memory have letters; host scalars are written as their values.
void formula_speller::operand_of(op code, dtype type, std::uint64_t number, int outer) {
  if (operands_ == nullptr) {
    text_ += operand_names::letter(number);
    return;
  }
  const operand& o = operands_[number];
  if (code == op::value) return literal_of(type, o.word[0], o.word[1]);
  if (o.source != nullptr) return value(*o.source, outer);
  text_ += names_->of(o);
}

// Writes only arguments that differ from the defaults.
void formula_speller::step(const path_step& s, const operand* of) {
  path_step by = s;
  if (s.slot >= 0 && operands_ != nullptr) {
    const operand& given = operands_[s.slot];
    by = {given.axis, given.beyond, given.distance};
  }
  constexpr const char* names[] = {"zero", "wrap", "clamp", "reflect"};
  if (s.slot < 0 || operands_ != nullptr) text_ += ", " + std::to_string(by.distance);
  if (by.axis != 0 || by.beyond != boundary::zero)
    text_ += std::string(", ") + names[static_cast<int>(by.beyond)];
  if (of == nullptr ? by.axis != 0 : of->rank > 1 && (by.axis != 0 || by.beyond != boundary::zero))
    text_ += ", " + std::to_string(of == nullptr ? -1 - by.axis : of->rank - 1 - by.axis);
}

// The first step of the path is the outermost shift.
void formula_speller::neighbour(const indexed_program& p, int node, int outer) {
  const op code = p.code(node);
  const auto slot = static_cast<std::uint64_t>(p.field(node, 0));
  const operand* const of = operands_ != nullptr ? &operands_[slot] : nullptr;
  const auto index_of = [&](int axis) {
    text_ += "index(";
    operand_of(op::load, p.at(node).type(), slot, 0);
    text_ += ", " + std::to_string(of == nullptr ? -1 - axis : of->rank - 1 - axis) + ")";
  };
  if (code == op::coordinate) return index_of(p.field(node, 1));
  const neighbour_path path = path_of(p.view(), node);
  if (code == op::inside) text_ += "inside(";
  for (int s = 0; s < path.count; ++s) text_ += "shift(";
  if (path.base == op::coordinate) index_of(path.axis);
  else operand_of(op::load, p.at(node).type(), slot, path.count == 0 ? outer : 0);
  for (int s = path.count - 1; s >= 0; --s) {
    step(path.step[s], of);
    text_ += ")";
  }
  if (code == op::inside) text_ += ")";
}

void formula_speller::number(double v, bool is_float) {
  char line[32];
  // The fewest digits that read back as the same float.
  for (int digits = is_float ? 6 : 9; digits <= 9; ++digits) {
    std::snprintf(line, sizeof line, "%.*g", digits, v);
    if (static_cast<double>(std::strtof(line, nullptr)) == v) break;
  }
  text_ += line;
}

void formula_speller::complex_number(double re, double im, bool is_float) {
  const bool is_in_parentheses = re != 0 || std::signbit(im);
  if (is_in_parentheses) text_ += '(';
  if (re != 0) {
    number(re, is_float);
    text_ += im < 0 ? " - " : " + ";
    im = std::abs(im);
  }
  number(im, is_float);
  text_ += 'i';
  if (is_in_parentheses) text_ += ')';
}

void formula_speller::literal_of(dtype type, std::uint64_t bits, std::uint64_t second) {
  if (kind_of(type) == kind::complex) {
    const bool is_float = type == dtype::complex64;
    const auto z = is_float
                       ? math::convert<complex_value<double>>(from_bits<complex_value<float>>(bits))
                       : from_literal<complex_value<double>>({bits, second});
    complex_number(z.re, z.im, is_float);
  } else if (kind_of(type) == kind::real) {
    const bool is_float = type != dtype::float64;
    number(is_float ? static_cast<double>(from_bits<float>(bits)) : from_bits<double>(bits),
           is_float);
  } else if (type == dtype::boolean) {
    text_ += bits != 0 ? "true" : "false";
  } else {
    text_ += info(type).is_signed ? std::to_string(static_cast<std::int64_t>(bits))
                                  : std::to_string(bits);
  }
}

void formula_speller::node(bool of_results, int node, int outer) {
  if (node < 0 || text_.size() > limit_) return;
  if (const std::string other = pass_ == &own_ ? shortcut(of_results, node) : ""; !other.empty())
    text_ += other;
  else operation(of_results, node, outer);
}

// A shared node is spelled at each use, so the text is cut while it grows.
void formula_speller::operation(bool of_results, int node_number, int outer) {
  const indexed_program& p = program(of_results);
  const auto operand = [&](int k, int looser) {
    node(of_results, p.operand(node_number, k), looser);
  };
  const op code = p.code(node_number);
  const std::uint64_t payload = p.payload(node_number);
  const dtype type = p.at(node_number).type();
  const op_info& row = info(code);
  if (const named_reduction known =
          of_results ? pass_->reduction_of(node_number) : named_reduction{};
      !known.name.empty()) {
    reduction(known);
  } else if (code == op::count) {
    text_ += "count";
  } else if (is_placed(code)) {
    neighbour(p, node_number, outer);
  } else if (code <= op::load_scalar) {
    operand_of(code, type, payload, outer);
  } else if (code == op::constant) {
    literal_of(type, payload);
  } else if (is_complex_constant(p, node_number)) {
    const auto part = [&](int k) {
      return from_bits<double>(p.payload(p.operand(node_number, k)));
    };
    complex_number(part(0), part(1), false);
  } else if (code == op::result) {
    text_ += "f";
    text_ += std::to_string(payload >> 16 & 0xffff);
    text_ += "(";
    bool is_first = true;
    for (int i = 0; i < node_number; ++i) {
      if (!p.is_argument_of(i, node_number)) continue;
      if (!std::exchange(is_first, false)) text_ += ", ";
      node(of_results, p.operand(i, 0));
    }
    text_ += ")";
    if (const int value = p.field(node_number, 2); value > 0)
      text_ += "[" + std::to_string(value) + "]";
  } else if (code == op::convert && is_leaf(of_results, node_number)) {
    operand(0, outer);
  } else if (code == op::convert) {
    text_ += "cast<";
    text_ += name(type);
    text_ += ">(";
    operand(0, 0);
    text_ += ")";
  } else if (code == op::where && p.operand(node_number, 1) == p.operand(node_number, 2)) {
    operand(1, outer);  // Made by `reduce_for_results`; a formula's own is simplified when traced.
  } else if (row.token == nullptr) {
    text_ += row.name;
    text_ += "(";
    for (int k = 0; k < row.arity; ++k) {
      if (k > 0) text_ += ", ";
      operand(k, 0);
    }
    text_ += ")";
  } else {
    const int mine = precedence(row);
    if (mine < outer) text_ += "(";
    if (row.arity == 1) {
      text_ += row.token;
      operand(0, mine);
    } else {
      operand(0, mine);
      text_ += ' ';
      text_ += row.token;
      text_ += ' ';
      operand(1, mine + 1);
    }
    if (mine < outer) text_ += ")";
  }
}

std::string spell_pass(const pass_view& p, const operand* operands, int output, std::size_t limit) {
  if (p.target_count == 0) return "an expression";
  int inputs = 0;
  const value_source* earlier = nullptr;
  for (int i = 0; operands != nullptr && i < p.elements.nodes + p.results.nodes; ++i) {
    const program_view& of = i < p.elements.nodes ? p.elements : p.results;
    const int n = i < p.elements.nodes ? i : i - p.elements.nodes;
    if (head{of.heads[n]}.code() > op::load_scalar) continue;
    const auto number = operand_read(of, n);
    inputs = std::max(inputs, static_cast<int>(number) + 1);
    if (earlier == nullptr) earlier = operands[number].source;
  }
  const operand_names names = earlier != nullptr
                                  ? operand_names(earlier->leaves, earlier->leaf_count)
                                  : operand_names(operands, inputs);
  formula_speller s(p, operands, names, limit);
  s.target(output);
  return s.take();
}

}  // namespace dsl::detail

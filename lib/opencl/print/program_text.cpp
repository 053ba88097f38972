#include "opencl/print/program_text.hpp"

#include "mem/text.hpp"
#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

namespace {

class printer {
 public:
  printer(const indexed_program& p, const abilities& can, const input_printer& input,
          const gather_printer& gather, const std::string& prefix, const std::string& indent)
      : p_(p),
        can_(can),
        input_(input),
        gather_(gather),
        prefix_(prefix),
        indent_(indent),
        values_(static_cast<std::size_t>(p.size())),
        uses_(values_.size()),
        sums_(values_.size()) {}

  printed_program print() {
    count_uses();
    for (int i = 0; i < p_.size(); ++i) node(i);
    for (int i = 0; i < p_.outputs(); ++i) made_.outputs.push_back(value(p_.output(i)));
    return std::move(made_);
  }

 private:
  static std::size_t at(int node) { return static_cast<std::size_t>(node); }
  value_text value(int node) const { return {values_[at(node)], p_.at(node).type()}; }
  int arity(int node) const {
    const op code = p_.code(node);
    return code <= op::count || is_step(code) ? 0 : operand_count(code);
  }

  // Counts how often each value is used, and whether all uses are sums of its own dtype.
  void count_uses() {
    for (int i = 0; i < p_.size(); ++i)
      for (int k = 0; k < arity(i); ++k) {
        const int of = p_.operand(i, k);
        const bool is_sum = (p_.code(i) == op::add || p_.code(i) == op::subtract) &&
                            p_.at(of).type() == p_.at(i).type();
        ++uses_[at(of)];
        sums_[at(of)] += is_sum ? 1 : 0;
      }
    for (int i = 0; i < p_.outputs(); ++i) ++uses_[at(p_.output(i))];
  }
  // A product that is only added to something stands in the sum, so that the two may become one
  // instruction.
  bool stands_in_sum(int node) const {
    return p_.code(node) == op::multiply && uses_[at(node)] == 1 && sums_[at(node)] == 1 &&
           kind_of(p_.at(node).type()) == kind::real &&
           computed_in(p_.at(p_.operand(node, 0)).type()) ==
               computed_in(p_.at(p_.operand(node, 1)).type());
  }

  void node(int i) {
    const op code = p_.code(i);
    const dtype type = p_.at(i).type();
    if (is_step(code)) return;
    if (code == op::constant) {
      const std::string text = literal_text(type, {p_.payload(i)});
      values_[at(i)] = text[0] == '-' ? "(" + text + ")" : text;
    } else if (code <= op::count) {
      input(i, code, type);
    } else if (code == op::call || code == op::argument || code == op::result) {
      raise<device_error>(
          "dsl::vectorize: a functor in C++ cannot be printed as OpenCL C: write it as a lambda "
          "with "
          "auto parameters, which is traced, or run it on another device");
    } else if (stands_in_sum(i)) {
      values_[at(i)] = expression(i, code, type);
    } else {
      declare(value_type(type), prefix_ + std::to_string(i), expression(i, code, type), i);
    }
  }

  std::string expression(int i, op code, dtype type) const {
    if (code == op::gather) return gather_(p_.operand(i, 0), type, values_[at(p_.operand(i, 1))]);
    value_text x[3];
    for (int k = 0; k < arity(i); ++k) x[k] = value(p_.operand(i, k));
    if (code == op::convert) return conversion_text(type, x[0]);
    return row_text(code, type, x, can_.rounds_divide_and_sqrt);
  }

  void input(int i, op code, dtype type) {
    const input_text from = input_(i, made_.text);
    if (from.name.empty()) values_[at(i)] = from.expression;
    else declare(is_address(i, code) ? "long" : value_type(type), from.name, from.expression, i);
  }
  // Addresses are offsets within their operand's memory.
  bool is_address(int i, op code) const {
    return code == op::address ||
           (code == op::neighbour && path_of(p_.view(), i).base == op::address);
  }

  void declare(const char* type, const std::string& name, const std::string& text, int i) {
    made_.text += indent_ + "const " + type + " " + name + " = " + text + ";\n";
    values_[at(i)] = name;
  }

  const indexed_program& p_;
  const abilities& can_;
  const input_printer& input_;
  const gather_printer& gather_;
  const std::string &prefix_, &indent_;
  std::vector<std::string> values_;
  std::vector<int> uses_, sums_;
  printed_program made_;
};

}  // namespace

printed_program print_program(const indexed_program& p, const abilities& can,
                              const input_printer& input, const gather_printer& gather,
                              const std::string& prefix, const std::string& indent) {
  return printer(p, can, input, gather, prefix, indent).print();
}

}  // namespace dsl::detail::opencl

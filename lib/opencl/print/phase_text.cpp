#include "opencl/print/phase_text.hpp"

#include "opencl/print/kernel_parts.hpp"
#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

phase_text::phase_text(const operand_texts& operands, const abilities& can, phase of)
    : operands_(operands), can_(can), of_(std::move(of)), sums_(accumulators_of(of_.pass)) {
  for (accumulated& a : sums_) a.reduction += of_.first_reduction;
}

std::string phase_text::rules() const {
  std::string text;
  for (int j = 0; j < of_.pass.reductions; ++j)
    text += print_rule(of_.pass.rules[j], of_.first_reduction + j, can_);
  return text;
}

printed_program phase_text::elements(const std::string& indent) const {
  return print_elements(operands_, of_.pass.elements, of_.places, can_, indent,
                        {operands_.own_position()});
}

std::string phase_text::take(const printed_program& element, const std::string& indent) const {
  return store_targets(element, false, indent) + combine(element, indent);
}

std::string phase_text::combine(const printed_program& element, const std::string& indent) const {
  return combine_text(sums_, indent, [&](const accumulated& a) {
    return element.outputs[static_cast<std::size_t>(a.output)].text;
  });
}

adjacent_text phase_text::adjacent(int lanes) const {
  std::vector<stored_output> stored;
  for (int i = 0; i < of_.pass.target_count; ++i) {
    const target_word t{of_.pass.targets[i]};
    const int operand = of_.first_target + i;
    if (!t.is_result() && operands_.is_stored(operand - operands_.inputs()))
      stored.push_back({t.output(), operand, of_.pass.type(i)});
  }
  return {operands_, can_, of_.pass.elements, of_.places, std::move(stored), lanes};
}

printed_program phase_text::results(const std::string& indent) const {
  const indexed_program p(of_.pass.results);
  const std::string prefix = "r" + std::to_string(of_.first_reduction) + "_";
  const input_printer input = [&](int node, std::string&) {
    const op code = p.code(node);
    if (code == op::count) return input_text{prefix + std::to_string(node), "count"};
    if (code == op::reduced)
      return input_text{"", "sum" + std::to_string(of_.first_reduction + p.field(node, 0)) + "_" +
                                std::to_string(p.field(node, 1))};
    const input_place from = of_.places(static_cast<int>(operand_read(p.view(), node)));
    if (from.operand < 0) return input_text{"", from.known};
    return scalar_text(operands_, code, p.at(node).type(), from.operand);
  };
  return print_program(p, can_, input, {}, prefix, indent);
}

std::string phase_text::store(const printed_program& results, const std::string& indent) const {
  return store_targets(results, true, indent);
}

std::string phase_text::store_targets(const printed_program& from, bool results,
                                      const std::string& indent) const {
  std::string text;
  for (int i = 0; i < of_.pass.target_count; ++i) {
    const target_word t{of_.pass.targets[i]};
    if (t.is_result() != results) continue;
    const int operand = of_.first_target + i, target = operand - operands_.inputs();
    const value_text& value = from.outputs[static_cast<std::size_t>(t.output())];
    if (operands_.is_stored(target))
      text += store_text(operands_, operand, operands_.own_position(), value, indent);
    if (results && operands_.is_recorded(target)) {
      const std::string own = "_recorded" + std::to_string(target);
      text += indent + "store_" + name(value.type) + "(m" + own + ", o" + own + ", " + value.text +
              ");\n";
    }
  }
  return text;
}

std::string phase_text::declare(const printed_program& from, bool results,
                                const std::function<std::string(int target)>& spell,
                                const std::string& indent) const {
  std::string text;
  for (int i = 0; i < of_.pass.target_count; ++i) {
    const target_word t{of_.pass.targets[i]};
    if (t.is_result() != results) continue;
    const value_text& value = from.outputs[static_cast<std::size_t>(t.output())];
    text +=
        indent + "const " + value_type(value.type) + " " + spell(i) + " = " +
        (is_widened(value.type) ? std::string("round_") + name(value.type) + "(" + value.text + ")"
                                : value.text) +
        ";\n";
  }
  return text;
}

}  // namespace dsl::detail::opencl

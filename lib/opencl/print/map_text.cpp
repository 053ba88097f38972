// A work-item computes one element after another, as far apart as there are work-items; or several
// at once, so that a GPU has enough bytes on their way: side by side in vectors of 16 bytes, where
// all arrays allow it, or else a work-group's size apart. All of them are read before the first one
// is stored. The last elements, fewer than that, follow one by one.
#include "opencl/print/map_text.hpp"

#include <algorithm>

#include "opencl/print/adjacent_text.hpp"
#include "opencl/print/kernel_parts.hpp"
#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

namespace {

constexpr std::uint32_t all_dimensions = ~std::uint32_t{0};
// More values than these in a kernel take registers and time to compile.
constexpr int most_values = 1024;

// The outputs that are stored.
std::vector<stored_output> stored_outputs(const operand_texts& operands) {
  const program_code& code = operands.pass().code();
  const pass_view& view = code.pass.view;
  std::vector<stored_output> all;
  for (int i = 0; i < code.outputs(); ++i)
    if (operands.is_stored(i))
      all.push_back({target_word{view.targets[i]}.output(), code.inputs + i, view.type(i)});
  return all;
}
adjacent_text adjacent_elements(const operand_texts& operands, const abilities& can, int lanes) {
  return {operands, can, operands.view().elements, own_place, stored_outputs(operands), lanes};
}

class map_printer {
 public:
  map_printer(const operand_texts& operands, const abilities& can)
      : operands_(operands),
        can_(can),
        code_(operands.pass().code()),
        lanes_(lanes_of(operands, can)),
        stored_(stored_outputs(operands)) {}

  std::string print() const {
    std::string text = begin_kernel(kernel_name(code_), parameters(), can_);
    if (lanes_.count == 1)
      return text + loop("  ", "element", "get_global_id(0)", "get_global_size(0)") +
             one_element("    ") + "  }\n}\n";
    const std::string count = std::to_string(lanes_.count), position = operands_.position_type();
    if (lanes_.is_adjacent) {
      text += "  const " + position + " apart = 1;\n" +
              loop("  ", "first", "get_global_id(0) * " + count, "get_global_size(0) * " + count);
    } else {
      text += "  const " + position + " apart = get_local_size(0);\n" +
              loop("  ", "first", "get_group_id(0) * apart * " + count + " + get_local_id(0)",
                   "get_num_groups(0) * apart * " + count);
    }
    // Rows of vectors have no last elements.
    if (lanes_.is_adjacent && operands_.space().rank > 1)
      return text + several_elements("    ") + "  }\n}\n";
    return text + "    if (first + " + std::to_string(lanes_.count - 1) +
           " * apart < elements) {\n" + several_elements("      ") + "    } else {\n" +
           loop("      ", "element", "first", "apart") + one_element("        ") +
           "      }\n    }\n  }\n}\n";
  }

  kernel_launches launches() const {
    kernel_launches made;
    const std::int64_t elements = operands_.space().elements;
    made.launches.push_back({"first", {}, (elements + lanes_.count - 1) / lanes_.count, 0});
    for (const parameter& p : parameters()) made.launches[0].arguments.push_back(p.argument);
    return made;
  }

 private:
  std::vector<parameter> parameters() const {
    std::vector<parameter> all = operands_.parameters();
    all.push_back(operands_.by_position("elements", operands_.space().elements));
    return all;
  }

  std::string loop(const std::string& indent, const std::string& number, const std::string& from,
                   const std::string& step) const {
    return indent + "for (" + operands_.position_type() + " " + number + " = " + from + "; " +
           number + " < elements; " + number + " += " + step + ") {\n";
  }

  std::string one_element(const std::string& indent) const {
    const element_place here{operands_.own_position()};
    const printed_program made = print_elements(operands_, can_, indent, here);
    std::string text = operands_.positions("element", all_dimensions, indent) + made.text;
    for (const stored_output& each : stored_)
      text += store_text(operands_, each.operand, here.at,
                         made.outputs[static_cast<std::size_t>(each.output)], indent);
    return text;
  }

  static std::string value_of_lane(int k, int lane) {
    return "to" + std::to_string(k) + "_" + std::to_string(lane);
  }
  static std::string place_of_lane(int k, int lane) {
    return "at" + std::to_string(k) + "_" + std::to_string(lane);
  }

  std::string several_elements(const std::string& indent) const {
    if (!lanes_.is_adjacent) return elements_apart(indent);
    const adjacent_text all = adjacent_elements(operands_, can_, lanes_.count);
    return operands_.positions("first", all_dimensions, indent) + all.read(indent) +
           all.compute("", indent, [](const printed_program&, const std::string&) { return ""; });
  }

  std::string elements_apart(const std::string& indent) const {
    std::string text;
    const auto declare = [&](const char* type, int k, auto name) {
      text += indent + type;
      for (int lane = 0; lane < lanes_.count; ++lane)
        text += (lane == 0 ? " " : ", ") + name(k, lane);
      text += ";\n";
    };
    for (const stored_output& each : stored_) {
      declare(value_type(each.type), each.operand, value_of_lane);
      declare("long", each.operand, place_of_lane);
    }
    for (int lane = 0; lane < lanes_.count; ++lane) text += one_lane(lane, indent);
    for (const stored_output& each : stored_)
      for (int lane = 0; lane < lanes_.count; ++lane)
        text += indent + "store_" + name(each.type) + "(m" + std::to_string(each.operand) + ", " +
                place_of_lane(each.operand, lane) + ", " + value_of_lane(each.operand, lane) +
                ");\n";
    return text;
  }

  std::string one_lane(int lane, const std::string& indent) const {
    const std::string inner = indent + "  ";
    const element_place here{operands_.own_position()};
    const printed_program made = print_elements(operands_, can_, inner, here);
    std::string text = indent + "{\n" + inner + "const " + operands_.position_type() +
                       " element = first + " + std::to_string(lane) + " * apart;\n" +
                       operands_.positions("element", all_dimensions, inner) + made.text;
    for (const stored_output& each : stored_) {
      text += inner + value_of_lane(each.operand, lane) + " = " +
              made.outputs[static_cast<std::size_t>(each.output)].text + ";\n";
      text += inner + place_of_lane(each.operand, lane) + " = " +
              operands_.offset(each.operand, here.at) + ";\n";
    }
    return text + indent + "}\n";
  }

  const operand_texts& operands_;
  const abilities& can_;
  const program_code& code_;
  item_lanes lanes_;
  std::vector<stored_output> stored_;
};

}  // namespace

item_lanes lanes_of(const operand_texts& operands, const abilities& can) {
  const program_code& code = operands.pass().code();
  int count = can.takes_lanes && operands.space().rank > 0 ? std::max(code.pass.lanes, 1) : 1;
  while (count > 1 && count * code.pass.view.elements.nodes > most_values) count /= 2;
  if (count == 1) return {1, false, ""};
  const adjacent_text adjacent = adjacent_elements(operands, can, count);
  if (adjacent.is_possible()) return {count, true, adjacent.pattern()};
  return {count, false, std::to_string(count) + " apart"};
}

std::string print_map(const operand_texts& operands, const abilities& can) {
  return map_printer(operands, can).print();
}
kernel_launches launches_of_map(const operand_texts& operands, const abilities& can) {
  return map_printer(operands, can).launches();
}

}  // namespace dsl::detail::opencl

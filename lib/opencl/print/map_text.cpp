// A work-item computes one element after another, as far apart as there are work-items; or several
// at once, so that a GPU has enough bytes on their way: side by side in vectors of 16 bytes, where
// all arrays allow it, or else a work-group's size apart. All of them are read before the first one
// is stored. The last elements, fewer than that, follow one by one.
#include "opencl/print/map_text.hpp"

#include <algorithm>

#include "opencl/print/element_text.hpp"
#include "opencl/print/kernel_parts.hpp"
#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

namespace {

constexpr std::uint32_t all_dimensions = ~std::uint32_t{0};
// More values than these in a kernel take registers and time to compile.
constexpr int most_values = 1024;

// Whether all elements of a work-item are vectors of the arrays that it accesses, or one address.
bool has_vectors(const operand_texts& operands, int lanes) {
  const indexed_program p(operands.view().elements);
  const geometry& g = operands.space();
  if (g.rank == 0) return false;
  const int last = g.rank - 1;
  if (g.rank > 1 && g.extents[last] % lanes != 0) return false;
  for (int i = 0; i < p.size(); ++i) {
    const op code = p.code(i);
    if (code == op::gather || code == op::neighbour || code == op::inside) return false;
    if (code != op::load) continue;
    const auto k = static_cast<int>(operand_read(p.view(), i));
    if (operands.stride(k, last) != 0 && !operands.is_wide(k)) return false;
  }
  for (int i = 0; i < operands.pass().code().outputs(); ++i)
    if (operands.is_stored(i) && !operands.is_wide(operands.inputs() + i)) return false;
  return true;
}

class map_printer {
 public:
  map_printer(const operand_texts& operands, const abilities& can)
      : operands_(operands),
        can_(can),
        code_(operands.pass().code()),
        lanes_(lanes_of(operands, can)) {}

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

  // Calls `each` with each output that is stored: its number, its operand, and its dtype.
  template <class Each>
  void for_stored(const Each& each) const {
    const pass_view& view = code_.pass.view;
    for (int i = 0; i < code_.outputs(); ++i)
      if (operands_.is_stored(i))
        each(target_word{view.targets[i]}.output(), code_.inputs + i, view.type(i));
  }

  std::string one_element(const std::string& indent) const {
    const element_place here{operands_.own_position()};
    const printed_program made = print_elements(operands_, can_, indent, here);
    std::string text = operands_.positions("element", all_dimensions, indent) + made.text;
    for_stored([&](int output, int k, dtype) {
      text +=
          store_text(operands_, k, here.at, made.outputs[static_cast<std::size_t>(output)], indent);
    });
    return text;
  }

  static std::string value_of_lane(int k, int lane) {
    return "to" + std::to_string(k) + "_" + std::to_string(lane);
  }
  static std::string place_of_lane(int k, int lane) {
    return "at" + std::to_string(k) + "_" + std::to_string(lane);
  }

  std::string several_elements(const std::string& indent) const {
    std::string text;
    if (lanes_.is_adjacent)
      text += operands_.positions("first", all_dimensions, indent) + read(indent);
    for_stored([&](int, int k, dtype type) {
      text += indent + value_type(type);
      for (int lane = 0; lane < lanes_.count; ++lane)
        text += (lane == 0 ? " " : ", ") + value_of_lane(k, lane);
      text += ";\n";
      if (lanes_.is_adjacent) return;
      text += indent + "long";
      for (int lane = 0; lane < lanes_.count; ++lane)
        text += (lane == 0 ? " " : ", ") + place_of_lane(k, lane);
      text += ";\n";
    });
    for (int lane = 0; lane < lanes_.count; ++lane) text += one_lane(lane, indent);
    return text + (lanes_.is_adjacent ? store_vectors(indent) : store_lanes(indent));
  }

  std::string one_lane(int lane, const std::string& indent) const {
    const std::string inner = indent + "  ", number = std::to_string(lane);
    element_place here{operands_.own_position()};
    std::string text = indent + "{\n";
    if (!lanes_.is_adjacent) {
      text += inner + "const " + operands_.position_type() + " element = first + " + number +
              " * apart;\n" + operands_.positions("element", all_dimensions, inner);
    } else {
      if (lane > 0) here.at.back() = "(" + here.at.back() + " + " + number + ")";
      here.lane = lane;
      here.lanes = lanes_.count;
    }
    const printed_program made = print_elements(operands_, can_, inner, here);
    text += made.text;
    for_stored([&](int output, int k, dtype) {
      text += inner + value_of_lane(k, lane) + " = " +
              made.outputs[static_cast<std::size_t>(output)].text + ";\n";
      if (!lanes_.is_adjacent)
        text += inner + place_of_lane(k, lane) + " = " + operands_.offset(k, here.at) + ";\n";
    });
    return text + indent + "}\n";
  }

  std::string store_lanes(const std::string& indent) const {
    std::string text;
    for_stored([&](int, int k, dtype type) {
      for (int lane = 0; lane < lanes_.count; ++lane)
        text += indent + "store_" + name(type) + "(m" + std::to_string(k) + ", " +
                place_of_lane(k, lane) + ", " + value_of_lane(k, lane) + ");\n";
    });
    return text;
  }

  // The arrays' vectors at the position of `first`.
  std::string read(const std::string& indent) const {
    const indexed_program p(operands_.view().elements);
    std::string text;
    for (int i = 0; i < p.size(); ++i) {
      if (p.code(i) != op::load) continue;
      const auto k = static_cast<int>(operand_read(p.view(), i));
      if (!operands_.is_wide(k)) continue;
      const array_vectors all(p.at(i).type(), lanes_.count);
      for (int each = 0; each < all.count; ++each)
        text += indent + "const " + all.type + " " + array_vectors::name(k, each) + " = " +
                vector_in_memory("const ", k, each, all) + ";\n";
    }
    return text;
  }

  std::string store_vectors(const std::string& indent) const {
    std::string text;
    for_stored([&](int, int k, dtype type) {
      const array_vectors all(type, lanes_.count);
      for (int each = 0; each < all.count; ++each) {
        std::vector<std::string> values;
        for (int lane = each * all.lanes; lane < (each + 1) * all.lanes; ++lane)
          values.push_back(value_of_lane(k, lane));
        text += indent + vector_in_memory("", k, each, all) + " = " + all.of_values(values) + ";\n";
      }
    });
    return text;
  }
  std::string vector_in_memory(const char* qualifier, int k, int number,
                               const array_vectors& all) const {
    return std::string("*(") + qualifier + "__global " + all.type + "*)(m" + std::to_string(k) +
           " + " + operands_.offset(k, operands_.own_position()) +
           (number == 0 ? "" : " + " + std::to_string(16 * number)) + ")";
  }

  const operand_texts& operands_;
  const abilities& can_;
  const program_code& code_;
  item_lanes lanes_;
};

}  // namespace

item_lanes lanes_of(const operand_texts& operands, const abilities& can) {
  const program_code& code = operands.pass().code();
  int count = can.takes_lanes && operands.space().rank > 0 ? std::max(code.pass.lanes, 1) : 1;
  while (count > 1 && count * code.pass.view.elements.nodes > most_values) count /= 2;
  return {count, count > 1 && has_vectors(operands, count)};
}

std::string print_map(const operand_texts& operands, const abilities& can) {
  return map_printer(operands, can).print();
}
kernel_launches launches_of_map(const operand_texts& operands, const abilities& can) {
  return map_printer(operands, can).launches();
}

}  // namespace dsl::detail::opencl

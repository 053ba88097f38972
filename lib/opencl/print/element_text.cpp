#include "opencl/print/element_text.hpp"

#include <algorithm>

#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

namespace {

std::string load_text(dtype type, const std::string& number, const std::string& offset) {
  return std::string("load_") + name(type) + "(m" + number + ", " + offset + ")";
}

class element_inputs {
 public:
  element_inputs(const operand_texts& operands, const indexed_program& p,
                 const input_places& places, const std::string& indent, const element_place& here)
      : operands_(operands), p_(p), places_(places), indent_(indent), here_(here) {}

  input_text input(int node, std::string& statements) const {
    const op code = p_.code(node);
    const dtype type = p_.at(node).type();
    const std::string own = "v" + std::to_string(node);
    const input_place from = places_(static_cast<int>(operand_read(p_.view(), node)));
    if (from.operand < 0) return {"", from.known};
    const int number = from.operand;
    switch (code) {
      case op::load:
        return {operand_texts::name(number),
                here_.lanes > 0 && operands_.is_wide(number)
                    ? array_vectors(type, here_.lanes).element(number, here_.lane)
                    : load_text(operands_, number, here_.at, type)};
      case op::index: return {own, operands_.index(number, here_.at)};
      case op::address: return {own, operands_.offset(number, here_.at)};
      case op::coordinate: return {own, along(number, p_.field(node, 1), here_.at)};
      case op::neighbour:
      case op::inside: return neighbour(node, own, statements);
      default: return scalar_text(operands_, code, type, number);
    }
  }

  std::string gather(int address, dtype type, const std::string& distance) const {
    const int from = places_(static_cast<int>(operand_read(p_.view(), address))).operand;
    return load_text(
        type, std::to_string(from),
        "v" + std::to_string(address) + " + " + distance + " * " + std::to_string(size_of(type)));
  }

 private:
  // The position along an axis of an operand, counted from the right.
  std::string along(int number, int axis, const position_text& at) const {
    const int d = dimension_of_axis(operands_.space(), operands_.at(number), axis);
    return d < 0 ? "0L" : at[static_cast<std::size_t>(d)];
  }

  // Each step of the path moves the position along one dimension. A step beyond the end of an axis
  // whose boundary is zero leaves the position where it was.
  input_text neighbour(int node, const std::string& own, std::string& statements) const {
    const neighbour_path path = path_of(p_.view(), node);
    const operand& of = operands_.at(path.slot);
    position_text at = here_.at;
    std::string exists;
    for (int s = 0; s < path.count; ++s) {
      path_step step = path.step[s];
      std::string distance = std::to_string(step.distance) + (is_far(step.distance) ? "L" : "");
      if (step.slot >= 0) {
        const operand& given = operands_.at(step.slot);
        step.axis = given.axis;
        step.beyond = given.beyond;
        distance = operand_texts::distance(step.slot);
      } else if (step.distance < 0) {
        distance = "(" + distance + ")";
      }
      if (step.ends_inside && step.beyond == boundary::zero) step.beyond = boundary::clamp;
      const int d = dimension_of_axis(operands_.space(), of, step.axis);
      const std::string before = d < 0 ? "0" : at[static_cast<std::size_t>(d)],
                        extent = d < 0 ? "1" : "n" + std::to_string(d),
                        moved = own + "_" + std::to_string(s);
      constexpr const char* names[] = {"zero", "wrap", "clamp", "reflect"};
      const bool may_end = step.beyond == boundary::zero;
      const std::string type = operands_.position_type();
      // A step of the program may be a long where positions are not.
      const bool is_long = type == "long" || (step.slot < 0 && is_far(step.distance));
      statements += indent_ + (may_end ? "" : "const ") + type + " " + moved + " = inside_" +
                    names[static_cast<int>(step.beyond)] + (is_long ? "_int64(" : "_int32(") +
                    before + " - " + distance + ", " + extent + ");\n";
      if (may_end) {
        statements += indent_ + "const bool " + moved + "_exists = " + moved + " >= 0;\n";
        statements += indent_ + "if (!" + moved + "_exists) " + moved + " = " + before + ";\n";
        exists += (exists.empty() ? "" : " && ") + moved + "_exists";
      }
      if (d >= 0) at[static_cast<std::size_t>(d)] = moved;
    }
    if (p_.code(node) == op::inside) return {own, exists.empty() ? "true" : exists};
    const std::string value = value_at(node, path, at);
    if (exists.empty() || path.base == op::address) return {own, value};
    const dtype type = p_.at(node).type();
    return {own, "(" + exists + ") ? " + value + " : (" + value_type(type) + ")0"};
  }

  std::string value_at(int node, const neighbour_path& path, const position_text& at) const {
    const dtype type = p_.at(node).type();
    switch (path.base) {
      case op::load: return load_text(operands_, path.slot, at, type);
      case op::index: return "(" + operands_.index(path.slot, at) + ")";
      case op::address: return operands_.offset(path.slot, at);
      default: return along(path.slot, path.axis, at);
    }
  }

  const operand_texts& operands_;
  const indexed_program& p_;
  const input_places& places_;
  const std::string& indent_;
  const element_place& here_;
};

}  // namespace

input_place own_place(int input) { return {input, {}}; }

input_text scalar_text(const operand_texts& operands, op code, dtype type, int number) {
  const std::string own = operand_texts::name(number);
  if (code == op::load_scalar) return {own, load_text(operands, number, {}, type)};
  if (type == dtype::boolean) return {own + "_value", own + " != 0"};
  return {"", own};
}

printed_program print_elements(const operand_texts& operands, const program_view& elements,
                               const input_places& places, const abilities& can,
                               const std::string& indent, const element_place& here) {
  const indexed_program p(elements);
  const element_inputs inputs(operands, p, places, indent, here);
  return print_program(
      p, can, [&](int node, std::string& to) { return inputs.input(node, to); },
      [&](int address, dtype type, const std::string& distance) {
        return inputs.gather(address, type, distance);
      },
      "v", indent);
}

array_vectors::array_vectors(dtype of, int elements) : of_(of) {
  lanes = std::min(elements, 16 / size_of(of));
  count = elements / lanes;
  const bool is_complex = kind_of(of) == kind::complex;
  const int scalars = lanes * (is_complex ? 2 : 1);
  type = is_complex ? value_type(real_of(of)) : is_narrow_real(of) ? "ushort" : stored_type(of);
  if (scalars > 1) type += std::to_string(scalars);
}
std::string array_vectors::name(int k, int number) {
  return "p" + std::to_string(k) + "_" + std::to_string(number);
}
std::string array_vectors::element(int k, int lane) const {
  constexpr const char* digits = "0123456789abcdef";
  const std::string from = name(k, lane / lanes);
  const int at = lane % lanes;
  if (kind_of(of_) == kind::complex)
    return lanes == 1 ? from : from + ".s" + digits[2 * at] + digits[2 * at + 1];
  const std::string scalar = lanes == 1 ? from : from + ".s" + digits[at];
  if (of_ == dtype::boolean) return scalar + " != 0";
  return is_narrow_real(of_) ? std::string("widen_") + dsl::name(of_) + "(" + scalar + ")" : scalar;
}
std::string array_vectors::of_values(const std::vector<std::string>& values) const {
  std::string text;
  for (const std::string& v : values) {
    if (!text.empty()) text += ", ";
    if (of_ == dtype::boolean) text += "(uchar)(" + v + ")";
    else if (is_narrow_real(of_)) text += std::string("narrow_") + dsl::name(of_) + "(" + v + ")";
    else text += v;
  }
  return values.size() == 1 ? text : "(" + type + ")(" + text + ")";
}

std::string load_text(const operand_texts& operands, int k, const position_text& at, dtype type) {
  return load_text(type, std::to_string(k), operands.offset(k, at));
}

std::string store_text(const operand_texts& operands, int k, const position_text& at,
                       const value_text& value, const std::string& indent) {
  return indent + "store_" + name(value.type) + "(m" + std::to_string(k) + ", " +
         operands.offset(k, at) + ", " + value.text + ");\n";
}

}  // namespace dsl::detail::opencl

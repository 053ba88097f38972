#include "opencl/print/element_text.hpp"

#include "opencl/print/array_vectors.hpp"
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
                    ? array_vectors(type, here_.lanes)
                          .element(vectors_of_operand(number), here_.number, here_.lane)
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

  input_text neighbour(int node, const std::string& own, std::string& statements) const {
    const neighbour_path path = path_of(p_.view(), node);
    const neighbour_place to =
        place_of_neighbour(operands_, path, own, here_.at, no_dimension, statements, indent_);
    if (p_.code(node) == op::inside) return {own, to.exists.empty() ? "true" : to.exists};
    const std::string value = value_at(node, path, to.at);
    if (to.exists.empty() || path.base == op::address) return {own, value};
    const dtype type = p_.at(node).type();
    return {own, "(" + to.exists + ") ? " + value + " : (" + value_type(type) + ")0"};
  }

  std::string value_at(int node, const neighbour_path& path, const position_text& at) const {
    const dtype type = p_.at(node).type();
    switch (path.base) {
      case op::load: return element_at(node, path, at, type);
      case op::index: return "(" + operands_.index(path.slot, at) + ")";
      case op::address: return operands_.offset(path.slot, at);
      default: return along(path.slot, path.axis, at);
    }
  }

  // Of adjacent elements, the neighbours of some are in their vector.
  std::string element_at(int node, const neighbour_path& path, const position_text& at,
                         dtype type) const {
    if (const auto apart = lanes_to_neighbour(operands_, path, here_.lanes)) {
      const int lane = here_.lane - *apart;
      if (lane >= 0 && lane < here_.lanes)
        return array_vectors(type, here_.lanes)
            .element(vectors_of_neighbour(node), here_.number, lane);
    }
    return load_text(operands_, path.slot, at, type);
  }

  const operand_texts& operands_;
  const indexed_program& p_;
  const input_places& places_;
  const std::string& indent_;
  const element_place& here_;
};

}  // namespace

input_place own_place(int input) { return {input, {}}; }

std::string vectors_of_operand(int k) { return "p" + std::to_string(k); }
std::string vectors_of_neighbour(int node) { return "q" + std::to_string(node); }

std::optional<int> lanes_to_neighbour(const operand_texts& operands, const neighbour_path& path,
                                      int lanes) {
  if (lanes == 0 || path.base != op::load || !operands.is_wide(path.slot)) return {};
  const int last = operands.space().rank - 1;
  int steps = 0;
  std::int64_t apart = 0;
  for (int s = 0; s < path.count; ++s) {
    const operand_texts::step_place step = operands.place_of(path, s);
    if (step.dimension != last) continue;
    apart = step.distance;
    ++steps;
  }
  if (steps > 1 || apart <= -lanes || apart >= lanes) return {};
  return static_cast<int>(apart);
}

neighbour_place place_of_neighbour(const operand_texts& operands, const neighbour_path& path,
                                   const std::string& own, const position_text& from, int without,
                                   std::string& statements, const std::string& indent) {
  constexpr const char* names[] = {"zero", "wrap", "clamp", "reflect"};
  const std::string type = operands.position_type();
  neighbour_place to{from, {}};
  for (int s = 0; s < path.count; ++s) {
    const path_step& step = path.step[s];
    const auto [d, boundary_of_step, least] = operands.place_of(path, s);
    if (d == without) continue;
    boundary beyond = boundary_of_step;
    if (step.ends_inside && beyond == boundary::zero) beyond = boundary::clamp;
    const bool may_end = beyond == boundary::zero;
    if (d < 0 && !may_end) continue;
    const std::string distance = step.slot >= 0 ? operand_texts::distance(step.slot)
                                 : least < 0    ? "(" + std::to_string(least) + ")"
                                                : std::to_string(least),
                      before = d < 0 ? "0" : to.at[static_cast<std::size_t>(d)],
                      extent = d < 0 ? "1" : "n" + std::to_string(d),
                      moved = own + "_" + std::to_string(s);
    statements += indent + (may_end ? "" : "const ") + type + " " + moved + " = inside_" +
                  names[static_cast<int>(beyond)] + (type == "long" ? "_int64(" : "_int32(") +
                  before + " - " + distance + ", " + extent + ");\n";
    if (may_end) {
      statements += indent + "const bool " + moved + "_exists = " + moved + " >= 0;\n";
      statements += indent + "if (!" + moved + "_exists) " + moved + " = " + before + ";\n";
      to.exists += (to.exists.empty() ? "" : " && ") + moved + "_exists";
    }
    if (d >= 0) to.at[static_cast<std::size_t>(d)] = moved;
  }
  return to;
}

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

std::string load_text(const operand_texts& operands, int k, const position_text& at, dtype type) {
  return load_text(type, std::to_string(k), operands.offset(k, at));
}

std::string store_text(const operand_texts& operands, int k, const position_text& at,
                       const value_text& value, const std::string& indent) {
  return indent + "store_" + name(value.type) + "(m" + std::to_string(k) + ", " +
         operands.offset(k, at) + ", " + value.text + ");\n";
}

}  // namespace dsl::detail::opencl

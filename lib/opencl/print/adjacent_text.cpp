#include "opencl/print/adjacent_text.hpp"

#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

namespace {

std::string vector_in_memory(const char* qualifier, int k, const std::string& offset, int number,
                             const array_vectors& all) {
  return std::string("*(") + qualifier + "__global " + all.type + "*)(m" + std::to_string(k) +
         " + " + offset + (number == 0 ? "" : " + " + std::to_string(16 * number)) + ")";
}
std::string value_of_lane(int k, int lane) {
  return "to" + std::to_string(k) + "_" + std::to_string(lane);
}

}  // namespace

bool adjacent_text::is_possible() const {
  const indexed_program p(elements_);
  const geometry& g = operands_.space();
  if (g.rank == 0) return false;
  const int last = g.rank - 1;
  if (g.rank > 1 && g.extents[last] % lanes_ != 0) return false;
  for (int i = 0; i < p.size(); ++i) {
    const op code = p.code(i);
    if (code == op::gather) return false;
    if (code == op::neighbour && !lanes_to_neighbour(operands_, path_of(p.view(), i), lanes_))
      return false;
    if (code != op::load) continue;
    const int k = places_(static_cast<int>(operand_read(p.view(), i))).operand;
    if (k >= 0 && operands_.stride(k, last) != 0 && !operands_.is_wide(k)) return false;
  }
  for (const stored_output& each : stored_)
    if (!operands_.is_wide(each.operand)) return false;
  return true;
}

std::string adjacent_text::pattern() const {
  const indexed_program p(elements_);
  std::string text = std::to_string(lanes_) + " adjacent";
  for (int i = 0; i < p.size(); ++i)
    if (p.code(i) == op::neighbour)
      text += " " + std::to_string(*lanes_to_neighbour(operands_, path_of(p.view(), i), lanes_));
  return text;
}

std::uint64_t adjacent_text::arrays() const {
  const indexed_program p(elements_);
  std::uint64_t all = 0;
  for (int i = 0; i < p.size(); ++i) {
    if (p.code(i) != op::load) continue;
    const int k = places_(static_cast<int>(operand_read(p.view(), i))).operand;
    if (k >= 0 && operands_.is_wide(k)) all |= std::uint64_t{1} << k;
  }
  return all;
}

std::vector<adjacent_text::vectors_read> adjacent_text::reads(const std::string& indent) const {
  const indexed_program p(elements_);
  const int last = operands_.space().rank - 1;
  const position_text own = operands_.own_position();
  std::vector<vectors_read> all;
  for (int i = 0; i < p.size(); ++i) {
    const array_vectors vectors(p.at(i).type(), lanes_);
    if (p.code(i) == op::load) {
      const int k = places_(static_cast<int>(operand_read(p.view(), i))).operand;
      if (k >= 0 && operands_.is_wide(k))
        all.push_back({vectors_of_operand(k), k, vectors, "", operands_.offset(k, own)});
    } else if (p.code(i) == op::neighbour) {
      const neighbour_path path = path_of(p.view(), i);
      const std::string name = vectors_of_neighbour(i);
      std::string statements;
      const position_text at =
          place_of_neighbour(operands_, path, name + "_at", own, last, statements, indent).at;
      all.push_back({name, path.slot, vectors, statements, operands_.offset(path.slot, at)});
    }
  }
  return all;
}

std::string adjacent_text::read(const std::string& indent) const {
  std::string text;
  for (const vectors_read& each : reads(indent))
    text += read(each, ("const " + each.all.type + " ").c_str(), "", indent);
  return text;
}

std::string adjacent_text::read(const vectors_read& vectors, const char* begin,
                                const std::string& number, const std::string& indent) {
  std::string text = vectors.statements;
  for (int i = 0; i < vectors.all.count; ++i)
    text += indent + begin + array_vectors::name(vectors.name, i) + number + " = " +
            vector_in_memory("const ", vectors.operand, vectors.offset, i, vectors.all) + ";\n";
  return text;
}

std::string adjacent_text::compute(const std::string& number, const std::string& indent,
                                   const use_of_element& use) const {
  std::string text;
  for (const stored_output& each : stored_) {
    text += indent + value_type(each.type);
    for (int lane = 0; lane < lanes_; ++lane)
      text += (lane == 0 ? " " : ", ") + value_of_lane(each.operand, lane);
    text += ";\n";
  }
  const std::string inner = indent + "  ";
  for (int lane = 0; lane < lanes_; ++lane) {
    element_place here{operands_.own_position(), lane, lanes_, number};
    if (lane > 0) here.at.back() = "(" + here.at.back() + " + " + std::to_string(lane) + ")";
    const printed_program made = print_elements(operands_, elements_, places_, can_, inner, here);
    text += indent + "{\n" + made.text;
    for (const stored_output& each : stored_)
      text += inner + value_of_lane(each.operand, lane) + " = " +
              made.outputs[static_cast<std::size_t>(each.output)].text + ";\n";
    text += use(made, inner) + indent + "}\n";
  }
  for (const stored_output& each : stored_) {
    const array_vectors all(each.type, lanes_);
    const std::string offset = operands_.offset(each.operand, operands_.own_position());
    for (int i = 0; i < all.count; ++i) {
      std::vector<std::string> values;
      for (int lane = i * all.lanes; lane < (i + 1) * all.lanes; ++lane)
        values.push_back(value_of_lane(each.operand, lane));
      text += indent + vector_in_memory("", each.operand, offset, i, all) + " = " +
              all.of_values(values) + ";\n";
    }
  }
  return text;
}

}  // namespace dsl::detail::opencl

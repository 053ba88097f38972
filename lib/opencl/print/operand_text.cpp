#include "opencl/print/operand_text.hpp"

#include <algorithm>
#include <cstring>

#include <dsl/exec/team/arguments.hpp>

#include "exec/plan/text.hpp"
#include "mem/text.hpp"
#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

namespace {

constexpr std::size_t pointer_bytes = 8;

std::size_t bytes_as_parameters(const kernel_argument& a) {
  return a.what == kernel_argument::kind::value ? std::max<std::size_t>(a.size, 8)
                                                : pointer_bytes + sizeof(std::int64_t);
}

std::vector<kernel_argument> arguments_of(const std::vector<parameter>& all) {
  std::vector<kernel_argument> arguments;
  for (const parameter& p : all) arguments.push_back(p.argument);
  return arguments;
}

// The memory objects, and statements that read the values.
struct packed_parameters {
  std::string objects, statements;
  std::size_t bytes = 0;
};
packed_parameters pack(const std::vector<parameter>& all) {
  packed_parameters made;
  std::size_t at = 0;
  const auto add_object = [&](const std::string& parameter) {
    made.objects += parameter;
    made.bytes += pointer_bytes;
  };
  const auto add_value = [&](const std::string& type, const std::string& name) {
    made.statements += "  const " + type + " " + name + " = *(const __global " + type +
                       "*)(m_values + " + std::to_string(at) + ");\n";
    at += packed_value_bytes;
  };
  for (const parameter& p : all) {
    if (p.argument.what == kernel_argument::kind::value) {
      add_value(p.type, p.name);
    } else {
      add_object("__global uchar* m" + p.name + ",\n    ");
      add_value("long", "o" + p.name);
    }
  }
  add_object("const __global uchar* m_values");
  return made;
}

}  // namespace

bool packs_values(const std::vector<kernel_argument>& all, const abilities& can) {
  std::size_t bytes = 0;
  for (const kernel_argument& a : all) bytes += bytes_as_parameters(a);
  return bytes > can.parameter_bytes;
}

std::string begin_kernel(const std::string& name, const std::vector<parameter>& all,
                         const abilities& can) {
  const std::string head = "__kernel void " + name + "(\n    ";
  if (packs_values(arguments_of(all), can)) {
    const packed_parameters packed = pack(all);
    if (packed.bytes > can.parameter_bytes)
      raise<device_error>(name + " would have " + std::to_string(packed.bytes) +
                          " bytes of parameters for the memory of its operands alone, and this "
                          "OpenCL device takes " +
                          std::to_string(can.parameter_bytes) +
                          ": compute it in several statements");
    return "// All values as parameters would be more than the " +
           std::to_string(can.parameter_bytes) + " bytes that the device takes.\n" + head +
           packed.objects + ") {\n" + packed.statements;
  }
  std::string text;
  for (const parameter& p : all) {
    if (!text.empty()) text += ",\n    ";
    if (p.argument.what == kernel_argument::kind::value) text += "const " + p.type + " " + p.name;
    else text += "__global uchar* m" + p.name + ", const long o" + p.name;
  }
  return head + text + ") {\n";
}

namespace {

parameter by_bytes(const char* type, std::string name, const void* from, std::size_t size) {
  parameter p{type, std::move(name), {kernel_argument::kind::value}};
  p.argument.size = static_cast<std::uint32_t>(size);
  std::memcpy(p.argument.bytes, from, size);
  return p;
}

}  // namespace

parameter by_value(const char* type, std::string name, std::int64_t value) {
  return by_bytes(type, std::move(name), &value, sizeof value);
}

parameter by_literal(dtype type, std::string name, literal value) {
  return by_bytes(stored_type(type), std::move(name), &value,
                  static_cast<std::size_t>(size_of(computed_in(type))));
}

parameter by_address(const std::string& number, std::uint64_t address, bool is_written) {
  parameter p{"", number, {kernel_argument::kind::address}};
  p.argument.address = address;
  p.argument.is_written = is_written;
  return p;
}

parameter scratch_parameter() {
  parameter p{"", "_scratch", {kernel_argument::kind::scratch}};
  p.argument.is_written = true;
  return p;
}

std::uint64_t inputs_read(const pass_view& pass) {
  std::uint64_t all = 0;
  for (const program_view& p : {pass.elements, pass.results})
    for (int i = 0; i < p.nodes; ++i) {
      const op code = head{p.heads[i]}.code();
      if (code == op::given_step) all |= std::uint64_t{1} << step_of(code, p.payloads[i]).slot;
      else if (code <= op::load_scalar) all |= std::uint64_t{1} << operand_read(p, i);
    }
  return all;
}

namespace {

bool fits_in_int(const geometry& g) {
  bool fits = !is_far(g.elements);
  for (int d = 0; d < g.rank; ++d) fits = fits && !is_far(g.extents[d]);
  return fits;
}

}  // namespace

void operand_texts::add_inputs(std::uint64_t read) {
  is_narrow_ = fits_in_int(space());
  add_extents();
  for (int k = 0; k < inputs(); ++k)
    if ((read >> k & 1) != 0) add_operand(k, false);
  add_steps();
}

// The text has the distances of the program's own steps. They depend on sizes where an axis has
// fewer elements than that.
void operand_texts::add_steps() {
  const program_view& p = view().elements;
  for (int i = 0; i < p.nodes; ++i) {
    const op code = head{p.heads[i]}.code();
    if (code != op::neighbour && code != op::inside) continue;
    const neighbour_path path = path_of(p, i);
    for (int s = 0; s < path.count; ++s)
      if (const std::int64_t least = place_of(path, s).distance;
          path.step[s].slot < 0 && least != path.step[s].distance)
        pattern_ += ";" + std::to_string(i) + "," + std::to_string(s) + ":" + std::to_string(least);
  }
}

operand_texts::step_place operand_texts::place_of(const neighbour_path& path, int number) const {
  const path_step& step = path.step[number];
  const operand* const given = step.slot < 0 ? nullptr : &at(step.slot);
  const int dimension = dimension_of_axis(space(), at(path.slot), given ? given->axis : step.axis);
  const boundary beyond = given ? given->beyond : step.beyond;
  return {dimension, beyond,
          least_distance(beyond, given ? given->distance : step.distance,
                         dimension < 0 ? 1 : space().extents[dimension])};
}

operand_texts::operand_texts(const work& of, bool has_targets) : pass_(nullptr), of_(of.record()) {
  add_inputs(inputs_read(view()));
  for (int i = 0; has_targets && i < of_.targets; ++i) add_operand(inputs() + i, true);
}

operand_texts::operand_texts(const work_record& of, std::uint64_t read) : pass_(nullptr), of_(of) {
  add_inputs(read);
  for (int i = 0; i < of_.targets; ++i) add_target(i);
}

void operand_texts::add_target(int target) {
  pattern_ += is_stored(target) ? ";" : ";discarded";
  if (is_stored(target)) add_operand(inputs() + target, true);
}

operand_texts::operand_texts(const bound_pass& pass) : pass_(&pass), of_(pass.record()) {
  add_inputs(inputs_read(view()));
  for (int i = 0; i < of_.targets; ++i) {
    add_target(i);
    if (!is_recorded(i)) continue;
    pattern_ += "recorded";
    parameters_.push_back(
        by_address("_recorded" + std::to_string(i), pass.now().recorded[i], true));
  }
  if (pass.now().stop == nullptr) return;
  pattern_ += ";stop";
  parameters_.push_back(
      by_address("_stop", reinterpret_cast<std::uint64_t>(pass.now().stop), false));
}

bool operand_texts::is_stored(int target) const {
  const operand& o = at(inputs() + target);
  return !o.discarded && o.word[0] != 0;
}
bool operand_texts::is_recorded(int target) const {
  return pass_ != nullptr && pass_->now().recorded != nullptr && pass_->now().recorded[target] != 0;
}

std::string operand_texts::name(int k) { return operand_names::letter(static_cast<unsigned>(k)); }

void operand_texts::add_extents() {
  const geometry& g = space();
  pattern_ += position_type();
  pattern_ += " rank " + std::to_string(g.rank) + " kept " + std::to_string(g.kept);
  for (int d = 0; d < g.rank; ++d) {
    parameters_.push_back(by_position("n" + std::to_string(d), g.extents[d]));
    if (!is_narrow_ || d == 0) continue;
    const divisor by = divisor::of(std::max<std::int64_t>(g.extents[d], 1));
    parameters_.push_back(
        by_literal(dtype::uint32, "multiplier" + std::to_string(d), {by.multiplier}));
    parameters_.push_back(by_literal(dtype::uint32, "shift" + std::to_string(d), {by.shift}));
  }
}

parameter operand_texts::by_position(std::string name, std::int64_t value) const {
  if (!is_narrow_) return by_value("long", std::move(name), value);
  return by_literal(dtype::int32, std::move(name), {static_cast<std::uint64_t>(value)});
}

std::string operand_texts::positions(const std::string& number, std::uint32_t among,
                                     const std::string& indent) const {
  const int rank = space().rank;
  int first = -1, count = 0;
  for (int d = rank - 1; d >= 0; --d)
    if ((among >> d & 1) != 0) {
      first = d;
      ++count;
    }
  const auto position = [&](int d, const std::string& text) {
    return indent + "const " + position_type() + " x" + std::to_string(d) + " = " + text + ";\n";
  };
  if (count == 0) return "";
  if (count == 1) return position(first, number);
  // A division by a number that is known before is a multiplication (`divisor`).
  std::string text, rest = number;
  for (int d = rank - 1; d > first; --d) {
    if ((among >> d & 1) == 0) continue;
    const std::string own = std::to_string(d), above = "above" + own;
    text += indent + "const " + position_type() + " " + above + " = " +
            (is_narrow_ ? "(ulong)(uint)" + rest + " * multiplier" + own + " >> shift" + own
                        : rest + " / n" + own) +
            ";\n" + position(d, rest + " - " + above + " * n" + own);
    rest = above;
  }
  return text + position(first, rest);
}

std::int64_t operand_texts::unit_of(int k) const {
  const operand& o = at(k);
  switch (o.kind) {
    case operand_kind::index:
    case operand_kind::position: return 1;
    case operand_kind::address: return o.size;
    default: return size_of(o.type);
  }
}

std::int64_t operand_texts::stride(int k, int dimension) const {
  const operand& o = at(k);
  const geometry& g = space();
  // A single value has no dimensions, and a result none of those that are reduced.
  if (o.kind == operand_kind::device_scalar || g.extents[dimension] == 1) return 0;
  if (o.kind == operand_kind::result && (g.kept >> dimension & 1) == 0) return 0;
  return g.layouts[k].strides[dimension];
}

void operand_texts::add_strides(int k, std::int64_t unit) {
  for (int d = 0; d < space().rank; ++d) {
    const std::int64_t each = stride(k, d);
    pattern_ += each == 0 ? '0' : each == 1 ? '1' : is_far(each * unit) ? 'l' : 's';
    if (each == 0 || each == 1) continue;
    const std::string name = "s" + std::to_string(k) + "_" + std::to_string(d);
    if (is_far(each * unit)) parameters_.push_back(by_value("long", name, each * unit));
    else
      parameters_.push_back(
          by_literal(dtype::int32, name, {static_cast<std::uint64_t>(each * unit)}));
  }
}

void operand_texts::add_operand(int k, bool is_written) {
  const operand& o = at(k);
  pattern_ += " " + std::to_string(k) + ":" + std::to_string(static_cast<int>(o.kind)) + "," +
              std::to_string(static_cast<int>(o.type)) + "," + std::to_string(unit_of(k)) + ",";
  for (int axis = 0; axis < o.rank && o.kind != operand_kind::step; ++axis)
    pattern_ += static_cast<char>('b' + dimension_of_axis(space(), o, axis));
  pattern_ += ',';
  switch (o.kind) {
    case operand_kind::value:
      parameters_.push_back(by_literal(o.type, name(k), {o.word[0], o.word[1]}));
      return;
    case operand_kind::step: {
      const int dimension = space().dimension[o.axis];
      const std::int64_t n = dimension < 0 ? 1 : space().extents[dimension];
      pattern_ += std::to_string(o.axis) + "," + std::to_string(static_cast<int>(o.beyond));
      parameters_.push_back(by_position(distance(k), least_distance(o.beyond, o.distance, n)));
      return;
    }
    case operand_kind::index:
    case operand_kind::position:
      parameters_.push_back(
          by_value("long", "f" + std::to_string(k), static_cast<std::int64_t>(o.word[0])));
      return add_strides(k, 1);
    default:
      if (o.kind == operand_kind::neighbour) {
        const int dimension = dimension_of_axis(space(), o, o.axis);
        const std::int64_t n = dimension < 0 ? 1 : space().extents[dimension];
        pattern_ += std::to_string(o.axis) + "," + std::to_string(static_cast<int>(o.beyond));
        parameters_.push_back(by_position(distance(k), least_distance(o.beyond, o.distance, n)));
      }
      // A view without elements may begin outside its memory. It is not read.
      const bool is_empty =
          !is_written && space().elements == 0 && o.kind != operand_kind::device_scalar;
      parameters_.push_back(by_address(std::to_string(k), is_empty ? 0 : o.word[0], is_written));
      add_strides(k, unit_of(k));
  }
}

std::string operand_texts::sum_of_strides(int k, const position_text& position,
                                          std::int64_t unit) const {
  std::string text;
  for (int d = 0; d < space().rank; ++d) {
    const std::int64_t each = stride(k, d);
    if (each == 0) continue;
    // A product of an int with a long would be one of 64 bits by 64 bits.
    const bool are_ints = is_narrow_ && each != 1 && !is_far(each * unit);
    text += (are_ints ? " + (long)" : " + ") + position[static_cast<std::size_t>(d)];
    if (each != 1) text += " * s" + std::to_string(k) + "_" + std::to_string(d);
    else if (unit != 1) text += " * " + std::to_string(unit) + "L";
  }
  return text;
}

std::string operand_texts::offset(int k, const position_text& position) const {
  return "o" + std::to_string(k) + moved_[static_cast<std::size_t>(k)] +
         sum_of_strides(k, position, unit_of(k));
}
std::string operand_texts::index(int k, const position_text& position) const {
  return "f" + std::to_string(k) + sum_of_strides(k, position, 1);
}

position_text operand_texts::own_position() const {
  position_text all;
  for (int d = 0; d < space().rank; ++d) all.push_back("x" + std::to_string(d));
  return all;
}

}  // namespace dsl::detail::opencl

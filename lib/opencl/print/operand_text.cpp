#include "opencl/print/operand_text.hpp"

#include <cstring>

#include "exec/plan/text.hpp"
#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

std::string parameter_list(const std::vector<parameter>& all) {
  std::string text;
  for (const parameter& p : all) {
    if (!text.empty()) text += ",\n    ";
    if (p.argument.what == kernel_argument::kind::value) text += "const " + p.type + " " + p.name;
    else text += "__global uchar* m" + p.name + ", const long o" + p.name;
  }
  return text;
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

std::size_t bytes_of_arguments(const kernel_launch& of) {
  constexpr std::size_t address = sizeof(void*) + sizeof(std::int64_t);
  std::size_t bytes = 0;
  for (const kernel_argument& a : of.arguments)
    bytes += a.what == kernel_argument::kind::value ? a.size : address;
  return bytes;
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

void operand_texts::add_inputs(std::uint64_t read) {
  add_extents();
  for (int k = 0; k < inputs(); ++k)
    if ((read >> k & 1) != 0) add_operand(k, false);
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
  pattern_ += "rank " + std::to_string(g.rank) + " kept " + std::to_string(g.kept);
  for (int d = 0; d < g.rank; ++d)
    parameters_.push_back(by_value("long", "n" + std::to_string(d), g.extents[d]));
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
    pattern_ += each == 0 ? '0' : each == 1 ? '1' : 's';
    if (each == 0 || each == 1) continue;
    parameters_.push_back(
        by_value("long", "s" + std::to_string(k) + "_" + std::to_string(d), each * unit));
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
      parameters_.push_back(by_value("long", distance(k), least_distance(o.beyond, o.distance, n)));
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
        parameters_.push_back(
            by_value("long", distance(k), least_distance(o.beyond, o.distance, n)));
      }
      parameters_.push_back(by_address(std::to_string(k), o.word[0], is_written));
      add_strides(k, unit_of(k));
  }
}

std::string operand_texts::sum_of_strides(int k, const position_text& position,
                                          std::int64_t unit) const {
  std::string text;
  for (int d = 0; d < space().rank; ++d) {
    const std::int64_t each = stride(k, d);
    if (each == 0) continue;
    text += " + " + position[static_cast<std::size_t>(d)];
    if (each != 1) text += " * s" + std::to_string(k) + "_" + std::to_string(d);
    else if (unit != 1) text += " * " + std::to_string(unit);
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

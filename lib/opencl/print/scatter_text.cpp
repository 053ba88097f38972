// Writing to positions. Of equal positions, which are consecutive, the last one writes.
#include "opencl/print/scatter_text.hpp"

#include "opencl/print/kernel_parts.hpp"
#include "opencl/print/operand_text.hpp"

namespace dsl::detail::opencl {

namespace {

std::vector<parameter> parameters_of(const scatter_task& task) {
  const auto address = [](const void* at) { return reinterpret_cast<std::uint64_t>(at); };
  const auto bytes = static_cast<std::int64_t>(task.bytes);
  return {by_address("_positions", address(task.positions), false),
          by_address("_values", address(task.values), false),
          by_address("_target", address(task.target), true),
          by_value("long", "count", task.count),
          by_value("long", "elements", task.elements),
          by_value("long", "step", task.stride * bytes)};
}

}  // namespace

kernel_text print_scatter(const scatter_task& task, const abilities& can) {
  // Elements of 8 and 16 bytes may be complex numbers, which are aligned as their parts.
  const bool is_word = task.bytes <= 4;
  const std::string word = task.bytes == 1   ? "uchar"
                           : task.bytes == 2 ? "ushort"
                                             : "uint",
                    words = std::to_string(task.bytes / 4), bytes = std::to_string(task.bytes);
  const auto place = [&word](const char* memory, const std::string& offset) {
    return "(__global " + word + "*)(m" + memory + " + o" + memory + " + " + offset + ")";
  };
  const std::string from = place("_values", "i * " + bytes),
                    to = place("_target", "position * step");
  kernel_text made;
  made.name = "dsl_put";
  complete(
      made, "// target[positions] = values, elements of " + bytes + " bytes\n",
      begin_kernel("dsl_put", parameters_of(task), can) +
          "  const __global long* positions = (const __global long*)(m_positions + "
          "o_positions);\n"
          "  for (long i = get_global_id(0); i < count; i += get_global_size(0)) {\n"
          "    const long position = positions[i];\n"
          "    const bool is_last = i + 1 == count || positions[i + 1] != position;\n"
          "    if (is_last && position >= 0 && position < elements)\n      " +
          (is_word ? "*" + to + " = *" + from
                   : "vstore" + words + "(vload" + words + "(0, " + from + "), 0, " + to + ")") +
          ";\n  }\n}\n",
      can, [] { return std::string("writing to positions needs"); });
  return made;
}

kernel_launches launches_of_scatter(const scatter_task& task) {
  kernel_launches made;
  made.launches.push_back({"first", {}, task.count, 0});
  for (const parameter& p : parameters_of(task)) made.launches[0].arguments.push_back(p.argument);
  return made;
}

std::uint64_t key_of_scatter(const scatter_task& task, const abilities& can) {
  word_key key{0x5ca7};
  key.add(task.bytes);
  add_abilities(key, can);
  return key.value;
}

}  // namespace dsl::detail::opencl

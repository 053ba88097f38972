#include "opencl/print/accumulator_text.hpp"

#include "opencl/print/kernel_parts.hpp"
#include "opencl/print/program_text.hpp"
#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

std::vector<accumulated> accumulators_of(const pass_view& p, std::uint32_t reductions) {
  std::vector<accumulated> all;
  const std::uint64_t* identity = p.identities;
  for (int j = 0; j < p.reductions; ++j)
    for (int k = 0; k < p.rules[j].output_count; ++k, identity += 2)
      if ((reductions >> j & 1) != 0)
        all.push_back(
            {j, k, p.rules[j].output(k).type(), {identity[0], identity[1]}, p.firsts[j] + k});
  return all;
}

std::int64_t bytes_of(const std::vector<accumulated>& all) {
  std::int64_t bytes = 0;
  for (const accumulated& a : all) bytes += a.bytes();
  return bytes;
}

std::string combine_text(const std::vector<accumulated>& all, const std::string& indent,
                         const std::function<std::string(const accumulated&)>& value,
                         const char* prefix) {
  std::string text;
  for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
    std::string given, arguments;
    for (; end < all.size() && all[end].reduction == all[first].reduction; ++end) {
      arguments += (arguments.empty() ? "&" : ", &") + all[end].name(prefix);
      given += ", " + value(all[end]);
    }
    text += indent + "combine" + std::to_string(all[first].reduction) + "(" + arguments + given +
            ");\n";
  }
  return text;
}

std::string identities_text(const std::vector<accumulated>& all, const std::string& indent,
                            const char* prefix) {
  std::string text;
  for (const accumulated& a : all)
    text += indent + value_type(a.type) + " " + a.name(prefix) + " = " +
            literal_text(a.type, a.identity) + ";\n";
  return text;
}

std::int64_t group_size(const std::vector<accumulated>& all, const abilities& can) {
  std::int64_t size = 256;
  while (size > 1 && (size > static_cast<std::int64_t>(can.largest_work_group) ||
                      size * bytes_of(all) > static_cast<std::int64_t>(can.local_memory)))
    size /= 2;
  return size;
}

std::string local_text(const std::vector<accumulated>& all, std::int64_t group) {
  std::string text;
  for (const accumulated& a : all)
    text += std::string("  __local ") + stored_type(a.type) + " " + a.local() + "[" +
            std::to_string(group) + "];\n";
  return text;
}

std::string combine_group_text(const std::vector<accumulated>& all, total_for known) {
  const auto put = [&](const std::string& indent) {
    std::string text;
    for (const accumulated& a : all) text += indent + a.local() + "[item] = " + a.name() + ";\n";
    return text;
  };
  // Adds those that are `step` apart behind `first`.
  const auto add = [&](const char* count, const std::string& first, const std::string& step) {
    return std::string("#pragma unroll 4\n      for (int k = 1; k < ") + count +
           "; ++k) {\n        const int place = " + first + " + k * " + step + ";\n" +
           combine_text(all, "        ",
                        [](const accumulated& a) { return a.local() + "[place]"; }) +
           "      }\n";
  };
  std::string text = put("  ") +
                     "  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n  {\n"
                     "    const int first_item = item - part * apart;\n"
                     "    int width = 1, rounds = parts;\n"
                     "    for (; width < rounds; width *= 2) rounds >>= 1;\n"
                     "    if (part < width) {\n" +
                     add("rounds", "item", "width * apart") + put("      ") +
                     "    }\n    barrier(CLK_LOCAL_MEM_FENCE);\n    " +
                     (known == total_for::first ? "if (part == 0) {\n" : "{\n");
  for (const accumulated& a : all)
    text += "      " + a.name() + " = " + a.local() + "[first_item];\n";
  return text + add("width", "first_item", "apart") + "    }\n  }\n";
}

std::string print_rule(const program_view& rule, int number, const abilities& can) {
  const indexed_program p(rule);
  const int values = p.outputs();
  std::string text = "void combine" + std::to_string(number) + "(";
  for (int k = 0; k < values; ++k)
    text += std::string(k > 0 ? ", " : "") + value_type(rule.output(k).type()) + "* a" +
            std::to_string(k);
  for (int k = 0; k < values; ++k)
    text += std::string(", const ") + value_type(rule.output(k).type()) + " b" + std::to_string(k);
  text += ") {\n";
  const input_printer input = [&](int node, std::string&) {
    const auto of = static_cast<int>(p.payload(node));
    if (of >= values) return input_text{"", "b" + std::to_string(of - values)};
    return input_text{"v" + std::to_string(node), "*a" + std::to_string(of)};
  };
  const printed_program made = print_program(p, can, input, {}, "v", "  ");
  text += made.text;
  for (int k = 0; k < values; ++k)
    text +=
        "  *a" + std::to_string(k) + " = " + made.outputs[static_cast<std::size_t>(k)].text + ";\n";
  return text + "}\n\n";
}

}  // namespace dsl::detail::opencl

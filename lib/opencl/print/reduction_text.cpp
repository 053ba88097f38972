// Kernels that reduce. A work-group has `across` results side by side, and W / across work-items
// for each of them; the elements of a result are divided among `splits` work-groups. Each work-item
// accumulates its elements in order, the work-group combines its accumulators in local memory in a
// fixed order, and a second kernel combines the work-groups' in the same way. So a device gives the
// same bits in each run.
#include <algorithm>

#include "opencl/print/accumulator_text.hpp"
#include "opencl/print/element_text.hpp"
#include "opencl/print/kernel_parts.hpp"
#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

namespace {

// A power of two. The accumulators of a work-group must fit into local memory.
std::int64_t group_size(const std::vector<accumulated>& all, const abilities& can) {
  std::int64_t size = 256;
  while (size > 1 && (size > static_cast<std::int64_t>(can.largest_work_group) ||
                      size * bytes_of(all) > static_cast<std::int64_t>(can.local_memory)))
    size /= 2;
  return size;
}

// How the elements are divided.
struct division { std::int64_t across, blocks, splits; };
division division_of(const geometry& g, std::int64_t group) {
  constexpr std::int64_t most_groups = 1024, least_elements = 8;
  const bool by_columns = g.kept != 0 && (g.kept >> (g.rank - 1) & 1) != 0;
  const std::int64_t results = std::max<std::int64_t>(g.results, 1);
  division d{1, 1, 1};
  // Results side by side: as many as are adjacent, or as leave no work-item without elements.
  const std::int64_t enough = by_columns ? std::min(results, g.extents[g.rank - 1])
                                         : group / std::max<std::int64_t>(g.count, 1);
  while (d.across < group && d.across < enough && d.across < results) d.across *= 2;
  d.blocks = (results + d.across - 1) / d.across;
  const std::int64_t rows = group / d.across;
  d.splits = std::clamp<std::int64_t>(
      std::min(g.count / (rows * least_elements), most_groups / d.blocks), 1, most_groups);
  return d;
}

class reduction_printer {
 public:
  reduction_printer(const operand_texts& operands, const abilities& can)
      : operands_(operands),
        can_(can),
        code_(operands.pass().code()),
        view_(code_.pass.view),
        sums_(accumulators_of(view_)),
        group_(group_size(sums_, can)) {}

  std::string print() const {
    std::string text;
    for (int j = 0; j < view_.reductions; ++j) text += print_rule(view_.rules[j], j, can_);
    return text + first_kernel() + "\n" + finish_kernel();
  }

  kernel_launches launches() const {
    const geometry& g = operands_.space();
    const division d = division_of(g, group_);
    const std::int64_t blocks = d.blocks;
    kernel_launches made;
    const auto add = [&](const char* which, std::int64_t groups) {
      kernel_launch l{which, {}, groups * group_, group_, static_cast<int>(made.launches.size())};
      for (const parameter& p : parameters(d)) l.arguments.push_back(p.argument);
      made.launches.push_back(std::move(l));
    };
    add("first", blocks * d.splits);
    if (d.splits > 1) add("finish", blocks);
    made.scratch_bytes = static_cast<std::size_t>(
        d.splits > 1 ? padded(g.results * d.splits) * bytes_of(sums_) : 16);
    return made;
  }

 private:
  std::vector<parameter> parameters(const division& d) const {
    const geometry& g = operands_.space();
    std::vector<parameter> all = operands_.parameters();
    all.push_back(by_value("long", "results", g.results));
    all.push_back(by_value("long", "count", g.count));
    all.push_back(by_value("long", "across", d.across));
    all.push_back(by_value("long", "splits", d.splits));
    // The distance between two values' partial results, in elements.
    all.push_back(by_value("long", "partials", padded(g.results * d.splits)));
    all.push_back(scratch_parameter());
    return all;
  }

  template <class Value>
  std::string combine(const std::string& indent, const Value& value) const {
    return combine_text(sums_, indent, value);
  }

  std::string begin(const std::string& name) const {
    std::string text = "__attribute__((reqd_work_group_size(" + std::to_string(group_) +
                       ", 1, 1)))\n" +
                       begin_kernel(name, parameters(division_of(operands_.space(), group_)), can_);
    for (const accumulated& a : sums_)
      text += std::string("  __local ") + stored_type(a.type) + " " + a.local() + "[" +
              std::to_string(group_) + "];\n";
    text += "  const int item = get_local_id(0), row = item / (int)across, rows = " +
            std::to_string(group_) +
            " / (int)across;\n"
            "  const long blocks = (results + across - 1) / across, group = get_group_id(0);\n"
            "  const long result = " +
            result_if_running() + "group % blocks * across + item % (int)across;\n";
    return text + identities_text(sums_, "  ");
  }

  // Once a loop has ended, its kernels have no result left to compute. They do not return at once:
  // PoCL 3.1 compiles barriers behind a conditional return to wrong sums.
  std::string result_if_running() const {
    return operands_.pass().now().stop == nullptr ? "" : "m_stop[o_stop] != 0 ? results : ";
  }

  // The work-items of a result combine their accumulators, halving their number each time. The
  // first barrier also orders what they have read in device memory before the results, which may
  // overwrite it: scalars, and the flag that ends a loop.
  std::string combine_group() const {
    const auto put = [&](const std::string& indent) {
      std::string text;
      for (const accumulated& a : sums_)
        text += indent + a.local() + "[item] = " + a.name() + ";\n";
      return text;
    };
    return put("  ") + "  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n" +
           "  for (int half_of = rows / 2; half_of > 0; half_of /= 2) {\n"
           "    if (row < half_of) {\n"
           "      const int other = item + half_of * (int)across;\n" +
           combine("      ", [](const accumulated& a) { return a.local() + "[other]"; }) +
           put("      ") + "    }\n    barrier(CLK_LOCAL_MEM_FENCE);\n  }\n";
  }

  // Where a value's partial results begin, and the place of one.
  std::string partial_offset(std::size_t value, const std::string& number) const {
    std::int64_t before = 0;
    for (std::size_t v = 0; v < value; ++v) before += sums_[v].bytes();
    return "o_scratch + partials * " + std::to_string(before) + " + (" + number + ") * " +
           std::to_string(sums_[value].bytes());
  }
  static const char* partial_type(dtype type) { return name(computed_in(type)); }

  std::string store_results(const std::string& indent) const {
    std::string text = operands_.positions("result", operands_.space().kept, indent);
    const indexed_program p(view_.results);
    const input_printer input = [&](int node, std::string&) {
      const op code = p.code(node);
      if (code == op::reduced)
        return input_text{
            "", "sum" + std::to_string(p.field(node, 0)) + "_" + std::to_string(p.field(node, 1))};
      if (code == op::count) return input_text{"r" + std::to_string(node), "count"};
      return scalar_text(operands_, code, p.at(node).type(),
                         static_cast<int>(operand_read(p.view(), node)));
    };
    const printed_program made = print_program(p, can_, input, {}, "r", indent);
    text += made.text;
    for (int i = 0; i < code_.outputs(); ++i) {
      const target_word t{view_.targets[i]};
      if (!t.is_result()) continue;
      const value_text& value = made.outputs[static_cast<std::size_t>(t.output())];
      if (operands_.is_stored(i))
        text += store_text(operands_, code_.inputs + i, operands_.own_position(), value, indent);
      if (operands_.is_recorded(i))
        text += indent + "store_" + name(value.type) + "(m_recorded" + std::to_string(i) +
                ", o_recorded" + std::to_string(i) + ", " + value.text + ");\n";
    }
    return text;
  }

  std::string first_kernel() const {
    const std::string indent = "      ";
    const geometry& g = operands_.space();
    const printed_program elements = print_elements(operands_, can_, indent);
    const auto output = [&](int i) { return elements.outputs[static_cast<std::size_t>(i)]; };
    std::string text = begin(kernel_name(code_));
    text += "  const long split = group / blocks;\n  if (result < results) {\n";
    text += operands_.positions("result", g.kept, "    ");
    text +=
        "    for (long number = split * rows + row; number < count; number += splits * rows) {\n";
    text += operands_.positions("number", ~g.kept, indent) + elements.text;
    for (int i = 0; i < code_.outputs(); ++i)
      if (const target_word t{view_.targets[i]}; !t.is_result() && operands_.is_stored(i))
        text += store_text(operands_, code_.inputs + i, operands_.own_position(),
                           output(t.output()), indent);
    text += combine(indent, [&](const accumulated& a) { return output(a.output).text; });
    text += "    }\n  }\n" + combine_group();
    text += "  if (row != 0 || result >= results) return;\n  if (splits == 1) {\n";
    text += store_results("    ") + "  } else {\n";
    for (std::size_t v = 0; v < sums_.size(); ++v)
      text += std::string("    store_") + partial_type(sums_[v].type) + "(m_scratch, " +
              partial_offset(v, "split * results + result") + ", " + sums_[v].name() + ");\n";
    return text + "  }\n}\n";
  }

  std::string finish_kernel() const {
    std::string text = begin(kernel_name(code_) + "_finish");
    text += "  for (long split = row; split < splits && result < results; split += rows) {\n";
    for (std::size_t v = 0; v < sums_.size(); ++v)
      text += std::string("    const ") + value_type(sums_[v].type) + " partial" +
              std::to_string(v) + " = load_" + partial_type(sums_[v].type) + "(m_scratch, " +
              partial_offset(v, "split * results + result") + ");\n";
    std::size_t v = 0;
    text += combine("    ", [&](const accumulated&) { return "partial" + std::to_string(v++); });
    text += "  }\n" + combine_group();
    return text + "  if (row != 0 || result >= results) return;\n" + store_results("  ") + "}\n";
  }

  const operand_texts& operands_;
  const abilities& can_;
  const program_code& code_;
  const pass_view& view_;
  std::vector<accumulated> sums_;
  std::int64_t group_;
};

}  // namespace

std::string print_reduction(const operand_texts& operands, const abilities& can) {
  return reduction_printer(operands, can).print();
}
kernel_launches launches_of_reduction(const operand_texts& operands, const abilities& can) {
  return reduction_printer(operands, can).launches();
}

}  // namespace dsl::detail::opencl

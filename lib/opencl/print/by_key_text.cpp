#include "opencl/print/by_key_text.hpp"

#include <algorithm>

#include "exec/plan/text.hpp"
#include "opencl/print/accumulator_text.hpp"
#include "opencl/print/element_text.hpp"
#include "opencl/print/kernel_parts.hpp"
#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

namespace {

// A bit for each reduction that results [first, end) depend on.
std::uint32_t reductions_behind(const indexed_program& p, int first, int end) {
  std::vector<char> needed(static_cast<std::size_t>(p.size()));
  for (int i = first; i < end; ++i) needed[static_cast<std::size_t>(p.output(i))] = 1;
  std::uint32_t found = 0;
  for (int i = p.size() - 1; i >= 0; --i) {
    if (needed[static_cast<std::size_t>(i)] == 0) continue;
    if (p.code(i) == op::reduced) found |= 1u << p.field(i, 0);
    const int operands = p.code(i) <= op::count ? 0 : operand_count(p.code(i));
    for (int k = 0; k < operands; ++k) needed[static_cast<std::size_t>(p.operand(i, k))] = 1;
  }
  return found;
}

// Some of the results, and the accumulators that they need: the results of groups, and those of all
// elements, which have one accumulator in each table.
struct results_range {
  int first, end;
  std::vector<accumulated> sums;
  const char *entries, *prefix;  // The parameter with the number of accumulators; of their names.
};

class by_key_printer {
 public:
  by_key_printer(const by_key_work& w, const abilities& can)
      : w_(w),
        can_(can),
        view_(w.code().view),
        operands_(w, false),
        results_(view_.results),
        of_groups_(range(0, w.code().groups, "entries", "sum")),
        of_all_(range(w.code().groups, w.code().targets, "padded_tables", "all")) {}

  std::string formulas() const {
    std::string text = "// keys: " + spell_pass(view_, nullptr, 0) + "\n";
    for (int i = 1; i < view_.target_count; ++i)
      text += "// " + operand_texts::name(w_.code().inputs + i - 1) + " = " +
              spell_pass(view_, nullptr, i) + "\n";
    return text;
  }
  std::string kernels() const {
    std::string text;
    for (int j = 0; j < view_.reductions; ++j) text += print_rule(view_.rules[j], j, can_);
    return text + tables_kernel() + "\n" + results_kernel();
  }

  kernel_launches launches() const {
    const std::int64_t tables = tables_of(w_), groups = w_.request().groups;
    kernel_launches made;
    made.launches.push_back({"first", {}, tables, 0, 0});
    made.launches.push_back({"finish", {}, groups, 0, 1});
    for (kernel_launch& each : made.launches)
      for (const parameter& p : parameters()) each.arguments.push_back(p.argument);
    made.scratch_bytes =
        static_cast<std::size_t>(padded(tables * groups) * bytes_of(of_groups_.sums) +
                                 padded(tables) * bytes_of(of_all_.sums) + 16);
    return made;
  }

  const std::string& pattern() const { return operands_.pattern(); }

 private:
  results_range range(int first, int end, const char* entries, const char* prefix) const {
    return {first, end, accumulators_of(view_, reductions_behind(results_, first, end)), entries,
            prefix};
  }
  bool has_all() const { return of_all_.first < of_all_.end; }

  std::vector<parameter> parameters() const {
    const std::int64_t tables = tables_of(w_), groups = w_.request().groups;
    std::vector<parameter> all = operands_.parameters();
    for (int k = 0; k < w_.code().targets; ++k) {
      const operand& o = w_.target(k);
      const std::string number = std::to_string(w_.code().inputs + k);
      all.push_back(by_address(number, o.word[0], true));
      if (k < w_.code().groups)
        all.push_back(by_value("long", "s" + number, o.strides[0] * size_of(o.type)));
    }
    all.push_back(by_value("long", "elements", w_.space().elements));
    all.push_back(by_value("long", "groups", groups));
    all.push_back(by_value("long", "tables", tables));
    // The distances between two values' accumulators, in elements.
    all.push_back(by_value("long", of_groups_.entries, padded(tables * groups)));
    all.push_back(by_value("long", of_all_.entries, padded(tables)));
    all.push_back(scratch_parameter());
    return all;
  }

  std::string begin(const char* name) const { return begin_kernel(name, parameters(), can_); }

  // The arguments that are the place of a value of accumulator `number`.
  std::string place(const results_range& of, std::size_t value, const std::string& number) const {
    std::int64_t before = 0;
    for (std::size_t v = 0; v < value; ++v) before += of.sums[v].bytes();
    return "(m_scratch, o_scratch + " +
           (&of == &of_all_ ? std::string(of_groups_.entries) + " * " +
                                  std::to_string(bytes_of(of_groups_.sums)) + " + "
                            : "") +
           of.entries + " * " + std::to_string(before) + " + " + number + " * " +
           std::to_string(of.sums[value].bytes());
  }
  static const char* stored(const accumulated& a) { return name(computed_in(a.type)); }
  std::string load(const results_range& of, std::size_t v, const std::string& number) const {
    return std::string("load_") + stored(of.sums[v]) + place(of, v, number) + ")";
  }
  // Stores accumulators, or their identities.
  std::string store(const results_range& of, const std::string& number, const std::string& indent,
                    bool clears = false) const {
    std::string text;
    for (std::size_t v = 0; v < of.sums.size(); ++v) {
      const accumulated& a = of.sums[v];
      text += indent + "store_" + stored(a) + place(of, v, number) + ", " +
              (clears ? literal_text(a.type, a.identity) : a.name(of.prefix)) + ");\n";
    }
    return text;
  }

  std::string tables_kernel() const {
    const std::string indent = "      ";
    const printed_program elements = print_elements(operands_, can_, indent);
    const auto value = [&](const accumulated& a) {
      return elements.outputs[static_cast<std::size_t>(a.output)].text;
    };
    std::string text = begin("dsl_by_key");
    text +=
        "  for (long table = get_global_id(0); table < tables; table += get_global_size(0)) {\n"
        "    for (long group = 0; group < groups; ++group) {\n" +
        store(of_groups_, "(table * groups + group)", indent, true) + "    }\n" +
        identities_text(of_all_.sums, "    ", of_all_.prefix) +
        "    for (long number = table; number < elements; number += tables) {\n" +
        operands_.positions("number", ~0u, indent) + elements.text +
        combine_text(of_all_.sums, indent, value, of_all_.prefix) +
        "      const long group = " + elements.outputs[0].text +
        ";\n      if (group < 0 || group >= groups) continue;\n"
        "      const long entry = table * groups + group;\n";
    for (std::size_t v = 0; v < of_groups_.sums.size(); ++v)
      text += indent + value_type(of_groups_.sums[v].type) + " " +
              of_groups_.sums[v].name(of_groups_.prefix) + " = " + load(of_groups_, v, "entry") +
              ";\n";
    text += combine_text(of_groups_.sums, indent, value, of_groups_.prefix);
    text += store(of_groups_, "entry", indent) + "    }\n";
    return text + store(of_all_, "table", "    ") + "  }\n}\n";
  }

  // Combines the accumulators of all tables, and stores the results.
  std::string results(const results_range& of, const std::string& entry) const {
    std::string text = identities_text(of.sums, "    ", of.prefix);
    text += "    for (long table = 0; table < tables; ++table) {\n";
    for (std::size_t v = 0; v < of.sums.size(); ++v)
      text += std::string("      const ") + value_type(of.sums[v].type) + " partial" +
              std::to_string(v) + " = " + load(of, v, entry) + ";\n";
    std::size_t v = 0;
    text += combine_text(
        of.sums, "      ", [&](const accumulated&) { return "partial" + std::to_string(v++); },
        of.prefix);
    text += "    }\n";
    const std::uint32_t bits = reductions_behind(results_, of.first, of.end);
    const input_printer input = [&](int node, std::string&) {
      const op code = results_.code(node);
      const dtype type = results_.at(node).type();
      if (code != op::reduced)
        return scalar_text(operands_, code, type,
                           static_cast<int>(operand_read(results_.view(), node)));
      // The other results' reductions are not needed here.
      if ((bits >> results_.field(node, 0) & 1) == 0)
        return input_text{"", std::string("(") + value_type(type) + ")0"};
      return input_text{"", of.prefix + std::to_string(results_.field(node, 0)) + "_" +
                                std::to_string(results_.field(node, 1))};
    };
    const printed_program made = print_program(results_, can_, input, {}, "r", "    ");
    text += made.text;
    for (int i = of.first; i < of.end; ++i) {
      const value_text& value = made.outputs[static_cast<std::size_t>(i)];
      const std::string number = std::to_string(w_.code().inputs + i);
      text += std::string("    store_") + name(value.type) + "(m" + number + ", o" + number +
              (i < of_groups_.end ? " + group * s" + number : "") + ", " + value.text + ");\n";
    }
    return text;
  }

  std::string results_kernel() const {
    std::string text = begin("dsl_by_key_finish");
    text +=
        "  for (long group = get_global_id(0); group < groups; group += get_global_size(0)) {\n" +
        results(of_groups_, "(table * groups + group)") + "  }\n";
    if (has_all()) text += "  if (get_global_id(0) == 0) {\n" + results(of_all_, "table") + "  }\n";
    return text + "}\n";
  }

  const by_key_work& w_;
  const abilities& can_;
  const pass_view& view_;
  operand_texts operands_;
  indexed_program results_;
  results_range of_groups_, of_all_;
};

}  // namespace

// Tables have about as many accumulators as there are elements, so that clearing and combining them
// takes no longer than reading the elements; of many groups there are a few tables still. At most
// 2^24 elements for each, because a float cannot count further one by one.
std::int64_t tables_of(const by_key_work& w) {
  constexpr std::int64_t most_tables = 8192, least_elements = 32, few_tables = 16,
                         most_of_few = 1 << 24, most_elements = 1 << 24;
  const std::int64_t elements = w.space().elements,
                     groups = std::max<std::int64_t>(1, w.request().groups);
  const std::int64_t enough = std::max({elements / std::max(groups, least_elements),
                                        std::min(few_tables, most_of_few / groups),
                                        (elements + most_elements - 1) / most_elements});
  return std::max<std::int64_t>(1, std::min({enough, most_tables, elements / least_elements}));
}

kernel_text print(const by_key_work& w, const abilities& can) {
  const by_key_printer printer(w, can);
  kernel_text made;
  made.name = "dsl_by_key";
  made.finish = "dsl_by_key_finish";
  complete(made, printer.formulas(), printer.kernels(), can,
           [&] { return "a reduction by key needs: " + spell_pass(w.code().view, w.operands()); });
  return made;
}

kernel_launches launches_of(const by_key_work& w, const abilities& can) {
  return by_key_printer(w, can).launches();
}

std::uint64_t text_key(const by_key_work& w, const abilities& can) {
  word_key key{2};
  add_text(key, "by key");
  add_pass(key, w.code().view);
  key.add(static_cast<std::uint64_t>(w.code().inputs) << 32 |
          static_cast<std::uint64_t>(w.code().groups));
  add_text(key, by_key_printer(w, can).pattern());
  add_abilities(key, can);
  return key.value;
}

}  // namespace dsl::detail::opencl

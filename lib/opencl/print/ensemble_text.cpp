#include "opencl/print/ensemble_text.hpp"

#include "exec/plan/text.hpp"
#include "opencl/print/kernel_parts.hpp"
#include "opencl/print/program_text.hpp"
#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

namespace {

// Names of variables and scalars are the letters that the formulas in the comments have for them.
class ensemble_printer {
 public:
  ensemble_printer(const ensemble_work& w, const abilities& can)
      : w_(w), code_(w.code()), can_(can) {}

  std::string formulas() const {
    std::string text = formulas_of(code_.start, "first");
    for (int k = 0; k < code_.phases; ++k) {
      const ensemble_phase& phase = code_.phase[k];
      const std::string when = "while " + name(code_.running);
      text += formulas_of(phase,
                          phase.runs_while < 0 ? when : when + ", while " + name(phase.runs_while));
    }
    return text;
  }

  std::string kernel() const {
    std::string text = begin_kernel("dsl_ensemble", parameters(w_), can_);
    for (int k = 0; k < code_.scalars; ++k) text += load_scalar(k);
    text +=
        "  for (long element = get_global_id(0); element < elements; element += "
        "get_global_size(0)) "
        "{\n";
    for (int v = 0; v < code_.variables; ++v) text += declare(v);
    text += phase(code_.start, 0, 0, "    ");
    text += "    while (" + name(code_.running) + ") {\n";
    int array = 0, kind = 0;
    for (int k = 0; k < code_.phases; ++k) {
      const ensemble_phase& each = code_.phase[k];
      text += each.runs_while < 0 ? "      {\n" : "      while (" + name(each.runs_while) + ") {\n";
      text += phase(each, array, kind, "        ") + "      }\n";
      for (int s = 0; s < each.kinds; ++s) array += each.stored[s].count;
      kind += each.kinds;
    }
    text += "    }\n";
    for (int k = 0; k < code_.kept_count; ++k)
      text += store(numbered("_kept", k), code_.kept[k], "element", "    ");
    return text + "  }\n}\n";
  }

  static std::vector<parameter> parameters(const ensemble_work& w) {
    const ensemble_code& code = w.code();
    const ensemble_request& request = w.request();
    std::vector<parameter> all{by_value("long", "elements", request.elements)};
    const operand* next = w.operands();
    const auto add_array = [&](const char* what, int number, bool is_written, bool is_used = true) {
      all.push_back(by_address(numbered(what, number), is_used ? next->word[0] : 0, is_written));
      ++next;
    };
    // The kernel does not access arrays of no rows, which may have no memory.
    const auto add_rows = [&](const char* what, int kind, std::int64_t rows, int& array, int count,
                              bool is_written) {
      all.push_back(by_value("long", "rows" + numbered(what, kind), rows));
      for (int i = 0; i < count; ++i) add_array(what, array++, is_written, rows > 0);
    };
    for (int k = 0; k < code.given_count; ++k) add_array("_given", k, false);
    for (int k = 0; k < code.scalars; ++k, ++next)
      all.push_back(next->kind == operand_kind::device_scalar
                        ? by_address("_" + name(code.variables + k), next->word[0], false)
                        : by_literal(next->type, name(code.variables + k) + suffix(*next),
                                     {next->word[0], next->word[1]}));
    int array = 0, kind = 0;
    for (; kind < code.read_kinds; ++kind)
      add_rows("_read", kind, request.rows[kind], array, code.read[kind].count, false);
    for (int k = 0; k < code.kept_count; ++k) add_array("_kept", k, true);
    array = 0;
    for (int p = 0; p < code.phases; ++p)
      for (int s = 0; s < code.phase[p].kinds; ++s, ++kind)
        add_rows("_stored", kind - code.read_kinds, request.rows[kind], array,
                 code.phase[p].stored[s].count, true);
    if (!request.has_table) return all;
    all.push_back(by_value("long", "entries", request.entry_count()));
    all.push_back(by_address(
        "_table",
        request.entry_count() > 0 ? reinterpret_cast<std::uint64_t>(request.entries()) : 0, false));
    return all;
  }

 private:
  static std::string name(int number) { return operand_texts::name(number); }
  // OpenCL C has no parameters of type bool.
  static const char* suffix(const operand& scalar) {
    return scalar.type == dtype::boolean ? "_value" : "";
  }
  dtype type(int variable) const { return code_.types[variable]; }

  std::string formulas_of(const ensemble_phase& of, const std::string& when) const {
    std::string text = "// " + when + ":\n";
    for (int i = 0; i < of.pass.target_count; ++i)
      text += "//   " + name(of.set[i]) + " = " + spell_pass(of.pass, nullptr, i) + "\n";
    return text;
  }

  std::string load_scalar(int k) const {
    const operand& o = w_.scalars()[k];
    const std::string own = name(code_.variables + k);
    const std::string declared = std::string("  const ") + value_type(o.type) + " " + own + " = ";
    if (o.kind == operand_kind::device_scalar)
      return declared + "load_" + dsl::name(o.type) + "(m_" + own + ", o_" + own + ");\n";
    return o.type == dtype::boolean ? declared + own + "_value != 0;\n" : "";
  }

  std::string declare(int variable) const {
    const std::string begin =
        std::string("    ") + value_type(type(variable)) + " " + name(variable) + " = ";
    for (int k = 0; k < code_.given_count; ++k)
      if (code_.given[k] == variable)
        return begin + load(numbered("_given", k), variable, "element") + ";\n";
    return begin + "(" + value_type(type(variable)) + ")0;\n";
  }

  std::string place(const std::string& array, int variable, const std::string& number) const {
    return "(m" + array + ", o" + array + " + (" + number + ") * " +
           std::to_string(size_of(type(variable)));
  }
  std::string load(const std::string& array, int variable, const std::string& number) const {
    return std::string("load_") + dsl::name(type(variable)) + place(array, variable, number) + ")";
  }
  std::string store(const std::string& array, int variable, const std::string& number,
                    const std::string& indent) const {
    return indent + "store_" + dsl::name(type(variable)) + place(array, variable, number) + ", " +
           name(variable) + ");\n";
  }

  // array, kind: the numbers of the first array, and kind, of rows that the phase stores.
  std::string phase(const ensemble_phase& of, int array, int kind,
                    const std::string& indent) const {
    std::string text = evaluate(of, indent);
    for (int s = 0; s < of.kinds; ++s) {
      const ensemble_row_kind& rows = of.stored[s];
      text += indent + "if (" + name(rows.flag) + " && " + name(rows.row) + " < " +
              numbered("rows_stored", kind + s) + ") {\n";
      for (int i = 0; i < rows.count; ++i)
        text += store(numbered("_stored", array++), rows.values[i], row_of(rows), indent + "  ");
      text += indent + "}\n";
    }
    return text + find_rows(of, indent);
  }
  static std::string row_of(const ensemble_row_kind& rows) {
    return "(long)" + name(rows.row) + " * elements + element";
  }

  // A variable that becomes the value of another one is read before any is set.
  std::string evaluate(const ensemble_phase& of, const std::string& indent) const {
    const indexed_program p(of.pass.elements);
    const input_printer input = [&](int node, std::string&) {
      const auto number = static_cast<int>(operand_read(p.view(), node));
      bool is_output = false;
      for (int i = 0; i < p.outputs(); ++i) is_output = is_output || p.output(i) == node;
      return input_text{number < code_.variables && is_output ? "v" + std::to_string(node) : "",
                        name(number)};
    };
    const printed_program made = print_program(p, can_, input, {}, "v", indent);
    std::string text = made.text;
    for (int i = 0; i < of.pass.target_count; ++i) {
      const int output = target_word{of.pass.targets[i]}.output();
      text += indent + name(of.set[i]) + " = " +
              made.outputs[static_cast<std::size_t>(output)].text + ";\n";
    }
    return text;
  }

  // Reads what the rows number that a phase has set.
  std::string find_rows(const ensemble_phase& of, const std::string& indent) const {
    std::string text;
    if (code_.entry_row >= 0 && of.sets(code_.entry_row)) {
      const std::string row = "(long)" + name(code_.entry_row);
      text += indent + name(code_.entry_value) + " = " + entry(row) + ";\n";
      text += indent + name(code_.entry_following) + " = " + entry(row + " + 1") + ";\n";
    }
    int array = 0;
    for (int kind = 0; kind < code_.read_kinds; ++kind) {
      const ensemble_row_kind& rows = code_.read[kind];
      if (of.sets(rows.row)) {
        text += indent + "if (" + name(rows.row) + " >= 0 && " + name(rows.row) + " < " +
                numbered("rows_read", kind) + ") {\n";
        for (int i = 0; i < rows.count; ++i)
          text += indent + "  " + name(rows.values[i]) + " = " +
                  load(numbered("_read", array + i), rows.values[i], row_of(rows)) + ";\n";
        text += indent + "}\n";
      }
      array += rows.count;
    }
    return text;
  }
  std::string entry(const std::string& row) const {
    if (!w_.request().has_table) return "(double)NAN";
    return row + " >= 0 && " + row + " < entries ? load_float64(m_table, o_table + (" + row +
           ") * 8) : (double)NAN";
  }

  const ensemble_work& w_;
  const ensemble_code& code_;
  const abilities& can_;
};

void add_list(word_key& key, const int* values, int count) {
  key.add(static_cast<std::uint64_t>(count));
  for (int i = 0; i < count; ++i) key.add(static_cast<std::uint64_t>(values[i]));
}
void add_rows(word_key& key, const ensemble_row_kind& rows) {
  add_list(key, &rows.flag, 1);
  add_list(key, &rows.row, 1);
  add_list(key, rows.values, rows.count);
}
void add_phase(word_key& key, const ensemble_phase& phase) {
  add_pass(key, phase.pass);
  add_list(key, phase.set, phase.pass.target_count);
  add_list(key, &phase.runs_while, 1);
  key.add(static_cast<std::uint64_t>(phase.kinds));
  for (int s = 0; s < phase.kinds; ++s) add_rows(key, phase.stored[s]);
}

}  // namespace

kernel_text print(const ensemble_work& w, const abilities& can) {
  const ensemble_printer printer(w, can);
  const pass_view& main = w.code().main_phase().pass;
  kernel_text made;
  made.name = "dsl_ensemble";
  complete(made, printer.formulas(), printer.kernel(), can,
           [&] { return "an ensemble needs: " + spell_pass(main, nullptr); });
  return made;
}

kernel_launches launches_of(const ensemble_work& w, const abilities&) {
  kernel_launches made;
  made.launches.push_back({"first", {}, w.request().elements, 0});
  for (const parameter& p : ensemble_printer::parameters(w))
    made.launches[0].arguments.push_back(p.argument);
  return made;
}

std::uint64_t text_key(const ensemble_work& w, const abilities& can) {
  const ensemble_code& code = w.code();
  word_key key{1};
  add_text(key, "ensemble");
  key.add(static_cast<std::uint64_t>(code.variables));
  for (int v = 0; v < code.variables; ++v) key.add(static_cast<std::uint64_t>(code.types[v]));
  add_list(key, code.given, code.given_count);
  add_list(key, code.kept, code.kept_count);
  for (const int n : {code.running, code.entry_row, code.entry_value, code.entry_following,
                      code.scalars, code.read_kinds, code.phases})
    add_list(key, &n, 1);
  for (int k = 0; k < code.read_kinds; ++k) add_rows(key, code.read[k]);
  add_phase(key, code.start);
  for (int k = 0; k < code.phases; ++k) add_phase(key, code.phase[k]);
  for (int k = 0; k < code.scalars; ++k)
    key.add(static_cast<std::uint64_t>(w.scalars()[k].type) << 8 |
            static_cast<std::uint64_t>(w.scalars()[k].kind));
  key.add(w.request().has_table ? 1 : 0);
  add_abilities(key, can);
  return key.value;
}

}  // namespace dsl::detail::opencl

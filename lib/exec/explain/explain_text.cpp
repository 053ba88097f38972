// Writes explanations as text and as Graphviz graphs.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "exec/explain/explain.hpp"

namespace dsl::detail {

namespace {

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char line[200];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

std::string spell_seconds(double s) {
  if (s < 1e-3) return formatted("%.3g us", 1e6 * s);
  return s < 1 ? formatted("%.3g ms", 1e3 * s) : formatted("%.3g s", s);
}

std::string padded(std::string s, std::size_t width) {
  s.resize(std::max(s.size(), width), ' ');
  return s;
}

template <class List, class Get>
std::size_t widest(const List& list, std::size_t most, const Get& get) {
  std::size_t width = 0;
  for (const auto& each : list)
    if (const std::size_t mine = get(each).size(); mine <= most) width = std::max(width, mine);
  return width;
}

std::string listed(const std::vector<std::string>& all) {
  std::string s;
  for (const std::string& each : all) s += (s.empty() ? "" : ", ") + each;
  return s;
}

void add_operations(std::string& to, const explained_kernel& k) {
  if (k.operations.empty()) return;
  to += "  program\n";
  const std::size_t width =
      widest(k.operations, 48, [](const auto& o) -> const std::string& { return o.text; });
  int number = 0;
  for (const listed_operation& o : k.operations) {
    to += "    " + padded("%" + std::to_string(++number), 4) + " = " + padded(o.text, width) +
          "  " + padded(o.type, 9);
    if (o.uses > 1) to += "  shared: used " + std::to_string(o.uses) + " times";
    if (!o.gives.empty()) to += "  -> " + listed(o.gives);
    to.erase(to.find_last_not_of(' ') + 1);
    to += "\n";
  }
}

void add_operands(std::string& to, const explained_kernel& k) {
  if (k.operands.empty()) return;
  to += "  operands\n";
  const std::size_t name = widest(k.operands, 24,
                                  [](const auto& o) -> const std::string& { return o.name; }),
                    type = widest(k.operands, 32,
                                  [](const auto& o) -> const std::string& { return o.type; });
  for (const listed_operand& o : k.operands)
    to += "    " + padded(o.name, name) + "  " + padded(o.type, type) + "  " +
          (o.is_written ? "written" : "read   ") + "  " + o.how + "\n";
}

std::string spell_cost(const kernel_demand& w) {
  const double n = static_cast<double>(std::max<std::int64_t>(1, w.elements)),
               bytes = w.read_bytes + w.written_bytes;
  std::string s = formatted("reads %.3g and writes %.3g bytes an element, %.3g flops",
                            w.read_bytes / n, w.written_bytes / n, w.flops / n);
  if (bytes > 0) s += formatted(": %.3g flops a byte", w.flops / bytes);
  return s + "; " + spell_bytes(bytes) + " in all";
}

std::string spell_prediction(const prediction& p) {
  if (std::isnan(p.seconds)) return "none: " + p.why_none;
  return spell_seconds(p.seconds) + ": memory " + spell_seconds(p.memory) + ", arithmetic " +
         spell_seconds(p.arithmetic) + ", launch " + spell_seconds(p.launch) + "; " + p.binds +
         " binds";
}

}  // namespace

std::string as_text(const explained_statement& s) {
  if (s.kernels.empty()) return "nothing runs: there are no elements\n";
  std::string to = (s.formula.empty() ? s.kernels.back().formula : s.formula) + "\n";
  const std::size_t count = s.kernels.size();
  const std::string steps = s.steps == 1 ? "a step" : std::to_string(s.steps) + " steps";
  to += (s.is_loop    ? steps
         : count == 1 ? "one kernel"
                      : std::to_string(count) + " kernels") +
        " on " + spell_device(s.where);
  if (!s.note.empty()) to += ", " + s.note;
  if (count * static_cast<std::size_t>(s.steps) > 1 && !std::isnan(s.seconds()))
    to += ", predicted " + spell_seconds(s.seconds());
  to += "\n";
  int number = 0;
  for (const explained_kernel& k : s.kernels) {
    ++number;
    if (count > 1) {
      to += "\nkernel " + std::to_string(number) + ": " + k.formula + "\n";
      for (const std::string& each : k.why) to += "  why        " + each + "\n";
    }
    add_operations(to, k);
    add_operands(to, k);
    to += "  path       " + k.path + "\n";
    to += "  launch     " + std::to_string(k.demand.elements) + " elements, " + k.launch + "\n";
    to += "  cost       " + spell_cost(k.demand) + "\n";
    to += "  predicted  " + spell_prediction(k.predicted) + "\n";
  }
  return to;
}

namespace {

std::string quoted(const std::string& s) {
  std::string q = "\"";
  for (const char c : s) {
    if (c == '\n') {
      q += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') q += '\\';
    q += c;
  }
  return q + "\"";
}

}  // namespace

std::string as_dot(const explained_statement& s) {
  std::string to = "digraph explanation {\n  rankdir=LR;\n  label=" + quoted(s.formula) +
                   ";\n  node [fontname=\"monospace\"];\n";
  int number = 0;
  // A value that one kernel computes and another reads is one node, outside both.
  std::vector<std::string> named;
  const auto operand_node = [&](const std::string& name) { return quoted("operand " + name); };
  for (const explained_kernel& k : s.kernels)
    for (const listed_operand& o : k.operands) {
      if (std::find(named.begin(), named.end(), o.name) != named.end()) continue;
      named.push_back(o.name);
      to += "  " + operand_node(o.name) + " [shape=box, label=" + quoted(o.name + "\n" + o.type) +
            "];\n";
    }
  for (const explained_kernel& k : s.kernels) {
    const std::string prefix = "k" + std::to_string(++number) + "_";
    to += "  subgraph cluster_" + std::to_string(number) + " {\n    label=" +
          quoted("kernel " + std::to_string(number) + ": " + k.path.substr(0, k.path.find(':'))) +
          ";\n";
    for (std::size_t i = 0; i < k.operations.size(); ++i) {
      const listed_operation& o = k.operations[i];
      to += "    " + prefix + std::to_string(i + 1) +
            " [label=" + quoted("%" + std::to_string(i + 1) + " = " + o.text + "\n" + o.type) +
            (o.uses > 1 ? ", peripheries=2" : "") + "];\n";
    }
    to += "  }\n";
    for (std::size_t i = 0; i < k.operations.size(); ++i) {
      const listed_operation& o = k.operations[i];
      const std::string mine = prefix + std::to_string(i + 1);
      for (const int from : o.from)
        to += "  " + prefix + std::to_string(from + 1) + " -> " + mine + ";\n";
      for (const std::string& from : o.reads)
        to += "  " + operand_node(from) + " -> " + mine + ";\n";
      for (const std::string& target : o.gives)
        to += "  " + mine + " -> " + operand_node(target) + ";\n";
    }
  }
  return to + "}\n";
}

double explained_statement::seconds() const {
  double all = kernels.empty() ? __builtin_nan("") : 0;
  for (const explained_kernel& k : kernels) all += k.predicted.seconds;
  return all * static_cast<double>(steps) + overhead_seconds;
}

}  // namespace dsl::detail

dsl::explanation::explanation(const detail::explained_statement& of)
    : text_(detail::as_text(of).c_str()),
      dot_(detail::as_dot(of).c_str()),
      seconds_(of.seconds()) {}

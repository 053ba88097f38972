// Loops whose elements each depend on themselves and on scalars. Scalars, and the elements of loops
// that reduce nothing, are variables of the kernel from the first step of a launch to the last.
// With reductions, one work-group has all elements, which stay in memory: each work-item always has
// the same ones, so that only the combination of accumulators needs barriers.
#include "opencl/print/loop_text.hpp"

#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "opencl/print/kernel_parts.hpp"
#include "opencl/print/phase_text.hpp"
#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

namespace {

// What a step computes for an output.
std::string next(int output) { return numbered("next", output); }

// The passes of a step, the last one last.
const bound_pass& pass_of(const loop& of, int phase) {
  return phase < of.compiled().earlier ? of.phases()[static_cast<std::size_t>(phase)] : of;
}

class loop_printer {
 public:
  loop_printer(const loop_launch& steps, const abilities& can)
      : steps_(steps.steps()),
        of_(steps.of()),
        code_(of_.code()),
        can_(can),
        by_element_(steps.how() == strategy::elementwise),
        states_(of_.compiled().states),
        first_value_(of_.compiled().first_value),
        group_(group_of(of_, can)),
        all_(operands_of_first_step()),
        operands_({code_.pass.view, of_.space(), all_.data(), code_.inputs, code_.outputs()},
                  inputs_read()) {
    for (int k = 0; k < code_.inputs; ++k)
      if (at(k).step_bytes != 0) operands_.move(k, " + step * " + numbered("by", k));
    int reductions = 0, first_value = first_value_;
    for (int p = 0; p <= of_.compiled().earlier; ++p) {
      const bool is_last = p == of_.compiled().earlier;
      const program_code& code = pass_of(of_, p).code();
      phases_.emplace_back(operands_, can,
                           phase{code.pass.view, [this](int k) { return place(k); },
                                 is_last ? code_.inputs : first_value, reductions});
      reductions += code.pass.view.reductions;
      if (!is_last) first_value += code.outputs();
    }
  }

  kernel_text print() const {
    kernel_text made;
    made.name = name();
    std::string comment, text;
    for (int p = 0; p <= of_.compiled().earlier; ++p) comment += formulas(pass_of(of_, p).code());
    for (const phase_text& each : phases_) text += each.rules();
    complete(made, comment, text + (by_element_ ? elementwise_kernel() : group_kernel()), can_,
             [&] {
               return spell_kernel(code_.name) +
                      " needs: " + spell_pass(code_.pass.view, of_.operands());
             });
    return made;
  }

  kernel_launches launches() const {
    const launch& fixed = of_.fixed();
    kernel_launches made;
    made.launches.push_back({"first", {}, group_, group_});
    kernel_launch& only = made.launches[0];
    if (by_element_) {
      // Without numbers from the call, in groups as the kernel prefers them.
      only.group = fixed.block != 0 || fixed.grid == 0 ? fixed.block : group_;
      only.work_items = of_.space().elements;
      if (only.group != 0)
        only.work_items = only.group * groups_of_elements(only.work_items, only.group, fixed);
    }
    for (const parameter& p : parameters()) only.arguments.push_back(p.argument);
    return made;
  }

  std::uint64_t key() const {
    word_key key{0x100b};
    for (int p = 0; p <= of_.compiled().earlier; ++p)
      add_pass(key, pass_of(of_, p).code().pass.view);
    for (const std::int64_t number : {std::int64_t{states_}, std::int64_t{first_value_},
                                      std::int64_t{stop()}, by_element_ ? 0 : group_})
      key.add(static_cast<std::uint64_t>(number));
    for (int k = 0; k < code_.inputs; ++k)
      key.add((at(k).step_bytes != 0 ? 1u : 0u) | (at(k).counts_steps ? 2u : 0u));
    for (int i = 0; i < code_.outputs(); ++i) key.add(has_history(i) ? 1 : 0);
    add_text(key, operands_.pattern());
    add_text(key, name());
    add_abilities(key, can_);
    return key.value;
  }

 private:
  std::string name() const { return kernel_name(code_) + "_steps"; }
  const pass_view& view() const { return code_.pass.view; }
  const operand& at(int k) const { return all_[static_cast<std::size_t>(k)]; }
  const phase_text& last() const { return phases_.back(); }
  int stop() const { return of_.compiled().stop; }

  std::vector<operand> operands_of_first_step() const {
    std::vector<operand> all(of_.operands(), of_.operands() + code_.inputs + code_.outputs());
    for (operand& o : all) count_step(o, steps_.all.first + steps_.done);
    return all;
  }

  // ---- where inputs come from
  bool is_value(int k) const {
    int values = 0;
    for (const bound_pass& phase : of_.phases()) values += phase.code().outputs();
    return k >= first_value_ && k < first_value_ + values;
  }
  // Whether an output is a variable of the kernel.
  bool is_variable(int output) const { return by_element_ || view().is_result(output); }
  // A scalar in device memory that no step changes. It is read once, before its memory may get a
  // variable's last value.
  bool is_given(int k) const {
    return k >= states_ && !is_value(k) && at(k).kind == operand_kind::device_scalar;
  }
  input_place place(int k) const {
    if (is_value(k)) return {-1, numbered("value", k)};
    if (k < states_ && is_variable(k)) return {-1, numbered("state", k)};
    if (is_given(k)) return {-1, numbered("given", k)};
    if (at(k).counts_steps) return {-1, "(" + operand_texts::name(k) + " + step)"};
    return {k, {}};
  }
  // Variables are read at the beginning.
  std::uint64_t inputs_read() const {
    std::uint64_t all = 0;
    for (int p = 0; p <= of_.compiled().earlier; ++p)
      all |= opencl::inputs_read(pass_of(of_, p).code().pass.view);
    for (int k = 0; k < code_.inputs; ++k) {
      if (k < states_) all |= std::uint64_t{1} << k;
      if (is_value(k)) all &= ~(std::uint64_t{1} << k);
    }
    return all;
  }

  // ---- histories
  bool has_history(int output) const { return steps_.histories[output].memory != nullptr; }
  // Whether an array is kept after each step; of a scalar every n-th value is recorded.
  bool is_kept(int output) const { return stop() == keeps_states && !view().is_result(output); }
  std::string record(int output, const std::string& value, const std::string& indent) const {
    const dtype type = view().type(output);
    const std::string own = numbered("_history", output),
                      store = std::string("store_") + dsl::name(type) + "(m" + own + ", o" + own +
                              " + ",
                      size = std::to_string(size_of(type));
    if (is_kept(output))
      return indent + store + "(step * " + numbered("apart", output) + " + x0) * " + size + ", " +
             value + ");\n";
    return indent + "if ((done + step + 1) % every == 0)\n" + indent + "  " + store +
           "(done + step) / every * " + size + ", " + value + ");\n";
  }

  std::vector<parameter> parameters() const {
    std::vector<parameter> all = operands_.parameters();
    for (int k = 0; k < code_.inputs; ++k)
      if (at(k).step_bytes != 0)
        all.push_back(by_value("long", numbered("by", k), at(k).step_bytes));
    for (int i = 0; i < code_.outputs(); ++i) {
      if (!has_history(i)) continue;
      const operand& history = steps_.histories[i];
      std::uint64_t address = history.word[0];
      if (is_kept(i)) {
        const std::int64_t apart = distance_of_states(of_.space().elements, size_of(history.type));
        address += static_cast<std::uint64_t>(steps_.done / steps_.all.every * apart *
                                              size_of(history.type));
        all.push_back(by_value("long", numbered("apart", i), apart));
      }
      all.push_back(by_address(numbered("_history", i), address, true));
    }
    all.push_back(by_value("long", "elements", of_.space().elements));
    all.push_back(by_value("long", "count", of_.space().count));
    all.push_back(by_value("long", "steps", steps_.count));
    all.push_back(by_value("long", "done", steps_.done));
    all.push_back(by_value("long", "every", steps_.all.every));
    return all;
  }

  // ---- statements
  std::string begin() const { return begin_kernel(name(), parameters(), can_); }
  std::string positions(const std::string& indent) const {
    return operands_.positions("element", ~std::uint32_t{0}, indent);
  }
  // Whether an output goes to memory after the last step: a variable of the loop, what ends it, and
  // the number of steps until then.
  bool is_left(int output) const {
    return is_variable(output) && (output < states_ || operands_.is_stored(output));
  }
  // The values before the first step.
  std::string declare_variables(const std::string& indent) const {
    std::string text;
    const std::uint64_t read = inputs_read();
    for (int k = 0; k < code_.inputs; ++k)
      if (is_given(k) && (read >> k & 1) != 0)
        text += indent + "const " + value_type(at(k).type) + " " + numbered("given", k) + " = " +
                load_text(operands_, k, {}, at(k).type) + ";\n";
    for (int i = 0; i < code_.outputs(); ++i)
      if (is_left(i))
        text += indent + value_type(view().type(i)) + " " + numbered("state", i) + " = " +
                load_text(operands_, i < states_ ? i : code_.inputs + i, own_position(),
                          view().type(i)) +
                ";\n";
    return text;
  }
  std::string store_variables(const std::string& indent) const {
    std::string text;
    for (int i = 0; i < code_.outputs(); ++i)
      if (is_left(i))
        text += store_text(operands_, code_.inputs + i, own_position(),
                           {numbered("state", i), view().type(i)}, indent);
    return text;
  }
  position_text own_position() const { return operands_.own_position(); }
  std::string for_steps(const std::string& indent) const {
    return indent + "for (long step = 0; step < steps" +
           (stop() >= 0 ? " && !" + numbered("state", stop()) : "") + "; ++step) {\n";
  }
  // Sets variables to what the last phase has computed, all at once.
  std::string change_variables(const printed_program& made, bool results,
                               const std::string& indent) const {
    std::string text = made.text + last().declare(made, results, next, indent);
    for (int i = 0; i < code_.outputs(); ++i)
      if (view().is_result(i) == results && is_left(i))
        text += indent + numbered("state", i) + " = " + next(i) + ";\n";
    return text;
  }
  // Of one work-item.
  std::string record_all(bool results, const std::string& indent) const {
    std::string text;
    for (int i = 0; i < code_.outputs(); ++i)
      if (has_history(i) && view().is_result(i) == results) text += record(i, next(i), indent);
    return text;
  }

  std::string elementwise_kernel() const {
    std::string text = begin();
    text +=
        "  for (long element = get_global_id(0); element < elements; element += "
        "get_global_size(0)) {\n";
    text += positions("    ") + declare_variables("    ") + for_steps("    ");
    text += change_variables(last().elements("      "), false, "      ");
    return text + record_all(false, "      ") + "    }\n" + store_variables("    ") + "  }\n}\n";
  }

  // Barriers: before a step overwrites the totals of the one before it, and before the scalars that
  // all have read are overwritten.
  std::string group_kernel() const {
    std::string text =
        "__attribute__((reqd_work_group_size(" + std::to_string(group_) + ", 1, 1)))\n" + begin();
    for (const phase_text& each : phases_) text += local_text(each.sums(), group_);
    text += "  const int item = get_local_id(0), apart = 1, part = item, parts = " +
            std::to_string(group_) + ";\n";
    const std::string barrier = "  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n";
    text += declare_variables("  ") + for_steps("  ") + barrier;
    for (const phase_text& each : phases_) text += of_phase(each);
    text += "  }\n" + barrier;
    return text + "  if (item == 0) {\n" + store_variables("    ") + "  }\n}\n";
  }
  std::string of_phase(const phase_text& each) const {
    const bool is_last = &each == &last();
    const std::string indent = "    ";
    std::string text = identities_text(each.sums(), "  ");
    text +=
        "  for (long element = item; element < elements; element += parts) {\n" + positions(indent);
    const printed_program element = each.elements(indent);
    text += element.text + each.take(element, indent);
    if (is_last && stop() == keeps_states)
      text += each.declare(element, false, next, indent) + record_all(false, indent);
    text += "  }\n";
    if (!each.sums().empty()) text += combine_group_text(each.sums(), total_for::all);
    const printed_program made = each.results("  ");
    if (!is_last) {
      const int number = static_cast<int>(&each - phases_.data());
      return text + made.text +
             each.declare(
                 made, true,
                 [&](int target) { return numbered("value", value_of(number, target)); }, "  ");
    }
    text += change_variables(made, true, "  ");
    const std::string recorded = record_all(true, indent);
    return recorded.empty() ? text : text + "  if (item == 0) {\n" + recorded + "  }\n";
  }
  int value_of(int number, int target) const {
    int k = first_value_ + target;
    for (int p = 0; p < number; ++p) k += pass_of(of_, p).code().outputs();
    return k;
  }

  const loop_steps& steps_;
  const loop& of_;
  const program_code& code_;
  const abilities& can_;
  const bool by_element_;
  const int states_, first_value_;
  const std::int64_t group_;
  const std::vector<operand> all_;
  operand_texts operands_;
  std::vector<phase_text> phases_;
};

}  // namespace

std::int64_t group_of(const loop& of, const abilities& can) {
  std::vector<accumulated> all;
  for (int p = 0; p <= of.compiled().earlier; ++p)
    for (const accumulated& a : accumulators_of(pass_of(of, p).code().pass.view)) all.push_back(a);
  const std::int64_t most = group_size(all, can), fixed = of.fixed().block;
  return fixed > 0 && fixed < most && (fixed & (fixed - 1)) == 0 ? fixed : most;
}

std::int64_t groups_of_elements(std::int64_t elements, std::int64_t group, const launch& fixed) {
  const std::int64_t all = pieces(elements, group);
  return fixed.grid > 0 ? std::min<std::int64_t>(all, fixed.grid) : all;
}

kernel_text print(const loop_launch& steps, const abilities& can) {
  return loop_printer(steps, can).print();
}
kernel_launches launches_of(const loop_launch& steps, const abilities& can) {
  return loop_printer(steps, can).launches();
}
std::uint64_t text_key(const loop_launch& steps, const abilities& can) {
  return loop_printer(steps, can).key();
}

}  // namespace dsl::detail::opencl
